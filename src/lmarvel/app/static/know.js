// Step 2: what is known. Tiers by dragging, by arrow keys, or by choosing a variable and then a tier; statements one by one;
// the same as text. Contradictions are named as one types, with a smallest set of statements that contradict each other.
import { on, state, writeStatements } from "./state.js";
import { button, later, option, refill, speak, tried } from "./ui.js";

const { html, byId } = Dom;
const FORMS = [["causes", "A causes B", 2], ["not_causes", "A does not cause B", 2], ["exogenous", "nothing measured causes A", 1],
  ["randomised", "A is randomised", 1], ["unconfounded", "A and B share no unmeasured cause", 2], ["edges", "A and B are adjacent", 2],
  ["no_edges", "A and B are not adjacent", 2]];
const WHOLE = [["selection", "no selection", "The sample was not selected: no measured variable influenced who is in it."],
  ["latents", "no latents", "No unmeasured variable causes two measured ones."]];
let tiers = [[], []], chosen = null, typed = null;

const variables = () => (state.described ? state.described.kept : []);
const statements = () => (state.checked ? state.checked.statements : []);

// --- tiers -------------------------------------------------------------------------------------------------------

function readTiers() {
  const stated = statements().find(({ kind }) => kind === "tiers");
  if (stated) tiers = [...stated.about.map((tier) => [...tier]), []];
  else if (tiers.filter((tier) => tier.length).length > 1) tiers = [[], []];
}

const tierOf = (name) => tiers.findIndex((tier) => tier.includes(name));

async function move(name, to) {
  if (!name || to === tierOf(name)) return;
  tiers = tiers.map((tier) => tier.filter((other) => other !== name));
  if (to >= 0) {
    while (tiers.length <= to) tiers.push([]);
    tiers[to].push(name);
  }
  if (tiers[tiers.length - 1].length) tiers.push([]);
  chosen = null;
  speak(to < 0 ? `${name} has no tier` : `${name} is in tier ${to + 1}`);
  drawTiers();
  await writeStatements({ edit: { tiers: tiers.filter((tier) => tier.length) } });
}

const keyOf = (name) => `chip-${[...variables(), ...tiers.flat()].indexOf(name)}`;

function chip(name) {
  const at = tierOf(name), where = at < 0 ? "no tier" : `tier ${at + 1}`;
  const onkeydown = (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by || (at < 0 && by < 0)) return;
    event.preventDefault();
    tried(move)(name, at + by).then(() => byId(keyOf(name)) && byId(keyOf(name)).focus());
  };
  const item = html("button", { type: "button", class: "chip-name", id: keyOf(name), draggable: "true", "aria-pressed": String(chosen === name),
    "aria-label": `${name}, ${where}`, onkeydown,
    onclick: () => { chosen = chosen === name ? null : name; drawTiers(); byId(keyOf(name)).focus(); },
    ondragstart: (event) => event.dataTransfer.setData("text/plain", name) }, Dom.named(name));
  return html("li", null, item);
}

function tier(names, at) {
  const title = at < 0 ? "No tier" : `Tier ${at + 1}`;
  const place = html("div", { class: "tier", role: "group", "aria-label": title,
    ondragover: (event) => { event.preventDefault(); place.classList.add("over"); }, ondragleave: () => place.classList.remove("over"),
    ondrop: tried(async (event) => { event.preventDefault(); await move(event.dataTransfer.getData("text/plain"), at); }) },
  html("h4", { text: title }),
  chosen !== null && tierOf(chosen) !== at ? button(`Move ${chosen} here`, () => move(chosen, at), { class: "button small" }) : null,
  html("ul", null, ...names.map(chip)));
  return place;
}

function drawTiers() {
  const free = variables().filter((name) => tierOf(name) < 0);
  refill(byId("tiers"), tier(free, -1), ...tiers.map(tier));
}

// --- statements --------------------------------------------------------------------------------------------------

