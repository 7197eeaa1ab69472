"use strict";

// What part of the drawing is seen, and how near: zoom, pan, glide, and what fits.
const View = (svg, bounds, onShow) => {
  const MARGIN = 30, CLOSEST = 3, LARGEST = 1.35;
  let view = { x: 0, y: 0, w: 100, h: 100 }, motion = 0;

  const width = () => svg.clientWidth || 800, height = () => svg.clientHeight || 500;
  const scaleOf = (box) => Math.min(width() / box.w, height() / box.h);
  const scale = () => scaleOf(view);

  function show(next) {
    view = next;
    svg.setAttribute("viewBox", [view.x, view.y, view.w, view.h].map((value) => value.toFixed(2)).join(" "));
    onShow(scale());
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

  function around(some) {
    const [left, right] = [Math.min(...some.map((b) => b.x - b.w / 2)), Math.max(...some.map((b) => b.x + b.w / 2))];
    const [top, bottom] = [Math.min(...some.map((b) => b.y - b.h / 2)), Math.max(...some.map((b) => b.y + b.h / 2))];
    return { x: left - MARGIN, y: top - MARGIN, w: right - left + 2 * MARGIN, h: bottom - top + 2 * MARGIN };
  }

  // The view that shows a box in the middle, no nearer than this scale.
  function fitting(box, nearest = LARGEST) {
    const w = Math.max(box.w, width() / nearest), h = Math.max(box.h, height() / nearest);
    return { x: box.x - (w - box.w) / 2, y: box.y - (h - box.h) / 2, w, h };
  }

  // Names grow as the view recedes, so what fits from afar gets a margin on the screen.
  function fitted(some) {
    const box = some ? around(some) : bounds(), far = 1 / scaleOf(box) - 1;
    const [x, y] = far > 0 ? [Math.min(far * 26, box.w * 0.08), Math.min(far * 8, box.h * 0.03)] : [0, 0];
    return fitting({ x: box.x - x, y: box.y - y, w: box.w + 2 * x, h: box.h + 2 * y });
  }

  // The view with a place in the middle, at a scale.
  const centred = ([x, y], at) => ({ x: x - width() / at / 2, y: y - height() / at / 2, w: width() / at, h: height() / at });

  // All of some boxes, if they can then be read; else the place that matters, so near that it can.
  function readable(some, middle, least) {
    const whole = fitted(some);
    return scaleOf(whole) >= least ? whole : centred(middle, least);
  }

  function zoomed(factor, centre) {
    const now = scale(), least = Math.min(scaleOf(fitted()) / 2, now);
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

  const inside = (value, low, size, edge) => value > low + size * edge && value < low + size * (1 - edge);
  const sees = (x, y, edge = 0) => inside(x, view.x, view.w, edge) && inside(y, view.y, view.h, edge);
  const pan = (dx, dy) => show({ ...view, x: view.x + dx * view.w, y: view.y + dy * view.h });
  const shift = (dx, dy) => show({ ...view, x: view.x + dx, y: view.y + dy });
  const stop = () => cancelAnimationFrame(motion);

  return { show, glide, fitted, readable, centred, zoomed, toGraph, sees, pan, shift, stop, scale, now: () => view };
};
