"use strict";

// Files from the page: the picture as SVG or PNG, the edges as CSV, the result as JSON. Nothing leaves the computer.
const Save = (page, graph, svg) => {
  const LOOK = ["opacity", "fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "paint-order", "font-size", "font-weight", "text-anchor"];
  const SHARPNESS = 2, MOST_PIXELS = 12000;

  const name = (ending) => `${Dom.slug(page.title) || "graph"}.${ending}`;

  function hand(blob, ending) {
    const link = Dom.html("a", { href: URL.createObjectURL(blob), download: name(ending) });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  // --- picture ---------------------------------------------------------------------------------------------

  // Characters that no XML file can hold.
  const legal = (text) => text.replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD");

  function copied(element) {
    const look = getComputedStyle(element), tag = element.localName;
    if (look.display === "none" || element.classList.contains("hit") || element.classList.contains("band")) return null;
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const key of ["d", "x", "y", "cx", "cy", "r", "rx", "width", "height", "dx", "dy", "transform", "textLength", "lengthAdjust"]) {
      if (element.hasAttribute(key)) made.setAttribute(key, element.getAttribute(key));
    }
    if (tag !== "g" && tag !== "title") for (const key of LOOK) made.setAttribute(key, look.getPropertyValue(key));
    for (const child of element.childNodes) {
      const copy = child.nodeType === Node.TEXT_NODE ? document.createTextNode(legal(child.data)) : copied(child);
      if (copy) made.append(copy);
    }
    return made;
  }

  // The caption below the picture, which gets room for it.
  function captioned(box) {
    const place = Dom.byId("caption"), text = place && place.offsetParent ? place.textContent : "";
    if (!text) return [];
    const pen = document.createElement("canvas").getContext("2d"), { fontFamily, color } = getComputedStyle(place);
    pen.font = `12px ${fontFamily}`;
    const missing = Math.max(pen.measureText(text).width + 40 - box.w, 0);
    Object.assign(box, { x: box.x - missing / 2, w: box.w + missing, h: box.h + 18 });
    return [Dom.svg("text", { x: (box.x + 20).toFixed(1), y: (box.y + box.h - 14).toFixed(1), "font-size": 12, fill: color, text })];
  }

  function picture() {
    return graph.whole((box) => {
      const made = document.createElementNS("http://www.w3.org/2000/svg", "svg"), caption = captioned(box);
      const at = [box.x, box.y, box.w, box.h].map((value) => value.toFixed(1));
      const attributes = { width: at[2], height: at[3], viewBox: at.join(" "), "font-family": getComputedStyle(svg).fontFamily };
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
      const ground = { x: at[0], y: at[1], width: at[2], height: at[3], fill: getComputedStyle(svg.closest(".card")).backgroundColor };
      made.append(Dom.svg("rect", ground), ...[...svg.children].map(copied).filter(Boolean), ...caption);
      return { text: new XMLSerializer().serializeToString(made), w: box.w, h: box.h };
    });
  }

  function saveSvg() {
    hand(new Blob([picture().text], { type: "image/svg+xml" }), "svg");
  }

  function savePng() {
    const { text, w, h } = picture(), image = new Image();
    const sharp = Math.min(SHARPNESS, MOST_PIXELS / Math.max(w, h));
    image.onload = () => {
      const canvas = Dom.html("canvas", { width: Math.round(w * sharp), height: Math.round(h * sharp) });
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => hand(blob, "png"), "image/png");
    };
    const bytes = new TextEncoder().encode(text);
    image.src = `data:image/svg+xml;base64,${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))}`;
  }

  // --- tables and data -------------------------------------------------------------------------------------

  const COLUMNS = [
    ["from", (e) => e.a],
    ["to", (e) => e.b],
    ["edge", (e) => e.text.slice(e.a.length + 1, e.text.length - e.b.length - 1)],
    ["meaning", (e) => e.meaning],
    ["grade_from", (e) => Marks.grade(e, "a")],
    ["grade_to", (e) => Marks.grade(e, "b")],
    ["partial_correlation", (e) => e.association && e.association.value],
    ["largest_p", (e) => e.strength],
    ["share_of_resamples", (e) => e.share],
    ["score_loss", (e) => e.loss],
    ["signs", (e) => (e.signs || []).map((sign) => sign.badge).join("; ")],
  ];
  const given = (value) => value !== null && value !== undefined && value !== "";
  const field = (value) => (given(value) ? `"${String(value).replaceAll('"', '""')}"` : "");

  function saveCsv() {
    const columns = COLUMNS.filter(([, of], k) => k < 4 || graph.edges.some((edge) => given(of(edge))));
    const lines = [columns.map(([head]) => head), ...graph.edges.map((edge) => columns.map(([, of]) => field(of(edge))))];
    hand(new Blob([`${lines.map((line) => line.join(",")).join("\r\n")}\r\n`], { type: "text/csv" }), "csv");
  }

  async function saveJson() {
    hand(new Blob([await Carried.text(page.result.packed)], { type: "application/json" }), "json");
  }

  for (const [id, work] of [["save-svg", saveSvg], ["save-png", savePng], ["save-csv", saveCsv], ["save-json", saveJson]]) {
    Dom.byId(id).addEventListener("click", work);
  }
  const result = page.result || {};
  Dom.byId("save-json").disabled = !result.packed;
  if (result.why) Dom.byId("save-json").title = result.why;
};

// What the page carries compressed.
const Carried = {
  async text(packed) {
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).text();
  },
};
