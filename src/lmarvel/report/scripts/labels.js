"use strict";

// Names on boxes. From afar only those are shown that can be read without touching another name or box; the others
// appear as one comes nearer.
const Labels = (svg, nodes, frame) => {
  const SIZE = 14, ROW = 16, LEAST = 11.5; // of letters in the drawing, and on the screen
  const CROWDED = 3; // from so far that letters must grow more than this, names may take the place of small boxes of others
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `${SIZE}px system-ui, 'Segoe UI', Helvetica, Arial, 'Liberation Sans', sans-serif`;
  let shownAt = null, chosen = new Set();

  function text(node) {
    const rows = (node.rows && node.rows.length ? node.rows : [node.name]).map((row) => row.trim() || "␣");
    node.reach = Math.max(...rows.map((row) => pen.measureText(row).width));
    node.lines = rows.length;
    const first = 0.35 - (ROW / SIZE) * ((rows.length - 1) / 2);
    const room = node.w - 6;
    return Dom.svg("text", null, ...rows.map((row, k) => Dom.svg("tspan", { x: 0, dy: `${k ? ROW / SIZE : first}em`, text: row,
      ...(pen.measureText(row).width > room ? { textLength: room.toFixed(1), lengthAdjust: "spacingAndGlyphs" } : {}) })));
  }

  const order = (p, q) => chosen.has(q) - chosen.has(p) || q.edges.length - p.edges.length || p.index - q.index;
  const apart = (p, q) => Math.abs(p.x - q.x) >= p.w + q.w || Math.abs(p.y - q.y) >= p.h + q.h;

  // How much larger than in the drawing letters must be to be read at a scale.
  const growth = (scale) => Math.max(1, LEAST / (SIZE * scale));

  function choose(grown) {
    const kept = [], { x: left, w: wide } = frame(), boxes = nodes.map((node) => ({ node, x: node.x, y: node.y, w: node.w / 2, h: node.h / 2 }));
    for (const node of [...nodes].sort(order)) {
      const label = { x: node.x, y: node.y, w: (Math.min(node.reach, node.w) * grown) / 2 + 5, h: (node.lines * ROW * grown) / 2 + 2 };
      const inside = label.x - label.w >= left && label.x + label.w <= left + wide;
      const free = (inside || chosen.has(node)) && kept.every((other) => apart(label, other))
        && (chosen.has(node) || grown > CROWDED || boxes.every((box) => box.node === node || apart(label, box)));
      if (free) kept.push(label);
      node.group.classList.toggle("mute", !free);
      resize(node, free ? Math.max(label.w * 2, node.h) : node.w, free ? label.h * 2 : node.h);
    }
    for (const box of boxes) {
      const under = box.node.group.classList.contains("mute") && kept.some((label) => !apart(label, box));
      box.node.group.classList.toggle("under", under);
    }
  }

  // From afar the box of a name that is shown is as large as the name.
  function resize(node, w, h) {
    for (const [key, value] of Object.entries({ x: -w / 2, y: -h / 2, width: w, height: h })) node.box.setAttribute(key, value.toFixed(1));
  }

  function plain(node) {
    node.group.classList.remove("mute", "under");
    resize(node, node.w, node.h);
  }

  // Show the names that can be read at a scale; some nodes come before all others.
  function update(scale, some = chosen) {
    const grown = growth(scale), same = some === chosen && shownAt !== null && Math.abs(grown / shownAt - 1) < 0.02;
    if (same && (grown === 1) === (shownAt === 1)) return;
    [shownAt, chosen] = [grown, some];
    svg.style.setProperty("--grown", grown.toFixed(3));
    svg.classList.toggle("far", grown > 1.25);
    if (grown === 1) nodes.forEach(plain);
    else choose(grown);
  }

  // After a node was moved, what can be read may be other names.
  function moved(scale) {
    shownAt = null;
    update(scale);
  }

  return { text, update, moved };
};
