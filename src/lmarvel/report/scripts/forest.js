"use strict";

// A forest plot: the same effect by each valid adjustment set, one line per set, with 0 as a dashed line. Each line is a small
// picture whose places are shares of its width, so that it fits any screen; what it shows stands beside it as text.
const Forest = (() => {
  const { html, svg } = Dom;
  const EDGE = 3; // per cent of the width left free at either side

  function scale(rows) {
    const ends = rows.flatMap(([, , low, high]) => [low, high]).concat(0);
    const least = Math.min(...ends), most = Math.max(...ends), span = most - least || 1;
    return (value) => `${EDGE + (100 - 2 * EDGE) * ((value - least) / span)}%`;
  }

  function bar([, value, low, high], at, chosen) {
    return svg("svg", { class: `bar${chosen ? " chosen" : ""}`, height: 18, width: "100%", "aria-hidden": "true" },
      svg("line", { class: "zero", x1: at(0), x2: at(0), y1: 0, y2: 18 }),
      svg("line", { class: "interval", x1: at(low), x2: at(high), y1: 9, y2: 9 }),
      ...[low, high].map((end) => svg("line", { class: "interval", x1: at(end), x2: at(end), y1: 5, y2: 13 })),
      svg("circle", { cx: at(value), cy: 9, r: chosen ? 5 : 4 }));
  }

  // The plot of one comparison: rows of [set, value, low, high, text], the first of which is the number above.
  function plot([contrast, rows]) {
    const at = scale(rows);
    const line = (row, k) => html("li", null, html("span", { class: "set", text: `${row[0]}: ${row[4]}` }), bar(row, at, !k));
    return html("figure", { class: "forest" },
      html("figcaption", { text: `Effect by adjustment set (${contrast}), in the learned graph. Bars are 95 % intervals, and the dashed line is 0.` }),
      html("ol", null, ...rows.map(line)));
  }

  return { plot };
})();
