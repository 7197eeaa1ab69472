"use strict";

// The page of a result, put together from its data: once in a report, and for each run that the app shows. The app has hooks:
// what to add to the details of an edge, where answers come from, and a signal after which nothing listens any more.
const Report = (given, hooks = {}) => {
  const { html, byId } = Dom;
  const { signal } = hooks;
  const page = { title: "Report", subtitle: "", footer: "", nodes: [], edges: [], legend: [], statistics: [], settings: [],
    signs: [], grades: [], verdict: [], captions: null, marks: "all", hidden: [], warnings: [], data: null, effects: null, gaps: null, result: null, knowledge: null, ...given };
  let selected = null, asked = null, effects = null;

  // --- texts and tables ------------------------------------------------------------------------------------

  function head() {
    for (const id of ["title", "footer"]) if (byId(id)) byId(id).textContent = page[id] || "";
    byId("subtitle").textContent = page.subtitle || "";
    byId("subtitle").hidden = !page.subtitle;
    byId("verdict").hidden = !page.verdict.length;
    byId("verdict-lines").append(...page.verdict.map((text) => html("p", { text })));
    if (page.verdict.length) byId("verdict").append(byId("subtitle"));
    const warnings = byId("warnings");
    warnings.hidden = !page.warnings.length;
    const list = html("ul", null, ...page.warnings.map((text) => html("li", { text })));
    if (page.warnings.length) warnings.append(html("h2", { text: page.warnings.length === 1 ? "Warning" : "Warnings" }), list);
  }

  function section(id, content) {
    const place = byId(id);
    place.hidden = false;
    place.querySelector(".scroll").append(content);
  }

  function sections() {
    if (page.hidden.length) section("hidden", html("ul", { class: "lines" }, ...page.hidden.map((text) => html("li", { text }))));
    if (page.statistics.length) section("statistics", Tables.pairs(page.statistics));
    if (page.settings.length) section("settings", Tables.pairs(page.settings));
    if (page.data && page.data.rows && page.data.rows.length) section("data", Tables.dataTable(page.data));
  }

  // --- selection -------------------------------------------------------------------------------------------

  const details = byId("details");

  function select(item, from) {
    selected = item;
    asked = null;
    if (effects) effects.rest();
    graph.light(null);
    graph.highlight(item);
    if (!item) details.replaceChildren(...Panels.noDetails(page));
    else {
      const more = item.first && hooks.edge ? hooks.edge(item) : [];
      const content = item.first ? [...Panels.edgeDetails(item, select), ...more] : Panels.nodeDetails(item, select, effects && effects.start);
      const close = html("button", { class: "close", type: "button", text: "×", "aria-label": "Close the details", onclick: () => select(null) });
      details.replaceChildren(close, ...content.filter(Boolean));
      if (from === "search") graph.reveal(item);
      else if (from !== undefined) graph.approach(item);
    }
    document.body.classList.toggle("picked", Boolean(item));
    if (item) uncover();
    byId("clear").disabled = !item;
    byId("status").textContent = item ? `Selected ${item.text || item.name}` : "Nothing selected";
    for (const [edge, row] of table.rows) row.classList.toggle("selected", edge === item);
    byId("legend").parentElement.scrollTop = 0;
    if (item && from === "table") bringUp();
  }

  // An answer about an effect takes the place of a selection in the graph.
  function light(question, text) {
    select(null);
    asked = question;
    graph.light(question);
    byId("clear").disabled = !question;
    if (question) byId("status").textContent = text;
  }

  // On a narrow screen the details lie over the foot of the page: what was selected is scrolled out from under them.
  function uncover() {
    const chosen = byId("graph").querySelector(".selected");
    if (!chosen || getComputedStyle(details).position !== "fixed") return;
    const under = chosen.getBoundingClientRect().bottom + 12 - details.getBoundingClientRect().top;
    if (under > 0) scrollBy({ top: under });
  }

  // From the table, which is long, the way back up to the details is far.
  function bringUp() {
    const box = details.getBoundingClientRect();
    if (box.bottom < 80 || box.top > innerHeight - 80) {
      details.scrollIntoView({ block: "start" });
      details.focus({ preventScroll: true });
    }
  }

  function onFilter(hidden) {
    graph.filter(hidden);
    if (asked) graph.light(asked);
    else graph.highlight(selected);
    for (const [edge, row] of table.rows) row.hidden = Dom.concealed(hidden, edge);
    countEdges(hidden);
  }

  function countEdges(hidden) {
    const all = graph.edges.length, seen = graph.edges.filter((edge) => !Dom.concealed(hidden, edge)).length;
    byId("edge-count").textContent = seen === all ? String(all) : `${seen} of ${all} shown`;
  }

  // Other marks are shown: in the graph, the table, the legend, and where an edge is explained.
  function onMarks(mode) {
    graph.remark(mode);
    table.refresh();
    legend.recount();
    onFilter(legend.hidden);
    if (selected) select(selected);
    else if (asked) effects.again();
    byId("status").textContent = `${page.captions[mode]}.`;
  }

  // --- start -----------------------------------------------------------------------------------------------

  head();
  sections();
  const svg = byId("graph");
  const graph = Graph(svg, page, { select, signal });
  svg.setAttribute("aria-label", `Graph with ${page.nodes.length} variables and ${page.edges.length} edges`);
  for (const edge of graph.edges) edge.penalty = page.penalty;
  const known = graph.drawn;
  const table = Tables.edgeTable(known, (edge) => select(edge, "table"));
  if (known.length) byId("edge-table").append(table.table);
  else byId("edge-table").append(html("p", { class: "note", text: "The graph has no edges." }));
  const legend = Panels.legend(byId("kinds"), byId("reading"), page, graph.edges, onFilter);
  legend.recount();
  for (const [list, place] of [["kinds", "legend"], ["reading", "reading"]]) byId(place).hidden = !byId(list).children.length;
  countEdges(new Set());
  Search(graph, select);
  Save(page, graph, svg);
  Printing(page, graph, signal);
  select(null);
  effects = Effects(byId("effect"), page, graph, { ...hooks, select, light });
  Marks.control(byId("marks"), page, graph.edges, onMarks);
  if (!page.nodes.length) {
    byId("nothing").textContent = "The graph has no variables.";
    byId("nothing").hidden = false;
  }
  byId("zoom-in").addEventListener("click", () => graph.zoom(1.4));
  byId("zoom-out").addEventListener("click", () => graph.zoom(1 / 1.4));
  byId("fit").addEventListener("click", () => graph.fit());
  byId("clear").addEventListener("click", () => select(null));
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    if (selected || asked) select(null);
    else if (svg.contains(document.activeElement)) document.activeElement.blur(); // the wheel is the page's again
  }, { signal });
  addEventListener("resize", () => graph.resized(), { signal });
  return { graph, select, resized: () => graph.resized() };
};
