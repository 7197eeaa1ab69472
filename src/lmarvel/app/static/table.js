// Step 1: the table. Every column with its values, what is strange about it, and what one click can do.
import { api, describe, on, reload, state, upload, writeSettings } from "./state.js";
import { button, choice, counted, message, option, quiet, refill, speak, tried } from "./ui.js";

const { html, svg, byId } = Dom;
const USES = [["", "As found"], ["categorical", "Categories"], ["ordinal", "Ordered categories"], ["weights", "Weight of rows"],
  ["cluster", "Cluster of rows"], ["drop", "Leave out"]];
const KINDS = { continuous: "number", ordinal: "ordered categories", nominal: "categories" };
const MISSING = [["auto", "Each test uses the rows that have its variables"], ["drop", "Leave out rows with a missing value"],
  ["em", "Estimate correlations by EM"], ["refuse", "Refuse missing values"]];
const SAID = { categorical: true, ordinal: true }; // then the kind is not the one that was found
let parts = null;

// --- settings ----------------------------------------------------------------------------------------------------

const said = () => structuredClone(state.all.settings.table);
const without = (list, name) => list.filter((other) => other !== name);

function useOf(name, now = state.all.settings.table) {
  if (now.drop.includes(name)) return "drop";
  if (now.weights === name) return "weights";
  if (now.cluster === name) return "cluster";
  if (name in now.ordinal) return "ordinal";
  return now.categorical.includes(name) ? "categorical" : "";
}

function used(now, column, use) {
  const { name } = column;
  Object.assign(now, { drop: without(now.drop, name), categorical: without(now.categorical, name) });
  delete now.ordinal[name];
  for (const role of ["weights", "cluster"]) if (now[role] === name) now[role] = null;
  if (use === "drop" || use === "categorical") now[use].push(name);
  else if (use === "ordinal") now.ordinal[name] = column.text ? column.bars.map(([level]) => level) : [];
  else if (use) now[use] = name;
  return now;
}

async function remedy(column, change) {
  const now = said();
  if (change.use) used(now, column, change.use);
  if (change.na) now.na[column.name] = [...new Set([...(now.na[column.name] || []), change.na])];
  if (change.missing) now.missing = change.missing;
  await writeSettings("table", now);
}

async function apply(way) {
  const now = said();
  for (const name of way.drop || []) used(now, { name }, "drop");
  for (const [name, value] of way.na || []) now.na[name] = [...(now.na[name] || []), value];
  if (way.cluster) used(now, { name: way.cluster }, "cluster");
  if (way.missing) now.missing = way.missing;
  await writeSettings("table", now);
}

// --- columns -----------------------------------------------------------------------------------------------------

// Bars of a column: a histogram of numbers, or a bar per category; the numbers stand beside it as text.
function picture(column) {
  const counts = column.bins || (column.bars || []).map(([, n]) => n), most = Math.max(...counts, 1), wide = 120 / Math.max(counts.length, 1);
  const bar = (n, k) => svg("rect", { x: (k * wide).toFixed(2), y: (36 - 36 * n / most).toFixed(2), width: Math.max(wide - 1, 0.6).toFixed(2), height: (36 * n / most).toFixed(2) });
  const words = column.bins ? `from ${column.low} to ${column.high}` : (column.bars || []).slice(0, 4).map(([name, n]) => `${name} (${n.toLocaleString("en")})`).join(", ");
  const more = !column.bins && (column.bars || []).length > 4 ? ", …" : "";
  return html("div", { class: "spread" }, svg("svg", { viewBox: "0 0 120 36", class: "bars", "aria-hidden": "true" }, ...counts.map(bar)),
    html("span", { class: "note", text: counts.length ? words + more : "no values" }));
}

function ordering(column, k) {
  const input = html("input", { id: `order-${k}`, type: "text", value: (state.all.settings.table.ordinal[column.name] || []).join(" < "),
    onchange: tried(() => {
      const now = said();
      now.ordinal[column.name] = input.value.split("<").map((level) => level.trim()).filter(Boolean);
      return writeSettings("table", now);
    }) });
  return html("div", { class: "field" }, html("label", { for: `order-${k}`, text: "From lowest to highest, with <" }), input);
}

