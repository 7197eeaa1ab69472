// Steps 4 and 5: the graph of a run, as the report shows it, and questions about two variables.
import { api, on, state } from "./state.js";
import { button, message, option, quiet, refill, speak } from "./ui.js";
import { state_ } from "./know.js";

const { html, byId } = Dom;
let shown = null, wanted = null, view = null, ending = null, parts = null, answers = new Map();
export const asked = { pair: null };

export function choose(number) {
  wanted = number;
}

export const current = () => (wanted !== null ? wanted : state.all.runs.length ? state.all.runs[state.all.runs.length - 1].number : null);

// --- what the app adds to the report -------------------------------------------------------------------------------

async function learnAgain(changes) {
  quiet();
  for (const change of changes) await state_(change);
  await api("POST", "/api/learn");
  speak("Learning again");
  parts.go("learn");
}

function edgeMore(page) {
  return (edge) => {
    const lines = page.change[edge.index] || [], { a, b } = edge;
    const say = (text, kind, about) => html("li", null, button(text, () => learnAgain([{ edit: { kind, about } }]), { class: "link" }));
    return [
      lines.length ? html("h3", { text: "What would change it" }) : null,
      lines.length ? html("ul", { class: "facts" }, ...lines.map((text) => html("li", { text }))) : null,
      html("h3", { text: "State this as knowledge and learn again" }),
      html("ul", { class: "lines state-it" }, say(`${a} causes ${b}`, "causes", [a, b]), say(`${b} causes ${a}`, "causes", [b, a]),
        say(`${a} does not cause ${b}`, "not_causes", [a, b]), say(`${b} does not cause ${a}`, "not_causes", [b, a]),
        say(`${a} and ${b} share no unmeasured cause`, "unconfounded", [a, b])),
    ];
  };
}

async function answer(x, y) {
  const number = shown, key = JSON.stringify([number, x, y]);
  asked.pair = [x, y];
  if (!answers.has(key)) answers.set(key, api("POST", "/api/ask", { run: number, x, y }));
  try {
    return await answers.get(key);
  } catch (error) {
    answers.delete(key);
    throw error;
  }
}

// What would settle a question, each way with a button.
function settling(found) {
  if (found.status !== "not identified") return [];
  const ways = (found.settle || []).map(({ text, statements }) => html("li", null, html("span", { text: `${text} ` }),
    button("State this and learn again", () => learnAgain([{ text: [state.all.statements.text.trim(), ...statements].filter(Boolean).join("\n") }]),
      { class: "link", "aria-label": `State this and learn again: ${statements.join("; ")}` })));
  const none = found.searched ? "No one or two statements that were tried would settle it." : "No statement that would settle it was found in the time given.";
  return [html("h3", { text: "What would settle it" }), ways.length ? html("ul", { class: "facts" }, ...ways) : html("p", { text: none })];
}

// --- mounting --------------------------------------------------------------------------------------------------------

async function mount(number) {
  const page = await api("GET", `/api/runs/${number}/page`);
  if (ending) ending.abort();
  ending = new AbortController();
  byId("result").replaceChildren(byId("report").content.cloneNode(true));
  shown = number;
  const hooks = { signal: ending.signal, edge: edgeMore(page), answer, more: settling, asking: () => parts.go("ask", false) };
  view = Report(page, hooks);
}

function chooser() {
  const numbers = state.all.runs.map(({ number }) => number);
  refill(byId("run"), ...[...numbers].reverse().map((number) => option(number, String(number), number === current())));
  byId("run").closest("label").hidden = numbers.length < 2;
}

export async function show(mode) {
  byId("step-result").dataset.mode = mode;
  const number = current(), what = mode === "ask" ? "Ask" : "Graph";
  byId("result-heading").textContent = number === null ? `${what}: no run yet` : mode === "ask" ? `Ask about run ${number}` : `Graph of run ${number}`;
  byId("no-run").hidden = number !== null;
  chooser();
  if (number === null) return;
  try {
    if (shown !== number) await mount(number);
    else if (view) view.resized();
  } catch (error) {
    message(error.message);
  }
}

export function begin(given) {
  parts = given;
  byId("run").addEventListener("change", ({ target }) => {
    choose(Number(target.value));
    show(state.step);
  });
  on("state", chooser);
  on("asking", ({ phase, done, total }) => {
    for (const line of document.querySelectorAll("#effect .waiting")) line.textContent = total > 1 ? `${phase}: ${done} of ${total}` : `${phase} …`;
  });
}
