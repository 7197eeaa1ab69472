"use strict";

// Everything around the drawing: the details of a selection, the legend, and the tables.
const Panels = (() => {
  const { html, shown, named } = Dom;
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

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

  function edgeDetails(edge, choose) {
    const end = (node) => html("button", { type: "button", class: "link", text: node.name, onclick: () => choose(node) });
    const strength = typeof edge.strength === "number";
    return [
      html("h2", { class: "chosen-edge" }, named(edge.a), Geometry.sample(`${edge.at_a === ">" ? "<" : edge.at_a}-${edge.at_b}`),
        named(edge.b)),
      html("p", { class: "code", text: edge.text }),
      edge.doubt ? html("p", null, badge(edge.doubt.badge), ` ${sentence(edge.doubt.text)}.`) : null,
      html("p", { class: "meaning", text: sentence(edge.meaning, edge) }),
      edge.sources ? html("ul", { class: "facts sources" },
        ...[edge.a, edge.b].map((name, k) => html("li", { text: `Mark at ${name}: ${edge.sources[k]}.` }))) : null,
      edge.support ? html("p", null, "The weaker of its marks is ", html("strong", { text: edge.support }), ".") : null,
      typeof edge.loss === "number" ? html("p", null, "Without the edge the score worsens by ",
        html("strong", { text: edge.loss.toFixed(1) }), ".") : null,
      strength ? html("p", null, "Largest p-value among the sets tried: ", html("strong", { text: edge.p }),
        ". The nearer it is to the significance level, the nearer the edge was to being removed.") : null,
      (edge.firmness || []).length ? html("ul", { class: "facts" }, ...edge.firmness.map((text) => html("li", { text }))) : null,
      reasons(edge.why),
      html("h3", { text: "Variables" }),
      html("p", { class: "ends" }, end(edge.first), end(edge.second)),
    ];
  }

  function nodeDetails(node, choose) {
    const line = (edge) => html("li", null, html("button", { type: "button", class: "link", onclick: () => choose(edge) },
      html("span", { text: edge.text })));
    const facts = node.facts || [];
    const count = node.edges.length;
    return [
      html("h2", null, named(node.name)),
      facts.length ? html("ul", { class: "facts" }, ...facts.map((fact) => html("li", { text: fact }))) : null,
      html("h3", { text: count ? `${count} edge${count === 1 ? "" : "s"}` : "No edges" }),
      count ? html("ul", { class: "lines" }, ...node.edges.map(line))
        : html("p", { text: "Nothing in the data ties this variable to another." }),
    ];
  }

  function noDetails(page) {
    const many = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
    return [
      html("h2", { text: "Details" }),
      html("p", { text: `${many(page.nodes.length, "variable")} and ${many(page.edges.length, "edge")}.` }),
      html("p", { class: "note", text: page.nodes.length
        ? "Select a variable to see what it is tied to, or an edge to see what it means and why it is there."
        : "There is nothing to select." }),
    ];
  }

  // A meaning that begins with a name keeps it as it is spelled.
  function sentence(text, edge) {
    const named = edge && [edge.a, edge.b].some((name) => (text || "").startsWith(name));
    return text && !named ? text[0].toUpperCase() + text.slice(1) : text || "";
  }

  // --- legend ----------------------------------------------------------------------------------------------

  function legend(list, page, onChange) {
    const entries = [...page.legend];
    for (const edge of page.edges) { // a kind that the legend forgot can still be hidden
      const entry = entries.find((other) => other.kind === edge.kind);
      if (!entry) entries.push({ kind: edge.kind, meaning: "", count: page.edges.filter((e) => e.kind === edge.kind).length });
    }
    const hidden = new Set();
    for (const entry of entries) {
      const box = html("input", { type: "checkbox", checked: true, disabled: !entry.count, "aria-label": `Show ${entry.kind} edges`,
        "data-kind": entry.kind, onchange: () => {
          if (box.checked) hidden.delete(entry.kind);
          else hidden.add(entry.kind);
          onChange(hidden);
        } });
      const head = html("label", null, box, Geometry.sample(entry.kind), html("code", { text: entry.kind }),
        html("span", { class: "count", text: shown(entry.count) }));
      list.append(html("li", { class: entry.count ? "" : "absent" }, head, html("p", { text: sentence(entry.meaning) })));
    }
    if (page.draws) list.append(recurrence(page.draws, (least) => { hidden.least = least; onChange(hidden); }));
    for (const doubt of page.doubts) {
      list.append(html("li", null, html("strong", { text: doubt.sign }), " on an edge", html("p", { text: sentence(doubt.meaning) })));
    }
    if (page.knowledge) {
      const told = [...page.knowledge.statements, ...page.knowledge.conflicts.map((text) => `Contradicted: ${text}`)];
      list.append(html("li", { class: "known" }, html("strong", { text: "What you said" }),
        html("ul", { class: "facts" }, ...told.map((text) => html("li", { text }))),
        page.knowledge.sources ? html("p", { text: `${sentence(page.knowledge.sources)}.` }) : null));
    }
    for (const { word, meaning } of page.supports) {
      list.append(html("li", null, "Marks: ", html("strong", { text: word }), html("p", { text: sentence(meaning) })));
    }
  }

  // The slider that hides what recurs less.
  function recurrence(draws, onLeast) {
    const told = html("output", { text: "0 %" });
    const slider = html("input", { type: "range", id: "least", min: 0, max: 100, step: 5, value: 0,
      "aria-label": `Show edges in at least this percentage of ${draws} draws`, oninput: () => {
        told.textContent = `${slider.value} %`;
        onLeast(Number(slider.value) / 100);
      } });
    return html("li", null, html("label", null, slider, told),
      html("p", { text: `Show edges that recur in at least this share of ${draws} draws; faint ones recur less.` }));
  }

  // --- tables ----------------------------------------------------------------------------------------------

  function compare(a, b) {
    if (a === b) return 0;
    if (a === null || a === undefined) return 1; // what is missing comes last, whichever way
    if (b === null || b === undefined) return -1;
    return typeof a === "number" && typeof b === "number" ? a - b : collator.compare(String(a), String(b));
  }

  // columns: {name, key(item) for sorting, cell(item) for showing, numeric}
  function sortable(columns, items, caption, onRow) {
    const body = html("tbody");
    const rows = items.map((item) => {
      const cells = columns.map((column) => html("td", { class: column.className || (column.numeric ? "number" : "") }, column.cell(item)));
      return { item, row: html("tr", onRow ? { onclick: () => onRow(item) } : null, ...cells) };
    });
    let now = null, down = false;
    const heads = columns.map((column) => html("th", { scope: "col", class: column.className || (column.numeric ? "number" : "") },
      html("button", { type: "button", onclick: () => sort(column), text: column.name })));
    const order = (column) => (p, q) => {
      const a = column.key(p.item), b = column.key(q.item);
      const missing = a === null || b === null || a === undefined || b === undefined;
      return compare(a, b) * (down && !missing ? -1 : 1);
    };
    function sort(column) {
      [now, down] = [column, now === column && !down];
      rows.sort(order(column));
      body.append(...rows.map((entry) => entry.row));
      heads.forEach((head, k) => {
        if (columns[k] === column) head.setAttribute("aria-sort", down ? "descending" : "ascending");
        else head.removeAttribute("aria-sort");
      });
    }
    body.append(...rows.map((entry) => entry.row));
    const table = html("table", null, html("caption", { class: "hidden-label", text: caption }),
      html("thead", null, html("tr", null, ...heads)), body);
    return { table, rows: new Map(rows.map((entry) => [entry.item, entry.row])) };
  }

  function edgeTable(edges, onRow) {
    const open = (edge) => html("button", { type: "button", class: "link", "aria-label": `Explain ${edge.text}` }, named(edge.a));
    const kind = (edge) => html("span", { class: "kind" }, Geometry.sample(`${edge.at_a === ">" ? "<" : edge.at_a}-${edge.at_b}`),
      html("span", { class: "hidden-label", text: edge.kind }));
    const meaning = (edge) => html("span", null, ...(edge.doubt ? [badge(edge.doubt.badge), " "] : []),
      sentence(edge.meaning, edge));
    const columns = [
      { name: "Variable", key: (e) => e.a, cell: open, className: "name" },
      { name: "Edge", key: (e) => e.kind, cell: kind },
      { name: "With", key: (e) => e.b, cell: (e) => named(e.b), className: "name" },
      { name: "Meaning", key: (e) => e.meaning, cell: meaning, className: "words" },
    ];
    if (edges.some((edge) => typeof edge.share === "number")) {
      columns.push({ name: "Recurs", key: (e) => e.share, cell: (e) => html("span", { text: shown(e.recurs) }) });
    }
    if (edges.some((edge) => edge.support)) {
      const rank = { open: 0, likely: 1, firm: 2 };
      columns.push({ name: "Marks", key: (e) => (e.support ? rank[e.support] : null),
        cell: (e) => html("span", { text: shown(e.support) }) });
    }
    if (edges.some((edge) => typeof edge.loss === "number")) {
      columns.push({ name: "Loss without", key: (e) => e.loss, numeric: true,
        cell: (e) => html("span", { text: typeof e.loss === "number" ? e.loss.toFixed(1) : shown(null) }) });
    }
    if (edges.some((edge) => typeof edge.strength === "number")) {
      columns.push({ name: "Largest p", key: (e) => e.strength, cell: (e) => html("span", { text: shown(e.p) }), numeric: true });
    }
    return sortable(columns, edges, "All edges with their meaning; the buttons in the head sort the table", onRow);
  }

  function dataTable(data) {
    const columns = data.columns.map((name, k) => ({
      name,
      key: (row) => row[k],
      cell: (row) => (k === 0 ? named(shown(row[k])) : html("span", { text: shown(row[k]) })),
      className: k === 0 ? "name" : undefined,
      numeric: data.rows.some((row) => typeof row[k] === "number"),
    }));
    return sortable(columns, data.rows, "Summary of the data, a variable a row", null).table;
  }

  function pairs(entries) {
    const row = ([name, value]) => html("tr", null, html("th", { scope: "row", text: name }), html("td", { text: shown(value) }));
    return html("table", { class: "pairs" }, html("tbody", null, ...entries.map(row)));
  }

  return { edgeDetails, nodeDetails, noDetails, legend, edgeTable, dataTable, pairs, collator };
})();
