"use strict";

// Which marks are shown: all that were learned, those that the data support, or the firm ones. A circle replaces the others.
const Marks = (() => {
  const { html } = Dom;
  const RANK = { unchecked: 1, open: 2, likely: 3, firm: 4, stated: 5 }, LEAST = { all: 0, supported: 3, firm: 4 };
  const KINDS = new Set(["-->", "<->", "---", "o->", "o-o", "o--"]);
  const left = (sign) => (sign === ">" ? "<" : sign), right = (sign) => (sign === "<" ? ">" : sign);

  // Set what is shown of an edge: its look, its kind, and its text.
  function apply(edge, mode) {
    const weak = (grade, least) => Boolean(grade) && RANK[grade] < least;
    const end = (sign, grade) => (weak(grade, LEAST[mode] ?? 0) ? "o" : sign);
    const [a, b] = [end(edge.at_a, edge.grade_a), end(edge.at_b, edge.grade_b)];
    edge.look = { a, b, hollowA: a !== "o" && weak(edge.grade_a, LEAST.supported), hollowB: b !== "o" && weak(edge.grade_b, LEAST.supported) };
    const shown = a === edge.at_a && b === edge.at_b; // a mark that is not shown needs no warning
    edge.warned = (edge.signs || []).filter((sign) => shown || sign.sign !== "×");
    const written = `${left(a)}-${b}`;
    edge.kind = KINDS.has(written) ? written : `${left(b)}-${right(a)}`;
    edge.text = `${edge.a} ${written} ${edge.b}`;
  }

  // The rank of the weaker mark of an edge, by which tables sort; null where it has none.
  function weakest(edge) {
    const ranks = [edge.grade_a, edge.grade_b].filter(Boolean).map((grade) => RANK[grade]);
    return ranks.length ? Math.min(...ranks) : null;
  }

  // The grade of the mark at an end; one that holds only with what was stated has no grade by the data.
  const grade = (edge, end) => (edge[`follows_${end}`] ? "from statements" : edge[`grade_${end}`]);
  const grades = (edge) => (edge.grade_a || edge.grade_b ? `${grade(edge, "a") || "–"} / ${grade(edge, "b") || "–"}` : null);

  // The switch between them, where it changes anything; the caption says which marks are shown.
  function control(place, page, edges, onChange) {
    const modes = Object.keys(page.captions || {});
    const matters = modes.length && edges.some((edge) => weakest(edge) !== null && weakest(edge) < RANK.firm);
    place.hidden = !matters;
    if (!matters) return;
    const caption = place.querySelector("#caption");
    const option = (mode) => html("label", null, html("input", { type: "radio", name: "marks", value: mode, checked: mode === page.marks,
      onchange: () => show(mode) }), html("span", { text: mode[0].toUpperCase() + mode.slice(1) }));
    const show = (mode) => {
      caption.textContent = `${page.captions[mode]}.`;
      document.body.dataset.marks = mode;
      onChange(mode);
    };
    place.querySelector(".choices").append(...modes.map(option));
    show(page.marks);
  }

  return { apply, weakest, grade, grades, control };
})();