function form() {
  const kind = html("select", { id: "statement-kind", onchange: () => { second.hidden = FORMS.find(([one]) => one === kind.value)[2] < 2; } },
    ...FORMS.map(([value, text]) => option(value, text)));
  const pick = (id, label) => html("div", { class: "field" }, html("label", { for: id, text: label }),
    html("select", { id }, option("", "Choose"), ...variables().map((name) => option(name))));
  const first = pick("statement-a", "A"), second = pick("statement-b", "B");
  const add = async () => {
    const both = FORMS.find(([one]) => one === kind.value)[2] === 2;
    const about = [byId("statement-a").value, ...(both ? [byId("statement-b").value] : [])];
    if (about.some((name) => !name)) throw new Error("Choose the variables that the statement is about.");
    await writeStatements({ edit: { kind: kind.value, about } });
  };
  return html("div", { class: "statement-form" }, html("div", { class: "field" }, html("label", { for: "statement-kind", text: "Statement" }), kind),
    first, second, button("Add", add, { id: "statement-add", class: "button primary" }));
}

function drawStatements() {
  const { error = null, conflict = [] } = state.checked || {};
  const line = ({ text }) => html("li", { class: conflict.includes(text) ? "conflict" : "" }, html("span", { text }),
    button("Remove", () => writeStatements({ edit: { remove: text } }), { class: "link", "aria-label": `Remove: ${text}` }));
  refill(byId("statement-list"),
    statements().length ? html("ul", { class: "statements" }, ...statements().map(line)) : html("p", { class: "note", text: "Nothing is stated." }),
    ...WHOLE.map(([kind, text, meaning]) => {
      const box = html("input", { type: "checkbox", id: `whole-${kind}`, checked: statements().some((one) => one.kind === kind),
        onchange: tried(() => writeStatements({ edit: box.checked ? { kind, about: [] } : { remove: text } })) });
      return html("label", { class: "check" }, box, html("span", { text: meaning }));
    }));
  refill(byId("statement-trouble"), error ? html("div", { class: "card warn" }, html("p", { text: error }),
    conflict.length ? html("ul", null, ...conflict.map((text) => html("li", { text }))) : null) : null);
  const area = byId("statement-text");
  if (document.activeElement !== area) area.value = state.all.statements.text;
}

// --- the whole ---------------------------------------------------------------------------------------------------

function build() {
  const area = html("textarea", { id: "statement-text", rows: 8, spellcheck: "false",
    oninput: later(tried(() => { typed = writeStatements({ text: area.value }); return typed; })) });
  refill(byId("know-body"),
    html("div", { id: "statement-trouble", role: "status" }),
    html("div", { class: "card" }, html("h3", { text: "Order in time" }),
      html("p", { class: "note", text: "Nothing in a later tier causes anything in an earlier one. Drag a variable, press the left or right arrow key on it, or select it and then a tier." }),
      html("div", { id: "tiers", class: "tiers" })),
    html("div", { class: "card" }, html("h3", { text: "Statements" }), form(), html("div", { id: "statement-list" })),
    html("details", { class: "card", id: "as-text", open: Boolean(byId("as-text") && byId("as-text").open) }, html("summary", { text: "The same as text" }),
      html("label", { for: "statement-text", class: "note", text: "One statement per line, such as: Weight causes MilesPerGallon" }), area));
}

// The statements are checked when the step is opened: the table may have changed.
export function show() {
  if (!state.all || (state.all.table && !state.described)) return;
  build();
  readTiers();
  drawTiers();
  drawStatements();
  tried(() => writeStatements({ text: state.all.statements.text }))();
}

export function begin() {
  on("statements", () => {
    if (!byId("statement-list")) return;
    readTiers();
    drawTiers();
    drawStatements();
  });
  on("refused", () => state.step === "know" && show()); // also what is being typed makes room for what is there
  on("described", () => state.step === "know" && document.activeElement.id !== "statement-text" && show());
}

// State something about an edge, from the graph.
export async function state_(change) {
  await writeStatements(change);
  if (state.checked.error) throw new Error([state.checked.error, ...state.checked.conflict].join(" "));
}
