"use strict";

// The box that finds variables by name.
const Search = (graph, select) => {
  const { html, byId } = Dom;
  const MOST = 50;
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
    ranked.sort((p, q) => p[0] - q[0] || Dom.collator.compare(p[1].name, q[1].name));
    found = ranked.map(([, node]) => node).slice(0, MOST);
    const option = (node, k) => html("li", { role: "option", id: `match-${k}`, "aria-selected": "false", text: node.name,
      onpointerdown: (event) => { event.preventDefault(); choose(node); } });
    const note = (text) => html("li", { class: "none", role: "option", "aria-disabled": "true", "aria-selected": "false", text });
    const more = ranked.length - found.length;
    list.replaceChildren(...found.map(option));
    if (!found.length) list.append(note("No variable has this name"));
    if (more) list.append(note(`and ${more.toLocaleString("en")} more: type more of the name`));
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
};
