"use strict";

// What stands beside the drawing: the details of a selection, and the legend.
const Panels = (() => {
  const { html, shown, named, sentence } = Dom;

  // --- details ---------------------------------------------------------------------------------------------

  function reason(tree) {
    const because = tree.because || [];
    if (!because.length) return html("li", { class: "leaf" }, html("span", { text: tree.text }));
    const list = html("ul", { class: "reasons" }, ...because.map(reason));
    return html("li", null, html("details", null, html("summary", { text: tree.text }), list));
  }

  function reasons(trees) {
    if (!trees || !trees.length) return null;
    const list = html("ul", { class: "reasons" }, ...trees.map(reason));
    for (const item of list.querySelectorAll(":scope > li > details")) item.open = true;
    return html("div", null, html("h3", { text: "Why" }), list);
  }

  const badge = (text) => html("span", { class: "badge", text });

  // All that is known of an edge beside what it means: signs, number, grades, shares of resamples.
  function facts(edge) {
    const strength = typeof edge.strength === "number", told = edge.association;
    return [
      html("p", { class: "meaning", text: sentence(edge.meaning, edge) }),
      ...(edge.signs || []).map((sign) => html("p", { class: "sign" }, badge(`${sign.sign} ${sign.badge}`), ` ${sentence(sign.text)}.`)),
      told ? html("p", { class: "association" }, `${told.sentence}: `, html("strong", { text: told.shown }),
        ". It describes the association in the data, not the size of an effect.") : null,
      edge.sources ? html("ul", { class: "facts sources" },
        ...[edge.a, edge.b].map((name, k) => html("li", { text: `Mark at ${name}: ${edge.sources[k]}.` }))) : null,
      (edge.firmness || []).length ? html("ul", { class: "facts firmness" }, ...edge.firmness.map((text) => html("li", { text }))) : null,
      typeof edge.loss === "number" ? html("p", null, "Removing the edge worsens the score by ",
        html("strong", { text: edge.loss.toFixed(1) }), typeof edge.penalty === "number" ? ` (an edge costs ${edge.penalty.toFixed(1)}).` : ".") : null,
      strength ? html("p", null, "Largest p-value among the sets tried: ", html("strong", { text: edge.p }),
        ". The nearer it is to the significance level, the nearer the edge was to being removed.") : null,
    ].filter(Boolean);
  }

  function edgeDetails(edge, choose) {
    const end = (node) => html("button", { type: "button", class: "link", text: node.name, onclick: () => choose(node) });
    return [
      html("h2", { class: "chosen-edge" }, named(edge.a), Geometry.sample(edge.look),
        named(edge.b)),
      html("p", { class: "code", text: edge.text }),
      ...facts(edge),
      reasons(edge.why),
      html("h3", { text: "Variables" }),
      html("p", { class: "ends" }, end(edge.first), end(edge.second)),
    ];
  }

  function nodeDetails(node, choose, ask) {
    const line = (edge) => html("li", null, html("button", { type: "button", class: "link", onclick: () => choose(edge) },
      html("span", { text: edge.text })));
    const known = node.facts || [];
    const count = node.edges.length;
    return [
      html("h2", null, named(node.name)),
      known.length ? html("ul", { class: "facts" }, ...known.map((fact) => html("li", { text: fact }))) : null,
      html("h3", { text: count ? `${count} edge${count === 1 ? "" : "s"}` : "No edges" }),
      count ? html("ul", { class: "lines" }, ...node.edges.map(line))
        : html("p", { text: "No association of this variable with another was found." }),
      ask ? html("p", { class: "screen" }, html("button", { type: "button", class: "link", onclick: () => ask(node),
        text: "Ask about this variable and another" })) : null,
    ];
  }

  function noDetails(page) {
    const many = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
    return [
      html("h2", { text: "Details" }),
      html("p", { text: `${many(page.nodes.length, "variable")} and ${many(page.edges.length, "edge")}.` }),
      html("p", { class: "note", text: page.nodes.length
        ? "Select a variable to see its edges, or an edge to see what it means, how firm it is and why it is there."
        : "There is nothing to select." }),
    ];
  }

  // --- legend ----------------------------------------------------------------------------------------------

  // The kinds of edges, which can be hidden, and what you stated; right below the graph, what else its lines show. Returned is
  // what counts the kinds anew, and gives the kinds that are hidden.
  function legend(list, reading, page, edges, onChange) {
    const entries = [...page.legend];
    for (const edge of edges) { // a kind that the legend forgot can still be hidden
      if (!entries.some((other) => other.kind === edge.kind)) entries.push({ kind: edge.kind, meaning: "" });
    }
    const hidden = new Set(), counts = [];
    for (const entry of entries) {
      const box = html("input", { type: "checkbox", checked: true, "aria-label": `Show ${entry.kind} edges`,
        "data-kind": entry.kind, onchange: () => {
          if (box.checked) hidden.delete(entry.kind);
          else hidden.add(entry.kind);
          onChange(hidden);
        } });
      const number = html("span", { class: "count" });
      const head = html("label", null, box, Geometry.sample(entry.kind), html("code", { text: entry.kind }), number);
      const item = html("li", null, head, html("p", { text: sentence(entry.meaning) }));
      counts.push(() => {
        const count = edges.filter((edge) => edge.kind === entry.kind).length;
        number.textContent = shown(count);
        box.disabled = !count;
        item.classList.toggle("absent", !count);
      });
      list.append(item);
    }
    if (page.resamples) reading.append(frequency(page.resamples, (least) => { hidden.least = least; onChange(hidden); }));
    if (edges.some((edge) => [edge.grade_a, edge.grade_b].some((grade) => grade === "open" || grade === "unchecked"))) {
      reading.append(html("li", { class: "hollow-key" }, html("span", { class: "legend-sign" },
        Geometry.sample({ a: "-", b: ">", hollowA: true, hollowB: true }), html("strong", { text: "Hollow marks" })),
      html("p", { text: "The data do not establish them." })));
    }
    for (const sign of page.signs) {
      const item = html("li", null, html("span", { class: "legend-sign" }, Geometry.sample("-->", sign), html("strong", { text: sign.badge })),
        html("p", { text: sentence(sign.meaning) }));
      counts.push(() => { item.hidden = !edges.some((edge) => edge.warned.some((other) => other.sign === sign.sign)); });
      reading.append(item);
    }
    const look = [page.widths, page.resamples ? `The more of ${page.resamples} resamples have an edge, the less faint its line.` : null].filter(Boolean);
    if (look.length) reading.append(html("li", { class: "look" }, widths(page), ...look.map((text) => html("p", { text }))));
    if (page.knowledge) {
      const told = [...page.knowledge.statements, ...page.knowledge.conflicts.map((text) => `Contradicted: ${text}`)];
      list.append(html("li", { class: "known" }, html("strong", { text: "What you stated" }),
        html("ul", { class: "facts" }, ...told.map((text) => html("li", { text }))),
        page.knowledge.sources ? html("p", { text: `${sentence(page.knowledge.sources)}.` }) : null));
    }
    for (const { word, meaning } of page.grades) {
      list.append(html("li", { class: "grade" }, "Grade of a mark: ", html("strong", { text: word }), html("p", { text: sentence(meaning) })));
    }
    return { recount: () => counts.forEach((count) => count()), hidden };
  }

  // A thin or faint line, and one that is neither.
  function widths(page) {
    const line = (width, seen) => {
      const sample = Geometry.sample("-->");
      if (page.widths) sample.firstChild.style.setProperty("--width", width);
      if (page.resamples) sample.firstChild.style.setProperty("--seen", seen);
      return sample;
    };
    const shows = [page.widths ? "width" : null, page.resamples ? "faintness" : null].filter(Boolean).join(" and ");
    return html("span", { class: "legend-sign" }, line(0.8, 0.5), line(2.6, 1), html("strong", { text: sentence(shows) }));
  }

  // The slider that hides what fewer resamples have.
  function frequency(resamples, onLeast) {
    const told = html("output", { text: "0 %" });
    const slider = html("input", { type: "range", id: "least", min: 0, max: 100, step: 5, value: 0,
      "aria-label": `Show edges in at least this percentage of ${resamples} resamples`, oninput: () => {
        told.textContent = `${slider.value} %`;
        onLeast(Number(slider.value) / 100);
      } });
    return html("li", { class: "screen" }, html("label", null, slider, told),
      html("p", { text: `Show edges that appear in at least this share of ${resamples} resamples.` }));
  }

  return { edgeDetails, nodeDetails, noDetails, reasons, facts, legend };
})();
