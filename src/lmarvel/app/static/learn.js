// Step 3: learn. The method is chosen by the table; everything else stands under "more". Runs are kept, and compared.
import { api, on, state, writeSettings } from "./state.js";
import { button, choice, counted, duration, refill, tried } from "./ui.js";
import * as graph from "./graph.js";

const { html, byId } = Dom;
const NUMBERS = [["alpha", "Significance level of tests (0.01), or auto"], ["penalty", "Penalty per edge (2), or auto"],
  ["bootstrap", "Bootstrap resamples"], ["seed", "Random seed"], ["max_seconds", "Time limit of the search, in seconds"],
  ["max_conditioning", "Largest conditioning set"], ["max_tests", "Largest number of tests"]];
const PHASES = { data: "Reading the table", boundary: "Finding Markov boundaries", order: "Searching orders", lift: "Searching graphs",
  search: "Searching graphs", skeleton: "Finding edges", orientation: "Orienting edges", bootstrap: "Learning from resamples", level: "Choosing the level" };
let clock = 0, parts = null;

// --- settings ----------------------------------------------------------------------------------------------------

const settings = () => state.all.settings.learn;
const put = (name, value) => writeSettings("learn", { ...settings(), [name]: value });

function number([name, label]) {
  const now = settings()[name];
  const input = html("input", { id: `learn-${name}`, type: "text", inputmode: "decimal", autocomplete: "off", value: now === null ? "" : now, placeholder: "default",
    onchange: tried(() => {
      const text = input.value.trim(), value = text === "" ? null : text === "auto" ? text : Number(text);
      if (Number.isNaN(value)) throw new Error(`${label}: ${text} is not a number.`);
      return put(name, value);
    }) });
  return html("div", { class: "field" }, html("label", { for: `learn-${name}`, text: label }), input);
}

function more() {
  const { methods, tests } = state.all;
  const names = [["auto", "auto: by the table"], ...Object.entries(tests).map(([name, use]) => [name, `${name}: ${use}`])];
  const open = Object.entries(settings()).some(([name, value]) => value !== null && !(name === "method" && value === "auto"));
  return html("details", { class: "card", id: "more", open }, html("summary", { text: "More" }),
    html("div", { class: "fields" },
      choice("Method", "learn-method", methods.map((name) => [name, name === "auto" ? "auto: by rows and columns" : name]), settings().method, (value) => put("method", value)),
      choice("Independence test", "learn-test", names, settings().test || "auto", (value) => put("test", value === "auto" ? null : value)),
      ...NUMBERS.map(number)));
}

// --- progress ----------------------------------------------------------------------------------------------------

function expected() {
  const last = [...state.all.runs].reverse().find((run) => run.table === state.all.table.name && run.seconds);
  const { method, bootstrap } = settings(), known = ["auto", "lift"].includes(method) && state.described && state.described.expected !== undefined;
  const search = known ? `Expected time of the search: ${duration(state.described.expected)}. ` : "";
  const about = search + (bootstrap ? `Each of ${counted(bootstrap, "resample")} takes about as long again. ` : "");
  return about + (last ? `The last run on this table took ${duration(last.seconds)} in all.` : "Reading the table and weighing the evidence come on top.");
}

function going() {
  const { job } = state.all;
  if (!job) {
    return [html("p", { class: "note", text: expected() }),
      html("div", { class: "actions" }, button("Learn", async () => { await api("POST", "/api/learn"); }, { id: "learn-start", class: "button primary" }))];
  }
  const share = job.total > 1 ? job.done / job.total : null;
  const phase = PHASES[job.phase] || job.phase[0].toUpperCase() + job.phase.slice(1);
  const words = job.total > 1 ? `${phase}: ${job.done.toLocaleString("en")} of ${job.total.toLocaleString("en")}` : phase;
  return [html("p", { id: "phase", text: `${words} (${duration(Math.max(Date.now() / 1000 - job.begun, 0))})` }),
    html("progress", { max: 1, "aria-label": "Progress of the run", ...(share === null ? {} : { value: share }) }),
    html("div", { class: "actions" }, button("Cancel", () => api("POST", "/api/cancel"), { id: "cancel" }))];
}

function drawGoing() {
  if (byId("going")) refill(byId("going"), ...going());
}

// --- runs --------------------------------------------------------------------------------------------------------

function run(one) {
  const verdict = (one.verdict || []).slice(0, 2).join(" ");
  return html("tr", null, html("th", { scope: "row", text: `Run ${one.number}` }), html("td", { text: one.made || "" }), html("td", { text: one.method || "" }),
    html("td", { class: "words", text: verdict }), html("td", { class: "number", text: counted((one.statements || []).length, "statement") }),
    html("td", null, button("Show", () => { graph.choose(one.number); parts.go("graph"); }, { class: "button small", "aria-label": `Show run ${one.number}` })));
}

function runs() {
  const all = [...state.all.runs].reverse();
  if (!all.length) return null;
  const head = ["Run", "When", "Method", "Verdict", "Stated"].map((text) => html("th", { scope: "col", text }));
  return html("div", { class: "card" }, html("h3", { text: "Runs" }),
    html("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": "Runs" },
      html("table", { class: "runs" }, html("thead", null, html("tr", null, ...head, html("td"))), html("tbody", null, ...all.map(run)))),
    all.length > 1 ? comparison(all) : null);
}

function comparison(all) {
  const numbers = all.map(({ number: n }) => [String(n), `Run ${n}`]), place = html("div", { id: "comparison", role: "status" });
  const compare = async () => {
    const [first, second] = ["first", "second"].map((id) => byId(`compare-${id}`).value);
    const found = await api("GET", `/api/compare/${first}/${second}`);
    const line = ({ text, what, kind }) => html("tr", null, html("th", { scope: "row", text }), html("td", { text: what, class: kind }));
    refill(place, html("p", null, html("strong", { text: found.summary })),
      ...found.variables.map((text) => html("p", { text: `${text}.` })),
      ...found.added.map((text) => html("p", { text: `Stated in addition: ${text}` })), ...found.removed.map((text) => html("p", { text: `No longer stated: ${text}` })),
      found.edges.length ? html("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": "Changed edges" },
        html("table", null, html("tbody", null, ...found.edges.map(line)))) : null);
  };
  return html("div", { class: "compare" }, html("h3", { text: "What changed" }),
    html("div", { class: "statement-form" }, choice("From", "compare-first", numbers, numbers[1][0], () => {}), choice("To", "compare-second", numbers, numbers[0][0], () => {}),
      button("Compare", compare, { id: "compare" })), place);
}

// --- the whole ---------------------------------------------------------------------------------------------------

export function show() {
  const place = byId("learn-body");
  if (!state.all.table) {
    refill(place, html("p", { class: "card" }, "First choose a ", html("a", { href: "#table", text: "table" }), "."));
    return;
  }
  const stated = state.all.statements.text.trim().split("\n").filter(Boolean).length;
  const about = html("p", null, html("strong", { text: state.all.table.name }), `; ${stated ? counted(stated, "line of statements", "lines of statements") : "nothing stated"} (`, html("a", { href: "#know", text: "what you know" }), ").");
  refill(place, html("div", { class: "card" }, about, html("div", { id: "going" }, ...going())), more(), runs());
}

export function begin(given) {
  parts = given;
  const again = () => state.step === "learn" && show();
  on("state", again);
  on("described", () => state.step === "learn" && drawGoing());
  on("job", ({ job }) => {
    state.all.job = job;
    drawGoing();
  });
  clearInterval(clock);
  clock = setInterval(() => state.all && state.all.job && state.step === "learn" && drawGoing(), 1000);
}
