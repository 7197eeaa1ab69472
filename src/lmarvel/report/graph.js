"use strict";

// The interactive drawing: zoom, pan, drag, keyboard, selection and filter.
const Graph = (svg, page, callbacks) => {
  const MARGIN = 30, CLOSEST = 3, READABLE = 0.75, FAR = 0.3;
  const nodes = page.nodes.map((node, index) => ({ ...node, index, edges: [] }));
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const edges = page.edges.map((edge, index) => ({ ...edge, index, first: byName.get(edge.a), second: byName.get(edge.b) }));
  const drawn = edges.filter((edge) => edge.first && edge.second);
  for (const edge of drawn) [edge.first, edge.second].forEach((node) => node.edges.push(edge));
  const edgeLayer = Dom.svg("g", { class: "edges" }), nodeLayer = Dom.svg("g", { class: "nodes" });
  let view = { x: 0, y: 0, w: 100, h: 100 }, kept = null, motion = 0;

  // --- drawing ---------------------------------------------------------------------------------------------

  function label(node) {
    const room = node.w - 10;
    const measure = label.pen.measureText.bind(label.pen);
    const text = (node.label || node.name).replace(/\s+/g, " ").trim() || "␣";
    if (measure(text).width <= room) return text;
    const letters = Array.from(text);
    for (let size = Math.min(letters.length - 1, 60); size > 1; size -= 1) {
      const head = Math.ceil(size / 2);
      const tried = `${letters.slice(0, head).join("")}…${letters.slice(letters.length - (size - head)).join("")}`;
      if (measure(tried).width <= room) return tried;
    }
    return "…";
  }
  label.pen = document.createElement("canvas").getContext("2d");
  label.pen.font = "14px system-ui, 'Segoe UI', Helvetica, Arial, 'Liberation Sans', sans-serif";

  function buildNode(node) {
    node.group = Dom.svg("g", { class: "node", role: "button", tabindex: -1, "aria-label": node.name },
      Dom.svg("title", { text: node.name }),
      Dom.svg("rect", { x: -node.w / 2, y: -node.h / 2, width: node.w, height: node.h, rx: 7 }),
      Dom.svg("text", { y: 5, text: label(node) }));
    node.group.item = node;
    place(node);
    nodeLayer.append(node.group);
  }

  const place = (node) => node.group.setAttribute("transform", `translate(${node.x.toFixed(1)} ${node.y.toFixed(1)})`);

  function buildEdge(edge) {
    const doubt = edge.doubt ? ` ${edge.doubt.badge.toLowerCase()}` : "";
    edge.group = Dom.svg("g", { class: `edge ${Geometry.family(edge.at_a, edge.at_b)}${doubt}`, role: "button",
      tabindex: -1, "aria-label": edge.text, opacity: typeof edge.share === "number" ? 0.35 + 0.65 * edge.share : null });
    edge.group.item = edge;
    edgeLayer.append(edge.group);
  }

  function routeEdge(edge) {
    const taken = [];
    for (const node of [edge.first, edge.second]) {
      for (const other of node.edges) {
        if (other !== edge && other.curve) taken.push(other.first === node ? other.curve[0] : other.curve[2]);
      }
    }
    edge.curve = Geometry.route(edge.first, edge.second, nodes, taken);
    Geometry.draw(edge.group, edge.at_a, edge.at_b, edge.curve);
    if (edge.doubt) {
      const [p, c, q] = edge.curve, middle = (k) => (p[k] + 2 * c[k] + q[k]) / 4;
      edge.group.append(Dom.svg("text", { class: "doubt", x: middle(0).toFixed(1), y: (middle(1) + 5).toFixed(1),
        text: edge.doubt.sign }));
    }
    edge.group.append(Dom.svg("title", { text: edge.doubt ? `${edge.text} (${edge.doubt.text})` : edge.text }));
  }

  function routeAll() {
    for (const edge of drawn) edge.curve = null;
    const span = (edge) => Math.hypot(edge.first.x - edge.second.x, edge.first.y - edge.second.y);
    for (const edge of [...drawn].sort((e, f) => span(e) - span(f))) routeEdge(edge);
  }

  // --- view ------------------------------------------------------------------------------------------------

  function bounds() {
    const reach = drawn.flatMap((edge) => [edge.curve[1]]).map(([x, y]) => ({ x, y, w: 0, h: 0 }));
    const all = nodes.length ? nodes : [{ x: 0, y: 0, w: 200, h: 100 }];
    // A curve comes only half as far as its control point, so half of what that adds is enough.
    const span = (low, high) => {
      const least = Math.min(...all.map(low)), most = Math.max(...all.map(high));
      const wide = Math.min(least, ...reach.map(low)), far = Math.max(most, ...reach.map(high));
      return [least + (wide - least) / 2 - MARGIN, most + (far - most) / 2 + MARGIN];
    };
    const [left, right] = span((b) => b.x - b.w / 2, (b) => b.x + b.w / 2);
    const [top, bottom] = span((b) => b.y - b.h / 2, (b) => b.y + b.h / 2);
    return { x: left, y: top, w: right - left, h: bottom - top };
  }

  function around(some) {
    const [left, right] = [Math.min(...some.map((b) => b.x - b.w / 2)), Math.max(...some.map((b) => b.x + b.w / 2))];
    const [top, bottom] = [Math.min(...some.map((b) => b.y - b.h / 2)), Math.max(...some.map((b) => b.y + b.h / 2))];
    return { x: left - MARGIN, y: top - MARGIN, w: right - left + 2 * MARGIN, h: bottom - top + 2 * MARGIN };
  }

  const scale = () => Math.min((svg.clientWidth || 800) / view.w, (svg.clientHeight || 500) / view.h);

  function show(next) {
    view = next;
    svg.setAttribute("viewBox", [view.x, view.y, view.w, view.h].map((value) => value.toFixed(2)).join(" "));
    svg.classList.toggle("far", scale() < FAR);
  }

  function glide(next) {
    cancelAnimationFrame(motion);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return show(next);
    const from = view, start = performance.now();
    const step = (now) => {
      const t = Math.min(Math.max((now - start) / 220, 0), 1), ease = 1 - (1 - t) ** 3;
      const mix = (key) => from[key] + (next[key] - from[key]) * ease;
      show({ x: mix("x"), y: mix("y"), w: mix("w"), h: mix("h") });
      if (t < 1) motion = requestAnimationFrame(step);
    };
    motion = requestAnimationFrame(step);
    return undefined;
  }

  function fitted(some) {
    const box = some ? around(some) : bounds();
    const wide = Math.max(box.w, (svg.clientWidth || 800) / 1.25), high = Math.max(box.h, (svg.clientHeight || 500) / 1.25);
    return { x: box.x - (wide - box.w) / 2, y: box.y - (high - box.h) / 2, w: wide, h: high };
  }

  function zoomed(factor, centre) {
    const now = scale(), whole = fitted();
    const least = Math.min(svg.clientWidth / whole.w, svg.clientHeight / whole.h) / 2;
    const by = now / Math.min(Math.max(now * factor, least), CLOSEST);
    const [x, y] = centre || [view.x + view.w / 2, view.y + view.h / 2];
    return { x: x - (x - view.x) * by, y: y - (y - view.y) * by, w: view.w * by, h: view.h * by };
  }

  function toGraph(event) {
    const matrix = svg.getScreenCTM();
    if (!matrix) return [0, 0];
    const found = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    return [found.x, found.y];
  }

  // Bring a place into view, near enough for its label to be read.
  function reveal(x, y) {
    const now = scale(), inside = (value, low, size) => value > low + size * 0.08 && value < low + size * 0.92;
    const seen = inside(x, view.x, view.w) && inside(y, view.y, view.h);
    if (seen && now >= READABLE * 0.6) return;
    const by = now < READABLE ? now / READABLE : 1;
    glide({ x: x - (view.w * by) / 2, y: y - (view.h * by) / 2, w: view.w * by, h: view.h * by });
  }

  const pan = (dx, dy) => show({ ...view, x: view.x + dx * view.w, y: view.y + dy * view.h });

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
    if (chosen) rove(chosen);
    if (chosen && !chosen.first && chosen.edges.length) rove(chosen.edges.find((e) => !e.hidden) || chosen.edges[0]);
  }

  // Show what an answer about an effect speaks of: cause and outcome, ways, paths to be blocked, what to adjust for.
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
    if (asked) frame([...near].filter((item) => !item.first));
  }

  // Bring some nodes into view, all of them, if that needs the view to move.
  function frame(some) {
    const inside = (node) => node.x > view.x && node.x < view.x + view.w && node.y > view.y && node.y < view.y + view.h;
    if (scale() < FAR || !some.every(inside)) glide(fitted(some));
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

  // --- pointer ---------------------------------------------------------------------------------------------

  const pointers = new Map();
  let press = null;

  function onDown(event) {
    if (event.button) return;
    cancelAnimationFrame(motion);
    pointers.set(event.pointerId, [event.clientX, event.clientY]);
    if (pointers.size === 1) {
      const group = event.target.closest(".node, .edge");
      press = { item: group && group.item, x: event.clientX, y: event.clientY, moved: false, from: toGraph(event) };
      if (press.item && !press.item.first) press.offset = [press.item.x - press.from[0], press.item.y - press.from[1]];
    } else if (press) press.moved = true;
    svg.setPointerCapture(event.pointerId);
  }

  function onMove(event) {
    if (!pointers.has(event.pointerId) || !press) return;
    const before = [...pointers.values()];
    pointers.set(event.pointerId, [event.clientX, event.clientY]);
    if (pointers.size === 2) return pinch(before, [...pointers.values()]);
    if (!press.moved && Math.hypot(event.clientX - press.x, event.clientY - press.y) < 5) return undefined;
    press.moved = true;
    const [x, y] = toGraph(event);
    if (press.offset) drag(press.item, x + press.offset[0], y + press.offset[1]);
    else show({ ...view, x: view.x + press.from[0] - x, y: view.y + press.from[1] - y });
    svg.classList.add("dragging");
    return undefined;
  }

  function pinch(before, after) {
    const span = (pair) => Geometry.distance(pair[0], pair[1]) || 1;
    const middle = (pair) => ({ clientX: (pair[0][0] + pair[1][0]) / 2, clientY: (pair[0][1] + pair[1][1]) / 2 });
    const from = toGraph(middle(before));
    show(zoomed(span(after) / span(before), from));
    const to = toGraph(middle(after));
    show({ ...view, x: view.x + from[0] - to[0], y: view.y + from[1] - to[1] });
  }

  function drag(node, x, y) {
    [node.x, node.y] = [x, y];
    place(node);
    node.edges.forEach(routeEdge);
  }

  function onUp(event) {
    if (!pointers.delete(event.pointerId) || pointers.size || !press) return;
    const { item, moved, offset } = press;
    press = null;
    svg.classList.remove("dragging");
    if (moved && offset) routeAll();
    else if (!moved && event.type === "pointerup") callbacks.select(item || null);
  }

  function onWheel(event) {
    event.preventDefault();
    cancelAnimationFrame(motion);
    const lines = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    const amount = Math.max(Math.min(event.deltaY * lines * (event.ctrlKey ? 4 : 1), 240), -240);
    show(zoomed(Math.exp(-amount * 0.0018), toGraph(event)));
  }

  // --- keyboard --------------------------------------------------------------------------------------------

  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  function nextNode(node, [dx, dy]) {
    let best = null, least = Infinity;
    for (const other of nodes) {
      const along = (other.x - node.x) * dx + (other.y - node.y) * dy;
      const aside = Math.abs((other.x - node.x) * dy - (other.y - node.y) * dx);
      if (other === node || along <= 0 || aside > 2 * along) continue;
      if (along + 2 * aside < least) [best, least] = [other, along + 2 * aside];
    }
    return best;
  }

  function nextEdge(edge, [dx, dy]) {
    const open = drawn.filter((other) => !other.hidden);
    return open[(open.indexOf(edge) + (dx + dy) + open.length) % open.length];
  }

  function focus(item) {
    rove(item);
    item.group.focus({ preventScroll: true });
    reveal(...middleOf(item));
  }

  const middleOf = (item) => (item.first ? [(item.first.x + item.second.x) / 2, (item.first.y + item.second.y) / 2] : [item.x, item.y]);

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const item = event.target.item, arrow = ARROWS[event.key];
    if (event.key === "+" || event.key === "=") glide(zoomed(1.3));
    else if (event.key === "-" || event.key === "_") glide(zoomed(1 / 1.3));
    else if (event.key === "0") glide(fitted());
    else if ((event.key === "Enter" || event.key === " ") && item) callbacks.select(item);
    else if (arrow && item) {
      const next = item.first ? nextEdge(item, arrow) : nextNode(item, arrow);
      if (next) focus(next);
    } else if (arrow) pan(arrow[0] * 0.12, arrow[1] * 0.12);
    else return;
    event.preventDefault();
  }

  // --- print -----------------------------------------------------------------------------------------------

  function printing(on) {
    if (on && !kept) {
      kept = view;
      show(bounds());
      svg.classList.remove("far");
    } else if (!on && kept) {
      show(kept);
      kept = null;
    }
  }

  // --- start -----------------------------------------------------------------------------------------------

  drawn.forEach(buildEdge);
  nodes.forEach(buildNode);
  routeAll();
  svg.append(edgeLayer, nodeLayer);
  if (nodes.length) rove(nodes[0]);
  if (drawn.length) rove(drawn[0]);
  const whole = bounds();
  svg.style.setProperty("--aspect", String(whole.w / whole.h));
  show(fitted());
  svg.addEventListener("pointerdown", onDown);
  svg.addEventListener("pointermove", onMove);
  svg.addEventListener("pointerup", onUp);
  svg.addEventListener("pointercancel", onUp);
  svg.addEventListener("wheel", onWheel, { passive: false });
  svg.addEventListener("keydown", onKey);
  svg.addEventListener("focusin", ({ target }) => {
    if (target.item && target.matches(":focus-visible")) reveal(...middleOf(target.item));
  });
  svg.addEventListener("click", (event) => {
    const group = event.detail === 0 && event.target.closest(".node, .edge"); // a screen reader's click
    if (group) callbacks.select(group.item);
  });
  matchMedia("print").addEventListener("change", (event) => printing(event.matches));
  addEventListener("beforeprint", () => printing(true));
  addEventListener("afterprint", () => printing(false));

  return {
    nodes, edges, byName, highlight, light, filter, focus,
    reveal: (item) => reveal(...middleOf(item)),
    fit: () => glide(fitted()),
    zoom: (factor) => glide(zoomed(factor)),
    resized: () => show(kept ? bounds() : view),
  };
};
