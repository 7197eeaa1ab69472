// What the server has, and how to change it. A change names the revision that it is based on; a stale one is refused there.
import { message, speak } from "./ui.js";

const listeners = new Map();
export const state = { all: null, described: null, checked: null, step: "table", ended: false };

export function on(kind, work) {
  if (!listeners.has(kind)) listeners.set(kind, []);
  listeners.get(kind).push(work);
}

export function tell(kind, about) {
  for (const work of listeners.get(kind) || []) work(about);
}

export async function api(method, path, body) {
  const options = { method, credentials: "same-origin", headers: { "X-Lmarvel": "1" } };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers["Content-Type"] = "application/json";
  }
  return answered(() => fetch(path, options));
}

// Send a file as it is; only the ending of its name matters to the server.
export async function upload(file) {
  const headers = { "X-Lmarvel": "1", "X-Name": encodeURIComponent(file.name), "Content-Type": "application/octet-stream" };
  return answered(() => fetch("/api/table", { method: "POST", credentials: "same-origin", headers, body: file }));
}

async function answered(ask) {
  let response;
  try {
    response = await ask();
  } catch {
    throw new Error("The app does not answer: it was stopped. Start it again in the terminal; everything saved is there.");
  }
  const plain = await response.json().catch(() => ({ error: "The answer cannot be read." }));
  if (response.ok) return plain;
  const error = new Error(plain.error || "This did not work.");
  error.stale = response.status === 409;
  throw error;
}

// --- reading ---------------------------------------------------------------------------------------------------

export async function reload() {
  state.all = await api("GET", "/api/state");
  tell("state");
}

export async function describe() {
  if (!state.all.table) {
    state.described = null;
    tell("described");
    return;
  }
  tell("describing");
  try {
    state.described = await api("GET", "/api/described");
  } catch (error) {
    state.described = { error: error.message, columns: [], kept: [] };
  }
  tell("described");
}

// --- changing --------------------------------------------------------------------------------------------------

// A refused change shows what is there now, so that it can be made again.
async function changed(work) {
  try {
    return await work();
  } catch (error) {
    if (error.stale) {
      await reload();
      await describe();
      tell("refused");
    }
    throw error;
  }
}

let queue = Promise.resolve();
// Changes go one after the other: each is based on the revision that the one before it made.
function inTurn(work) {
  const next = queue.then(() => changed(work));
  queue = next.catch(() => {});
  return next;
}

export function writeSettings(part, values) {
  return inTurn(async () => {
    const settings = state.all.settings;
    const { revision } = await api("PUT", "/api/settings", { revision: settings.revision, [part]: values });
    Object.assign(settings, { revision, [part]: values });
    if (part === "table") await describe();
  });
}

export function writeStatements(change) {
  return inTurn(async () => {
    const { revision } = state.all.statements;
    state.checked = await api("PUT", "/api/statements", { revision, ...change });
    state.all.statements = { revision: state.checked.revision, text: state.checked.text };
    tell("statements");
  });
}

// --- what the server tells ---------------------------------------------------------------------------------------

const own = (kind, event) => state.all && state.all[kind].revision === event.revision;

export function listen() {
  const source = new EventSource("/api/events");
  source.onmessage = async ({ data }) => {
    const event = JSON.parse(data);
    if (event.kind === "settings" || event.kind === "statements" || event.kind === "table") {
      await queue; // a change of this window is known when it is done
      if (event.kind === "table" || !own(event.kind, event)) {
        await reload();
        await describe();
        if (event.kind !== "table") speak("Another window changed the project; this one shows it now.");
      }
    } else if (event.kind === "stopping") {
      state.ended = true;
      source.close();
      message(`${event.why} Everything is saved. Start it again with 'lmarvel app' and the folder of the project.`, "notice");
    } else tell(event.kind, event);
  };
  source.onerror = () => {
    if (!state.ended) message("The connection to the app was lost. If it was stopped, start it again in the terminal; everything saved is there.");
  };
  source.onopen = () => {
    if (state.all && document.querySelector("#messages .trouble")) reload().then(() => document.getElementById("messages").replaceChildren(), () => {});
  };
}
