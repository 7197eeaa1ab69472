"use strict";

// Edges are quadratic curves between the borders of boxes. Those of the data are drawn as they are; an edge of a box that
// a person drags is bent around boxes in its way.
const Geometry = (() => {
  const AIR = 1.2, ROUND = 7, CROWD = 12, CLEARANCE = 7, RADIUS = 4.6, HEAD = 12, HEAD_WIDTH = 5.2, STROKE = 1.8;
  const TAIL_LENGTH = 11, TAIL_WIDTH = 3.2, OUTLINE = 1.5; // of marks that are not established
  const THROUGH = 20, FURTHEST = 260, STEPS = 32;
  const BENDS = [0];
  for (const size of [0.05, 0.1, 0.15, 0.2, 0.26, 0.33, 0.42, 0.52, 0.65]) BENDS.push(size, -size);

  const distance = (p, q) => Math.hypot(p[0] - q[0], p[1] - q[1]);

  function at(curve, t) {
    const s = 1 - t, [p, c, q] = curve;
    return [s * s * p[0] + 2 * s * t * c[0] + t * t * q[0], s * s * p[1] + 2 * s * t * c[1] + t * t * q[1]];
  }

  function part(curve, from, to) {
    const [p, c, q] = curve, s0 = 1 - from, s1 = 1 - to;
    const mix = (k) => s0 * s1 * p[k] + (s0 * to + from * s1) * c[k] + from * to * q[k];
    return [at(curve, from), [mix(0), mix(1)], at(curve, to)];
  }

  const reversed = (curve) => [curve[2], curve[1], curve[0]];

  // The last parameter, found by halving, at which a test still holds that holds at 0.
  function last(test, rounds) {
    let low = 0, high = 1;
    for (let k = 0; k < rounds; k += 1) {
      const t = (low + high) / 2;
      if (test(t)) low = t;
      else high = t;
    }
    return low;
  }

  function leaving(curve, box) {
    return last((t) => {
      const [x, y] = at(curve, t);
      const over = Math.max(Math.abs(x - box.x) - box.w / 2 + ROUND, 0);
      const above = Math.max(Math.abs(y - box.y) - box.h / 2 + ROUND, 0);
      return Math.hypot(over, above) - ROUND <= AIR;
    }, 22);
  }

  function clipped(curve, first, second) {
    const start = leaving(curve, first), end = 1 - leaving(reversed(curve), second);
    return start < end ? part(curve, start, end) : part(curve, 0.49, 0.51);
  }

  // What it costs to draw a curve across these boxes.
  function obstruction(curve, boxes) {
    if (!boxes.length) return 0;
    const nearest = new Float64Array(boxes.length).fill(Infinity);
    for (let k = 0; k <= STEPS; k += 1) {
      const [x, y] = at(curve, k / STEPS);
      for (let i = 0; i < boxes.length; i += 1) {
        const box = boxes[i];
        const gap = Math.max(Math.abs(x - box.x) - box.w / 2, Math.abs(y - box.y) - box.h / 2);
        if (gap < nearest[i]) nearest[i] = gap;
      }
    }
    let cost = 0;
    for (const gap of nearest) cost += gap < 2 ? THROUGH : gap < CLEARANCE ? 0.6 : 0;
    return cost;
  }

  function route(first, second, boxes, taken) {
    const a = [first.x, first.y], b = [second.x, second.y];
    const across = [a[1] - b[1], b[0] - a[0]], length = Math.max(Math.hypot(...across), 1);
    const reach = Math.min(0.65 * length, FURTHEST) + CLEARANCE;
    const near = boxes.filter((box) => box !== first && box !== second
      && box.x + box.w / 2 > Math.min(a[0], b[0]) - reach && box.x - box.w / 2 < Math.max(a[0], b[0]) + reach
      && box.y + box.h / 2 > Math.min(a[1], b[1]) - reach && box.y - box.h / 2 < Math.max(a[1], b[1]) + reach);
    let best = null, least = Infinity;
    for (const bend of BENDS) {
      let cost = 2 * Math.abs(bend);
      if (cost >= least || Math.abs(bend) * length > FURTHEST) break;
      const control = [(a[0] + b[0]) / 2 + 2 * bend * across[0], (a[1] + b[1]) / 2 + 2 * bend * across[1]];
      cost += obstruction([a, control, b], near);
      if (cost >= least) continue;
      const piece = clipped([a, control, b], first, second);
      for (const other of taken) {
        cost += 0.45 * ((distance(piece[0], other) < CROWD) + (distance(piece[2], other) < CROWD));
      }
      if (cost < least) [best, least] = [piece, cost];
    }
    return best;
  }

  function shortened(curve, length) {
    return part(curve, 0, Math.max(last((t) => distance(at(curve, t), curve[2]) > length, 24), 0.02));
  }

  // The shape of the mark at the end of a curve, and the curve without the part under it.
  function mark(sign, hollow, curve) {
    if (sign === "-" && !hollow) return [null, curve];
    const rest = shortened(curve, sign === "o" ? 2 * RADIUS + STROKE / 2 : sign === "-" ? TAIL_LENGTH : HEAD);
    const [x, y] = hollow ? shortened(curve, OUTLINE)[2] : curve[2], [u, v] = rest[2];
    if (sign === "o") return [{ circle: [(x + u) / 2, (y + v) / 2] }, rest];
    const size = Math.hypot(x - u, y - v) || 1, half = sign === "-" ? TAIL_WIDTH : HEAD_WIDTH;
    const dx = ((v - y) / size) * half, dy = ((x - u) / size) * half, base = [[u + dx, v + dy], [u - dx, v - dy]];
    const tip = sign === "-" ? [[x - dx, y - dy], [x + dx, y + dy]] : [[x, y]];
    return [{ name: `${sign === "-" ? "tail" : "arrow"}${hollow ? " hollow" : ""}`, corners: [...tip, ...base] }, rest];
  }

  const point = (p) => `${p[0].toFixed(1)} ${p[1].toFixed(1)}`;
  const path = (curve) => `M${point(curve[0])}Q${point(curve[1])} ${point(curve[2])}`;

  // All shapes of an edge along a curve; look has the marks that are shown, and which of them are hollow.
  function shapes(look, curve) {
    const [second, front] = mark(look.b, look.hollowB, curve);
    const [first, back] = mark(look.a, look.hollowA, reversed(front));
    return { line: path(reversed(back)), hit: path(curve), first, second };
  }

  function family(atA, atB) {
    if (atA === "o" || atB === "o") return "partial";
    if (atA === atB) return atA === ">" ? "bidirected" : "undirected";
    return "directed";
  }

  function draw(group, look, curve) {
    const found = shapes(look, curve);
    const parts = [Dom.svg("path", { class: "hit", d: found.hit }), Dom.svg("path", { class: "band", d: found.hit }),
      Dom.svg("path", { class: "line", d: found.line })];
    if (family(look.a, look.b) === "undirected") parts.push(Dom.svg("path", { class: "between", d: found.line }));
    [[found.first, "at-a"], [found.second, "at-b"]].forEach(([shape, where]) => {
      if (shape && shape.circle) {
        const [cx, cy] = shape.circle;
        parts.push(Dom.svg("circle", { class: `mark circle ${where}`, cx: cx.toFixed(1), cy: cy.toFixed(1), r: RADIUS }));
      } else if (shape) {
        parts.push(Dom.svg("path", { class: `mark ${shape.name} ${where}`, d: `M${shape.corners.map(point).join("L")}Z` }));
      }
    });
    group.replaceChildren(...parts);
  }

  // A short edge for legends and tables, of a look or of a kind written as in "o->"; a sign may stand on it.
  function sample(kind, sign) {
    const look = typeof kind === "string" ? { a: kind[0] === "<" ? ">" : kind[0], b: kind[2] } : kind;
    const group = Dom.svg("g", { class: `edge ${family(look.a, look.b)}${sign ? ` ${Dom.slug(sign.badge)}` : ""}` });
    draw(group, look, [[2, 8], [29, 8], [56, 8]]);
    if (sign) group.append(Dom.svg("text", { class: "chip", x: 26, y: 8, dy: "0.35em" }, Dom.svg("tspan", { class: "signs", text: sign.sign })));
    return Dom.svg("svg", { class: "sample", viewBox: "0 0 58 16", width: 58, height: 16, "aria-hidden": "true" }, group);
  }

  return { route, draw, family, sample, distance, at };
})();
