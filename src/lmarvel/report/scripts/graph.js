"use strict";

// The interactive drawing. Places and curves are those of the data; only what a person drags is routed here.
const Graph = (svg, page, callbacks) => {
  const READABLE = 0.83, MARGIN = 30, FAINTEST = 0.35, NARROW = 560;
  const narrow = (svg.clientWidth || 800) < NARROW ? page.narrow : null; // the places on a screen that is higher than wide
  const placed = (k) => (narrow ? { x: narrow.nodes[k][0], y: narrow.nodes[k][1] } : {});
  const nodes = page.nodes.map((node, index) => ({ ...node, ...placed(index), index, edges: [] }));
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const edges = page.edges.map((edge, index) => ({ ...edge, ...(narrow ? narrow.edges[index] : {}), index, first: byName.get(edge.a),
    second: byName.get(edge.b) }));
  edges.forEach((edge) => Marks.apply(edge, page.marks));
  const drawn = edges.filter((edge) => edge.first && edge.second);
  for (const edge of drawn) [edge.first, edge.second].forEach((node) => node.edges.push(edge));
  const between = new Map(drawn.flatMap((edge) => [[`${edge.first.index},${edge.second.index}`, edge],
    [`${edge.second.index},${edge.first.index}`, edge]]));
  const edgeLayer = Dom.svg("g", { class: "edges" }), nodeLayer = Dom.svg("g", { class: "nodes" });
  const labels = Labels(svg, nodes, () => view.fitted());
  const view = View(svg, bounds, (scale) => labels.update(scale));
  let kept = null;

  // --- drawing ---------------------------------------------------------------------------------------------

  function buildNode(node) {
    node.box = Dom.svg("rect", { x: -node.w / 2, y: -node.h / 2, width: node.w, height: node.h, rx: 7 });
    node.group = Dom.svg("g", { class: "node", role: "button", tabindex: -1, "aria-label": node.name },
      Dom.svg("title", { text: node.name }), node.box, labels.text(node));
    node.group.item = node;
    place(node);
    nodeLayer.append(node.group);
  }

  const place = (node) => node.group.setAttribute("transform", `translate(${node.x.toFixed(1)} ${node.y.toFixed(1)})`);

  function buildEdge(edge) {
    edge.group = Dom.svg("g", { class: "edge", role: "button", tabindex: -1 });
    if (typeof edge.share === "number") edge.group.style.setProperty("--seen", FAINTEST + (1 - FAINTEST) * edge.share);
    if (edge.width) edge.group.style.setProperty("--width", edge.width);
    edge.group.item = edge;
    const [a, b, c, d, e, f] = edge.curve;
    drawEdge(edge, [[a, b], [c, d], [e, f]]);
    edgeLayer.append(edge.group);
  }

  const hollow = ({ look }) => (look.hollowA || look.hollowB ? ["with marks that are not established"] : []);
  const spoken = (edge) => [edge.text, ...hollow(edge), ...edge.warned.map((sign) => sign.badge.toLowerCase())].join(", ");

  function drawEdge(edge, curve) {
    edge.path = curve;
    const family = Geometry.family(edge.look.a, edge.look.b);
    for (const name of ["directed", "bidirected", "undirected", "partial"]) edge.group.classList.toggle(name, name === family);
    for (const sign of edge.signs || []) edge.group.classList.toggle(Dom.slug(sign.badge), edge.warned.includes(sign));
    edge.group.setAttribute("aria-label", spoken(edge));
    edge.group.dataset.edge = edge.text;
    Geometry.draw(edge.group, edge.look, curve);
    const signs = edge.warned.map((sign) => sign.sign).join("");
    const value = edge.roomy && edge.association ? edge.association.shown : "";
    if (signs || value) {
      const [x, y] = Geometry.at(curve, edge.spot || 0.5), wide = signs.length * 11 + (value ? 42 : 2);
      edge.group.append(Dom.svg("rect", { class: "plate", x: (x - wide / 2).toFixed(1), y: (y - 9).toFixed(1), width: wide, height: 18, rx: 5 }));
      edge.group.append(Dom.svg("text", { class: "chip", x: x.toFixed(1), y: y.toFixed(1), dy: "0.35em" },
        signs ? Dom.svg("tspan", { class: "signs", text: signs }) : null,
        value ? Dom.svg("tspan", { class: "value", dx: signs ? 4 : 0, text: value }) : null));
    }
    edge.group.append(Dom.svg("title", { text: hint(edge) }));
  }

  function hint(edge) {
    const lines = [edge.text];
    if (edge.association) lines.push(`${edge.association.sentence}: ${edge.association.shown}`);
    if (edge.resamples) lines.push(`Share of resamples: ${edge.resamples}`);
    return [...lines, ...edge.warned.map((sign) => `${sign.badge}: ${sign.text}`)].join("\n");
  }

  // Show other marks.
  function remark(mode) {
    edges.forEach((edge) => Marks.apply(edge, mode));
    for (const edge of drawn) drawEdge(edge, edge.path);
  }

  function drag(node, x, y) {
    [node.x, node.y] = [x, y];
    place(node);
    for (const edge of node.edges) {
      const taken = [];
      for (const end of [edge.first, edge.second]) {
        for (const other of end.edges) if (other !== edge) taken.push(other.first === end ? other.path[0] : other.path[2]);
      }
      drawEdge(edge, Geometry.route(edge.first, edge.second, nodes, taken));
    }
  }

  // --- view ------------------------------------------------------------------------------------------------

  function bounds() {
    const all = nodes.length ? nodes : [{ x: 0, y: 0, w: 200, h: 100 }];
    // A curve comes only half as far as its control point.
    const bends = drawn.map(({ path: [p, c, q] }) => ({ x: (p[0] + 2 * c[0] + q[0]) / 4, y: (p[1] + 2 * c[1] + q[1]) / 4, w: 0, h: 0 }));
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const { x, y, w, h } of [...all, ...bends]) {
      [left, right] = [Math.min(left, x - w / 2), Math.max(right, x + w / 2)];
      [top, bottom] = [Math.min(top, y - h / 2), Math.max(bottom, y + h / 2)];
    }
    return { x: left - MARGIN, y: top - MARGIN, w: right - left + 2 * MARGIN, h: bottom - top + 2 * MARGIN };
  }

  const middleOf = (item) => (item.first ? Geometry.at(item.path, 0.5) : [item.x, item.y]);
  const others = (node) => node.edges.filter((e) => !e.hidden).map((e) => (e.first === node ? e.second : e.first));
  const around = (item) => (item.first ? [item.first, item.second] : [item, ...others(item)]);

  // Go to an item and what surrounds it, so near that it can be read.
  const reveal = (item) => view.glide(view.readable(around(item), middleOf(item), READABLE));

  // The same, if it cannot be read now.
  function approach(item) {
    const read = view.scale() >= READABLE * 0.95 || around(item).every((node) => !node.group.classList.contains("mute"));
    if (!read || !view.sees(...middleOf(item), 0.03)) reveal(item);
  }

  // Bring an item into view if it is not.
  function seek(item) {
    if (!view.sees(...middleOf(item), 0.08)) view.glide(view.centred(middleOf(item), Math.max(view.scale(), READABLE)));
  }

  // --- selection and filter --------------------------------------------------------------------------------

  function highlight(chosen) {
    const near = new Set();
    if (chosen && chosen.first) [chosen, chosen.first, chosen.second].forEach((item) => near.add(item));
    else if (chosen) {
      near.add(chosen);
      for (const edge of chosen.edges.filter((e) => !e.hidden)) [edge, edge.first, edge.second].forEach((i) => near.add(i));
    }
    svg.classList.toggle("chosen", Boolean(chosen));
    for (const item of [...nodes, ...drawn]) {
      item.group.classList.toggle("near", near.has(item));
      item.group.classList.toggle("selected", item === chosen);
      item.group.setAttribute("aria-pressed", String(item === chosen));
    }
    labels.update(view.scale(), near);
    if (chosen) rove(chosen);
    if (chosen && !chosen.first && chosen.edges.length) rove(chosen.edges.find((e) => !e.hidden) || chosen.edges[0]);
  }

  // Show what an answer about two variables speaks of: the two, ways, paths to be blocked, what to adjust for.
  function light(asked) {
    const ways = asked ? asked.way : new Set(), strays = asked ? asked.stray : new Set();
    const near = new Set([...ways, ...strays].flatMap((edge) => [edge, edge.first, edge.second]));
    if (asked) [asked.x, asked.y, ...asked.adjusted].forEach((node) => near.add(node));
    svg.classList.toggle("chosen", Boolean(asked));
    for (const item of [...nodes, ...drawn]) {
      const marks = { near: near.has(item), way: ways.has(item) && !strays.has(item), stray: strays.has(item),
        adjusted: Boolean(asked) && asked.adjusted.has(item), selected: Boolean(asked) && (item === asked.x || item === asked.y) };
      for (const [name, on] of Object.entries(marks)) item.group.classList.toggle(name, on);
    }
    labels.update(view.scale(), near);
    if (!asked) return;
    const some = [...near].filter((item) => !item.first);
    if (!some.every((node) => view.sees(node.x, node.y, 0.04) && !node.group.classList.contains("mute"))) view.glide(view.fitted(some));
  }

  function filter(hidden) {
    for (const edge of drawn) {
      edge.hidden = Dom.concealed(hidden, edge);
      edge.group.classList.toggle("filtered", edge.hidden);
    }
    const entry = drawn.find((edge) => edge.group.getAttribute("tabindex") === "0");
    const open = drawn.find((edge) => !edge.hidden);
    if (open && (!entry || entry.hidden)) rove(open);
  }

  // One node and one edge are in the order of the Tab key; the arrow keys move on from there.
  function rove(item) {
    for (const other of item.first ? drawn : nodes) other.group.setAttribute("tabindex", other === item ? "0" : "-1");
  }

  function focus(item) {
    rove(item);
    item.group.focus({ preventScroll: true });
    seek(item);
  }

  // --- the whole drawing, on paper or in a file ------------------------------------------------------------

  function printing(on) {
    if (on && !kept) {
      kept = view.now();
      view.show(bounds());
      labels.update(1);
    } else if (!on && kept) {
      view.show(kept);
      kept = null;
    }
  }

  // What a function makes of the drawing as a whole, with nothing selected.
  function whole(make) {
    const chosen = svg.classList.contains("chosen");
    svg.classList.remove("chosen");
    svg.classList.add("still");
    printing(true);
    const made = make(bounds());
    printing(false);
    svg.classList.remove("still");
    svg.classList.toggle("chosen", chosen);
    return made;
  }

  // --- start -----------------------------------------------------------------------------------------------

  drawn.forEach(buildEdge);
  nodes.forEach(buildNode);
  svg.append(edgeLayer, nodeLayer);
  if (nodes.length) rove(nodes[0]);
  if (drawn.length) rove(drawn[0]);
  const size = bounds();
  svg.style.setProperty("--aspect", String(size.w / size.h));
  view.show(view.fitted());
  const api = {
    nodes, edges, drawn, byName, highlight, light, filter, remark, focus, seek, reveal, approach, drag, whole,
    dropped: () => labels.moved(view.scale()),
    edgeOf: (x, y) => between.get(`${x.index},${y.index}`),
    fit: () => view.glide(view.fitted()),
    zoom: (factor) => view.glide(view.zoomed(factor)),
    resized: () => view.show(kept ? bounds() : view.now()),
  };
  Hands(svg, view, api, callbacks);
  const { signal } = callbacks;
  matchMedia("print").addEventListener("change", (event) => printing(event.matches), { signal });
  addEventListener("beforeprint", () => printing(true), { signal });
  addEventListener("afterprint", () => printing(false), { signal });
  return api;
};
