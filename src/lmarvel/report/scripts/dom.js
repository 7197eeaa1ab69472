"use strict";

// Elements are made one by one and texts are set as text: nothing in the data is ever read as markup.
const Dom = (() => {
  const SVG = "http://www.w3.org/2000/svg";

  // Arrows and small numbers hold hyphens, at which no line may break; nor may it between a number and what it is of.
  const WHOLE = /([<o-]-[>o-]|p = [^\s,;)]+|\d(?:\.\d+)?e-\d+|\d+ %)/, RUNNING = new Set(["p", "li", "span", "summary", "strong", "code", "td"]);

  function write(node, text) {
    const parts = RUNNING.has(node.localName) ? String(text).split(WHOLE) : [text];
    if (parts.length < 3) node.textContent = text;
    else node.append(...parts.map((part, k) => (k % 2 ? html("b", { class: "whole", text: part }) : part)));
  }

  function fill(node, attributes, children) {
    for (const [key, value] of Object.entries(attributes || {})) {
      if (key === "text") write(node, value);
      else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else if (value === true) node.setAttribute(key, "");
      else if (value !== false && value !== null && value !== undefined) node.setAttribute(key, String(value));
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  }

  const html = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
  const byId = (id) => document.getElementById(id);

  // A value of the report as a cell shows it.
  function shown(value) {
    if (value === null || value === undefined || value === "") return "–";
    if (typeof value === "boolean") return value ? "yes" : "no";
    if (typeof value !== "number") return Array.isArray(value) ? value.map(shown).join(", ") : String(value);
    if (Number.isInteger(value)) return Math.abs(value) < 1e15 ? value.toLocaleString("en") : String(value);
    const size = Math.abs(value);
    return size < 1e-3 || size >= 1e6 ? value.toExponential(2) : String(Number(value.toPrecision(4)));
  }

  // A name that may break after its inner marks, before inner capitals, and after many letters: many names hold no blank.
  function named(text) {
    const parts = String(text).split(/(?<=[_.\-/])|(?<=[a-z])(?=[A-Z])|(?<=[^\s_.\-/]{14})/u);
    return html("span", null, ...parts.flatMap((part, k) => (k ? [html("wbr"), part] : [part])));
  }

  // Whether an edge is hidden: its kind is, or fewer resamples have it than are wanted.
  const concealed = (hidden, edge) => hidden.has(edge.kind) || (typeof edge.share === "number" && edge.share < (hidden.least || 0));

  // A text as part of a class or the name of a file.
  const slug = (text) => String(text).normalize("NFKD").replace(/[^A-Za-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60).toLowerCase();

  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  // A meaning that begins with a name keeps it as it is spelled.
  function sentence(text, edge) {
    const begins = edge && [edge.a, edge.b].some((name) => (text || "").startsWith(name));
    return text && !begins ? text[0].toUpperCase() + text.slice(1) : text || "";
  }

  return { html, svg, byId, shown, named, concealed, slug, collator, sentence };
})();
