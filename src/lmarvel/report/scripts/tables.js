"use strict";

// The tables of the page, which sort themselves by any column.
const Tables = (() => {
  const { html, shown, named, collator, sentence } = Dom;

  function compare(a, b) {
    if (a === b) return 0;
    if (a === null || a === undefined) return 1; // what is missing comes last, whichever way
    if (b === null || b === undefined) return -1;
    return typeof a === "number" && typeof b === "number" ? a - b : collator.compare(String(a), String(b));
  }

  // columns: {name, key(item) for sorting, cell(item) for showing, numeric, live: whether the switch of marks changes it}
  function sortable(columns, items, caption, onRow) {
    const body = html("tbody");
    const rows = items.map((item) => {
      const cells = columns.map((column) => html("td", { class: column.className || (column.numeric ? "number" : "") }, column.cell(item)));
      return { item, row: html("tr", onRow ? { onclick: () => onRow(item) } : null, ...cells) };
    });
    let now = null, down = false;
    const heads = columns.map((column) => html("th", { scope: "col", class: column.className || (column.numeric ? "number" : "") },
      html("button", { type: "button", onclick: () => sort(column), text: column.name }),
      html("span", { class: "paper", text: column.name }))); // a button is not repeated on each page
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
    function refresh() {
      for (const { item, row } of rows) columns.forEach((column, k) => column.live && row.cells[k].replaceChildren(column.cell(item)));
      if (now) body.append(...rows.sort(order(now)).map((entry) => entry.row));
    }
    return { table, rows: new Map(rows.map((entry) => [entry.item, entry.row])), refresh };
  }

  function edgeTable(edges, onRow) {
    const open = (edge) => html("button", { type: "button", class: "link", "aria-label": `Explain ${edge.text}` }, named(edge.a));
    const kind = (edge) => html("span", { class: "kind" }, Geometry.sample(edge.look),
      html("span", { class: "hidden-label", text: edge.kind }));
    const meaning = (edge) => html("span", null, ...edge.warned.flatMap((sign) => [html("span", { class: "badge", text: sign.badge }), " "]),
      sentence(edge.meaning, edge));
    const columns = [
      { name: "Variable", key: (e) => e.a, cell: open, className: "name", live: true },
      { name: "Edge", key: (e) => e.kind, cell: kind, live: true },
      { name: "With", key: (e) => e.b, cell: (e) => named(e.b), className: "name" },
      { name: "Meaning", key: (e) => e.meaning, cell: meaning, className: "words", live: true },
    ];
    if (edges.some((edge) => Marks.grades(edge))) {
      columns.push({ name: "Grades", key: Marks.weakest, className: "grades", cell: (e) => html("span", { text: shown(Marks.grades(e)) }) });
    }
    if (edges.some((edge) => edge.resamples)) {
      columns.push({ name: "Resamples", key: (e) => e.share, className: "resamples",
        cell: (e) => html("span", { text: shown(e.resamples).replaceAll(" %", "\u00a0%") }) });
    }
    if (edges.some((edge) => edge.association)) {
      columns.push({ name: "Partial correlation", key: (e) => (e.association ? e.association.value : null), numeric: true,
        cell: (e) => html("span", { text: e.association ? e.association.shown : shown(null) }) });
    }
    if (edges.some((edge) => typeof edge.loss === "number")) {
      columns.push({ name: "Score loss", key: (e) => e.loss, numeric: true,
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
    return sortable(columns, data.rows, "Summary of the data, one row per variable", null).table;
  }

  function pairs(entries) {
    const row = ([name, value]) => html("tr", null, html("th", { scope: "row", text: name }), html("td", { text: shown(value) }));
    return html("table", { class: "pairs" }, html("tbody", null, ...entries.map(row)));
  }

  return { edgeTable, dataTable, pairs };
})();
