"use strict";

// On paper nothing can be clicked, so the explanations of all edges stand below the table.
const Printing = (page, graph, signal) => {
  const { html, named } = Dom;
  const MOST = 400, FEW = 40; // more edges than the first would be a book; beyond the second, reasons for reasons are left out
  const place = Dom.byId("explanations");

  function explanation(edge) {
    const why = Panels.reasons(edge.why);
    const few = graph.drawn.length <= FEW;
    for (const part of why ? why.querySelectorAll("details") : []) part.open = few;
    return html("article", null, html("h3", { class: "chosen-edge" }, named(edge.text)), ...Panels.facts(edge), why);
  }

  function prepare() {
    if (place.dataset.ready || !graph.drawn.length) return;
    place.dataset.ready = "yes";
    place.hidden = false;
    const told = place.querySelector(".told");
    if (graph.drawn.length > MOST) told.append(html("p", { text: "There are too many edges to explain each on paper." }));
    else {
      told.append(...graph.drawn.map(explanation));
      document.body.classList.add("explained"); // so the table need not say what each edge means
    }
    if (graph.drawn.length > FEW && graph.drawn.length <= MOST) {
      told.prepend(html("p", { class: "note", text: "What the reasons themselves rest on is shown on the screen." }));
    }
  }

  addEventListener("beforeprint", prepare, { signal });
  matchMedia("print").addEventListener("change", (event) => event.matches && prepare(), { signal });
};
