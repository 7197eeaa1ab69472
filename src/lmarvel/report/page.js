"use strict";

(() => {
  const { html, byId } = Dom;
  const given = JSON.parse(byId("page-data").textContent);
  const page = { title: "Report", subtitle: "", footer: "", nodes: [], edges: [], legend: [], statistics: [], settings: [],
    doubts: [], supports: [], hidden: [], warnings: [], data: null, effects: null, knowledge: null, ...given };
  let selected = null, asked = null, effects = null;

  // --- texts and tables ------------------------------------------------------------------------------------

  function head() {
    byId("title").textContent = page.title;
    byId("subtitle").textContent = page.subtitle || "";
    byId("footer").textContent = page.footer || "";
    byId("subtitle").hidden = !page.subtitle;
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
    if (page.statistics.length) section("statistics", Panels.pairs(page.statistics));
    if (page.settings.length) section("settings", Panels.pairs(page.settings));
    if (page.data && page.data.rows && page.data.rows.length) section("data", Panels.dataTable(page.data));
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
      const content = item.first ? Panels.edgeDetails(item, select) : Panels.nodeDetails(item, select);
      details.replaceChildren(...content.filter(Boolean));
      if (from !== undefined) graph.reveal(item);
    }
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

  // On a narrow screen the details stand far above the table.
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
    const all = page.edges.length, open = page.edges.filter((edge) => !Dom.concealed(hidden, edge)).length;
    byId("edge-count").textContent = open === all ? String(all) : `${open} of ${all} shown`;
  }

  // --- search ----------------------------------------------------------------------------------------------

  function search() {
    const input = byId("search"), list = byId("matches");
    let found = [], active = -1;

    function close() {
      list.hidden = true;
      active = -1;
      input.setAttribute("aria-expanded", "false");
      input.removeAttribute("aria-activedescendant");
    }

    function mark(next) {
      active = next;
      [...list.children].forEach((option, k) => option.setAttribute("aria-selected", String(k === active)));
      if (active >= 0) {
        input.setAttribute("aria-activedescendant", `match-${active}`);
        list.children[active].scrollIntoView({ block: "nearest" });
      }
    }

    function update() {
      const wanted = input.value.trim().toLocaleLowerCase();
      if (!wanted) return close();
      const rank = (node) => {
        const where = node.name.toLocaleLowerCase().indexOf(wanted);
        return where < 0 ? 3 : node.name.length === wanted.length ? 0 : where === 0 ? 1 : 2;
      };
      const ranked = graph.nodes.map((node) => [rank(node), node]).filter(([order]) => order < 3);
      ranked.sort((p, q) => p[0] - q[0] || Panels.collator.compare(p[1].name, q[1].name));
      found = ranked.map(([, node]) => node).slice(0, 50);
      const option = (node, k) => html("li", { role: "option", id: `match-${k}`, "aria-selected": "false", text: node.name,
        onpointerdown: (event) => { event.preventDefault(); choose(node); } });
      list.replaceChildren(...found.map(option));
      const none = { class: "none", role: "option", "aria-disabled": "true", text: "No variable has this name" };
      if (!found.length) list.append(html("li", none));
      list.hidden = false;
      input.setAttribute("aria-expanded", "true");
      if (found.length) mark(0);
      return undefined;
    }

    function choose(node) {
      input.value = node.name;
      close();
      select(node, "search");
    }

    input.addEventListener("input", update);
    input.addEventListener("focus", () => input.value && update());
    input.addEventListener("blur", close);
    input.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !list.hidden) {
        event.stopPropagation();
        event.preventDefault();
        return close();
      }
      if (list.hidden || !found.length) {
        if (event.key === "Enter") update();
        return undefined;
      }
      if (event.key === "ArrowDown") mark((active + 1) % found.length);
      else if (event.key === "ArrowUp") mark((active - 1 + found.length) % found.length);
      else if (event.key === "Enter") choose(found[Math.max(active, 0)]);
      else return undefined;
      return event.preventDefault();
    });
  }

  // --- start -----------------------------------------------------------------------------------------------

  head();
  sections();
  const svg = byId("graph");
  const graph = Graph(svg, page, { select });
  svg.setAttribute("aria-label", `Graph with ${page.nodes.length} variables and ${page.edges.length} edges`);
  const known = graph.edges.filter((edge) => edge.first && edge.second);
  const table = Panels.edgeTable(known, (edge) => select(edge, "table"));
  if (known.length) byId("edge-table").append(table.table);
  else byId("edge-table").append(html("p", { class: "note", text: "The graph has no edges." }));
  Panels.legend(byId("kinds"), page, onFilter);
  if (!byId("kinds").children.length) byId("legend").hidden = true;
  countEdges(new Set());
  search();
  select(null);
  effects = Effects(byId("effect"), page, graph, { select, light });
  if (!page.nodes.length) {
    byId("nothing").textContent = "The graph has no variables.";
    byId("nothing").hidden = false;
  }
  byId("zoom-in").addEventListener("click", () => graph.zoom(1.4));
  byId("zoom-out").addEventListener("click", () => graph.zoom(1 / 1.4));
  byId("fit").addEventListener("click", () => graph.fit());
  byId("clear").addEventListener("click", () => select(null));
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && (selected || asked)) select(null);
  });
  addEventListener("resize", () => graph.resized());
})();
