"use strict";

// Pointer, wheel and keyboard on the drawing. The wheel is the page's own until the drawing has the focus.
const Hands = (svg, view, graph, callbacks) => {
  const pointers = new Map();
  let press = null;

  function onDown(event) {
    if (event.button) return;
    view.stop();
    pointers.set(event.pointerId, [event.clientX, event.clientY]);
    if (pointers.size === 1) {
      const group = event.target.closest(".node, .edge");
      press = { item: group && group.item, x: event.clientX, y: event.clientY, moved: false, from: view.toGraph(event) };
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
    const [x, y] = view.toGraph(event);
    if (press.offset) graph.drag(press.item, x + press.offset[0], y + press.offset[1]);
    else view.shift(press.from[0] - x, press.from[1] - y);
    svg.classList.add("dragging");
    return undefined;
  }

  function pinch(before, after) {
    const span = (pair) => Geometry.distance(pair[0], pair[1]) || 1;
    const middle = (pair) => ({ clientX: (pair[0][0] + pair[1][0]) / 2, clientY: (pair[0][1] + pair[1][1]) / 2 });
    const from = view.toGraph(middle(before));
    view.show(view.zoomed(span(after) / span(before), from));
    const to = view.toGraph(middle(after));
    view.shift(from[0] - to[0], from[1] - to[1]);
  }

  function onUp(event) {
    if (!pointers.delete(event.pointerId) || pointers.size || !press) return;
    const { item, moved, offset } = press;
    press = null;
    svg.classList.remove("dragging");
    if (moved && offset) graph.dropped();
    else if (!moved && event.type === "pointerup") callbacks.select(item || null, "graph");
  }

  function onWheel(event) {
    if (!event.ctrlKey && !svg.contains(document.activeElement)) return; // the page scrolls
    event.preventDefault();
    view.stop();
    const lines = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    const amount = Math.max(Math.min(event.deltaY * lines * (event.ctrlKey ? 4 : 1), 240), -240);
    view.show(view.zoomed(Math.exp(-amount * 0.0018), view.toGraph(event)));
  }

  // --- keyboard --------------------------------------------------------------------------------------------

  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  function nextNode(node, [dx, dy]) {
    let best = null, least = Infinity;
    for (const other of graph.nodes) {
      const along = (other.x - node.x) * dx + (other.y - node.y) * dy;
      const aside = Math.abs((other.x - node.x) * dy - (other.y - node.y) * dx);
      if (other === node || along <= 0 || aside > 2 * along) continue;
      if (along + 2 * aside < least) [best, least] = [other, along + 2 * aside];
    }
    return best;
  }

  function nextEdge(edge, [dx, dy]) {
    const open = graph.drawn.filter((other) => !other.hidden);
    return open[(open.indexOf(edge) + (dx + dy) + open.length) % open.length];
  }

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const item = event.target.item, arrow = ARROWS[event.key];
    if (event.key === "+" || event.key === "=") view.glide(view.zoomed(1.3));
    else if (event.key === "-" || event.key === "_") view.glide(view.zoomed(1 / 1.3));
    else if (event.key === "0") view.glide(view.fitted());
    else if ((event.key === "Enter" || event.key === " ") && item) callbacks.select(item);
    else if (arrow && item) {
      const next = item.first ? nextEdge(item, arrow) : nextNode(item, arrow);
      if (next) graph.focus(next);
    } else if (arrow) view.pan(arrow[0] * 0.12, arrow[1] * 0.12);
    else return;
    event.preventDefault();
  }

  svg.addEventListener("pointerdown", onDown);
  svg.addEventListener("pointermove", onMove);
  svg.addEventListener("pointerup", onUp);
  svg.addEventListener("pointercancel", onUp);
  svg.addEventListener("wheel", onWheel, { passive: false });
  svg.addEventListener("keydown", onKey);
  svg.addEventListener("focusin", ({ target }) => {
    if (target.item && target.matches(":focus-visible")) graph.seek(target.item);
  });
  svg.addEventListener("click", (event) => {
    const group = event.detail === 0 && event.target.closest(".node, .edge"); // a screen reader's click
    if (group) callbacks.select(group.item);
  });
};
