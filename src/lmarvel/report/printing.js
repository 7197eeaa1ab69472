"use strict";

// On paper nothing can be clicked, so the explanations of all edges stand below the table.
const Printing = (page, graph) => {
  const { html, named } = Dom;
  const MOST = 400; // more would be a book
  const place = Dom.byId("explanations");

  function explanation(edge) {
    const why = Panels.reasons(edge.why);
    if (why) for (const part of why.querySelectorAll("details")) part.open = true;
    return html("article", null, html("h3", { class: "chosen-edge" }, named(edge.text)), ...Panels.facts(edge), why);
  }

  function prepare() {
    if (place.dataset.ready || !graph.drawn.length) return;
    place.dataset.ready = "yes";
    place.hidden = false;
    const told = place.querySelector(".told");
    if (graph.drawn.length > MOST) told.append(html("p", { text: "There are too many edges to explain each on paper." }));
    else told.append(...graph.drawn.map(explanation));
  }

  addEventListener("beforeprint", prepare);
  matchMedia("print").addEventListener("change", (event) => event.matches && prepare());
};