function row(column, k) {
  const use = useOf(column.name), out = use === "drop";
  const select = html("select", { id: `use-${k}`, "aria-label": `Use of ${column.name}`, onchange: tried(() => remedy(column, { use: select.value || "none" })) },
    ...USES.map(([value, text]) => option(value, value || use in SAID ? text : `${text}: ${KINDS[column.kind] || column.kind}`, value === use)));
  const taken = (change) => (change.use ? change.use === use : change.missing ? change.missing === state.all.settings.table.missing
    : (state.all.settings.table.na[column.name] || []).includes(change.na));
  const remedies = out ? [] : column.remedies.filter((one) => !taken(one.set)).map((one) => button(one.label, () => remedy(column, one.set),
    { class: "button small", "aria-label": `${one.label} (${column.name})` }));
  const codes = (state.all.settings.table.na[column.name] || []).map((value) => html("p", { class: "note" }, `${value} is taken as missing. `,
    button("Undo", async () => {
      const now = said();
      now.na[column.name] = without(now.na[column.name], value);
      if (!now.na[column.name].length) delete now.na[column.name];
      await writeSettings("table", now);
    }, { class: "link", "aria-label": `Undo: ${value} is taken as missing in ${column.name}` })));
  return html("tr", { class: out ? "out" : "" },
    html("th", { scope: "row" }, Dom.named(column.name)),
    html("td", null, select, use === "ordinal" && column.text ? ordering(column, k) : null),
    html("td", null, picture(column)),
    html("td", { class: "number", text: column.missing ? column.missing.toLocaleString("en") : "none" }),
    html("td", { class: "found" }, ...(out ? [] : column.findings.map((text) => html("p", { text }))), ...codes,
      remedies.length ? html("div", { class: "remedies" }, ...remedies) : null));
}

function columns(found) {
  const head = ["Column", "Use", "Values", "Missing", "To look at"].map((text) => html("th", { scope: "col", text }));
  return html("div", { class: "card" }, html("h3", { text: "Columns" }),
    html("div", { class: "scroll tall columns", tabindex: "0", role: "region", "aria-label": "Columns of the table" },
      html("table", null, html("thead", null, html("tr", null, ...head)), html("tbody", null, ...found.columns.map(row)))));
}

function firstRows(found) {
  const head = found.columns.map(({ name }) => html("th", { scope: "col", text: name }));
  const line = (cells) => html("tr", null, ...cells.map((text) => html("td", { text })));
  return html("details", { class: "card" }, html("summary", { text: "First rows" }),
    html("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "First rows of the table" },
      html("table", { class: "cells" }, html("thead", null, html("tr", null, ...head)), html("tbody", null, ...found.head.map(line)))));
}

// --- the whole ---------------------------------------------------------------------------------------------------

function ready(found) {
  const { kept, faults, way } = found, trouble = faults.length > 0;
  const needed = way ? button("Do what is needed", () => apply(way), { id: "apply" }) : null;
  return html("div", { class: `card go ${trouble ? "warn" : ""}` },
    html("p", null, html("strong", { text: `${counted(found.rows, "row")}, ${counted(found.columns.length, "column")}` }),
      `; ${counted(kept.length, "variable")} to learn from. `,
      found.complete < found.rows ? `${counted(found.rows - found.complete, "row has", "rows have")} missing values.` : "No missing values."),
    ...faults.map((text) => html("p", { text })),
    found.matrix ? html("p", { text: found.matrix }) : null,
    html("div", { class: "actions" }, needed,
      button("Learn from this table", async () => {
        await api("POST", "/api/learn");
        parts.go("learn");
      }, { id: "learn-now", class: "button primary" }),
      html("a", { href: "#know", class: "button", text: "First state what you know" })));
}

function draw() {
  const found = state.described, place = byId("table-body");
  if (!state.all || !state.all.table) {
    refill(place, html("p", { class: "note", text: "No table yet." }));
    return;
  }
  if (!found) return;
  if (found.error) {
    refill(place, html("p", { class: "card warn", text: found.error }));
    return;
  }
  const gaps = found.complete < found.rows || state.all.settings.table.missing !== "auto" ? html("div", { class: "card" },
    choice("Missing values", "missing", MISSING, state.all.settings.table.missing, async (value) => {
      await writeSettings("table", { ...said(), missing: value });
    })) : null;
  refill(place, ready(found), gaps, columns(found), firstRows(found));
}

async function take(file) {
  quiet();
  speak(`Reading ${file.name}`);
  refill(byId("table-body"), html("p", { class: "note", text: `Reading ${file.name} …` }));
  try {
    await upload(file);
  } catch (error) {
    message(error.message);
  }
  await reload();
  await describe();
}

function start() {
  byId("endings").textContent = `Files that can be read: ${state.all.endings.filter((one) => !one.endsWith(".gz")).join(", ")}, and packed text (.csv.gz).`;
  byId("file").accept = state.all.endings.map((one) => `.${one.split(".").pop()}`).join(",");
  if (!byId("bundled").querySelector("button")) {
    byId("bundled").append(...state.all.bundled.map((name) => button(name, async () => {
      await api("POST", "/api/bundled", { name });
      await reload();
      await describe();
    }, { class: "button small" })));
  }
}

export function begin(given) {
  parts = given;
  const drop = byId("drop");
  byId("file").addEventListener("change", tried(async ({ target }) => {
    if (target.files[0]) await take(target.files[0]);
    target.value = "";
  }));
  for (const kind of ["dragover", "dragenter"]) drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", tried(async (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    if (event.dataTransfer.files[0]) await take(event.dataTransfer.files[0]);
  }));
  on("state", () => { start(); if (!state.all.table) draw(); });
  on("describing", () => { if (!state.described) refill(byId("table-body"), html("p", { class: "note", text: "Reading the table …" })); });
  on("described", draw);
}
