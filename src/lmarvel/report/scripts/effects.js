"use strict";

// The question about two variables: whether there is an edge and why (not), and whether one affects the other. The answers
// stand in the data, or come from a program when they are asked for, and the graph shows what they are about.
const Effects = (place, page, graph, callbacks) => {
  const { html, named } = Dom;
  const told = page.effects, gaps = page.gaps;
  const answer = html("div", { class: "answer", "aria-live": "polite" });
  let lit = null, unpacked = null, turn = 0;

  // --- what the graph shows --------------------------------------------------------------------------------

  // Steps along which a node may affect the next: no arrowhead at its own end, no tail at the other.
  function steps(node) {
    return node.edges.filter((edge) => {
      const [near, far] = edge.first === node ? [edge.at_a, edge.at_b] : [edge.at_b, edge.at_a];
      return near !== ">" && far !== "-";
    }).map((edge) => [edge, edge.first === node ? edge.second : edge.first]);
  }

  // The edges of all ways on which x may affect y.
  function ways(x, y) {
    const reached = new Set(), into = new Map(), queue = [x];
    for (const node of queue) {
      for (const [edge, next] of steps(node)) {
        if (next === x) continue;
        if (!into.has(next)) into.set(next, []);
        into.get(next).push([edge, node]);
        if (!reached.has(next)) {
          reached.add(next);
          if (next !== y) queue.push(next);
        }
      }
    }
    const edges = new Set(), back = reached.has(y) ? [y] : [], seen = new Set(back);
    for (const node of back) {
      for (const [edge, before] of into.get(node) || []) {
        edges.add(edge);
        if (before !== x && !seen.has(before)) {
          seen.add(before);
          back.push(before);
        }
      }
    }
    return edges;
  }

  function along(path) {
    const nodes = path.map((k) => graph.nodes[k]);
    return nodes.slice(1).flatMap((node, k) => node.edges.filter((edge) => edge.first === nodes[k] || edge.second === nodes[k]));
  }

  // --- the answer ------------------------------------------------------------------------------------------

  const list = (items) => html("ul", { class: "facts" }, ...items.map((item) => html("li", null, ...[item].flat())));
  const choose = (node) => html("button", { type: "button", class: "link", onclick: () => callbacks.select(node, "effect") },
    named(node.name));

  function adjusting(found) {
    if (!found.adjust) return [];
    const nodes = found.adjust.map((k) => graph.nodes[k]);
    return [html("h3", { text: "Adjust for" }),
      nodes.length ? list(nodes.map(choose)) : html("p", { text: "Nothing: no other path is open." })];
  }

  function blocking(found) {
    const paths = (found.paths || []).filter(([k]) => k !== null);
    if (!paths.length) return [];
    const line = ([k, , text]) => ["Without ", named(graph.nodes[k].name), " this path is open: ", html("code", { text })];
    return [html("h3", { text: "Why" }), list(paths.map(line))];
  }

  function numbers(found) {
    if (!found.numbers) return [];
    const line = ([contrast, value, error, method]) => `${contrast}: ${value}, standard error ${error} (${method})`;
    const again = found.again ? [html("p", { class: "again", text: found.again })] : [];
    return [list(found.numbers.map(line)), ...again, ...(found.forest || []).map(Forest.plot)];
  }

  function fragility(found) {
    return found.fragile ? [html("h3", { text: "How fragile is it?" }), list(found.fragile)] : [];
  }

  function key(found, edges) {
    const lines = [];
    if ([...edges.way].some((edge) => !edges.stray.has(edge))) lines.push(["way", "paths along which the first may affect the second"]);
    if (edges.stray.size) lines.push(["stray", found.adjust ? "paths that the adjustment blocks" : "the path that prevents an answer"]);
    if (edges.adjusted.size) lines.push(["adjusted", "variables to adjust for"]);
    if (!lines.length) return null;
    const swatch = (name) => html("span", { class: `swatch ${name}`, "aria-hidden": "true" });
    return html("ul", { class: "key" }, ...lines.map(([name, text]) => html("li", null, swatch(name), text)));
  }

  // Whether one affects the other, and what of the graph that is about.
  function affecting(x, y, asked) {
    const found = asked || told.pairs[`${x.index},${y.index}`] || { status: "none", badge: told.badge, reliable: told.badge === "No effect" };
    const fill = (text) => text.split(/(\{x\}|\{y\})/).map((part) => ({ "{x}": x.name, "{y}": y.name })[part] ?? part).join("");
    const stray = new Set((found.paths || []).flatMap(([, path]) => along(path)));
    const adjusted = new Set((found.adjust || []).map((k) => graph.nodes[k]));
    const edges = { x, y, way: ways(x, y), stray, adjusted };
    const plain = found.reliable && found.status !== "not identified";
    return { edges, words: found.badge, parts: [
      html("p", null, html("span", { class: `badge ${plain ? "plain" : ""}`, text: found.badge })),
      html("p", { class: "meaning", text: found.sentence || fill(told.none) }),
      ...numbers(found),
      ...fragility(found),
      ...(found.notes || []).map((text) => html("p", { text })),
      found.formula ? html("p", { class: "code", text: found.formula }) : null,
      ...adjusting(found),
      ...blocking(found),
      key(found, edges),
      ...(callbacks.more ? callbacks.more(found) : []),
      html("p", { class: "note", text: asked ? found.rests_on : told.rests_on[found.rests_on ?? 0] }),
    ] };
  }

  // --- whether there is an edge, and why not ---------------------------------------------------------------

  // The answer for a pair without an edge; it is compressed, so it comes a little later.
  function absence(x, y) {
    const place = html("div", { class: "absence" });
    if (!gaps || gaps.why) place.append(html("p", { text: gaps ? gaps.why : "" }));
    else {
      unpacked = unpacked || Carried.text(gaps.packed).then(JSON.parse);
      unpacked.then(({ texts, pairs }) => {
        const [i, j] = x.index < y.index ? [x, y] : [y, x];
        const [meaning, reason, whole, ...firmness] = pairs[`${i.index},${j.index}`];
        const why = whole ? texts[reason] : `${i.name} and ${j.name}${texts[reason]}`;
        place.append(html("p", { class: "meaning", text: Dom.sentence(texts[meaning]) }), html("p", { text: `${why}.` }),
          ...(firmness.length ? [list(firmness)] : []));
      }).catch(() => place.append(html("p", { text: "This browser cannot unpack the answer: 'lmarvel explain' gives it." })));
    }
    return place;
  }

  function adjacency(x, y) {
    const edge = graph.edgeOf(x, y);
    if (!edge) return [html("p", null, html("span", { class: "badge plain", text: "No edge" })), absence(x, y)];
    return [html("p", null, html("span", { class: "badge plain", text: "Edge" }), " ", html("button", { type: "button", class: "link",
      onclick: () => callbacks.select(edge, "effect"), "aria-label": `Explain ${edge.text}` }, named(edge.text))),
    html("p", { class: "meaning", text: Dom.sentence(edge.meaning, edge) })];
  }

  function show(x, y, asked) {
    const effect = asked || (told && !told.why) ? affecting(x, y, asked) : null, edge = graph.edgeOf(x, y);
    const shown = effect ? effect.edges : { x, y, way: callbacks.answer ? ways(x, y) : new Set(edge ? [edge] : []), stray: new Set(), adjusted: new Set() };
    const words = effect ? `Effect of ${x.name} on ${y.name}: ${effect.words.toLowerCase()}` : `Asked about ${x.name} and ${y.name}`;
    callbacks.light(shown, words);
    lit = shown;
    const waiting = [html("p", { class: "note waiting", text: "Working on it …" })];
    answer.replaceChildren(...[
      html("h3", { text: "Is there an edge?" }), ...adjacency(x, y),
      told || callbacks.answer ? html("h3", { text: "Does the first affect the second?" }) : null,
      ...(effect ? effect.parts : callbacks.answer ? waiting : told ? [html("p", { text: told.why })] : []),
    ].filter(Boolean));
  }

  // Ask the program behind the page; what was asked for since is shown instead.
  async function enquire(x, y) {
    show(x, y);
    turn += 1;
    const mine = turn;
    try {
      const found = await callbacks.answer(x.name, y.name);
      if (mine === turn && lit) show(x, y, found);
    } catch (error) {
      if (mine === turn && lit) answer.append(html("p", { class: "trouble", text: error.message }));
    } finally {
      for (const line of answer.querySelectorAll(".waiting")) if (mine === turn) line.remove();
    }
  }

  // --- the question ----------------------------------------------------------------------------------------

  // Something else is shown in the graph: the answer makes room for it, and can be asked for again.
  function rest(text) {
    lit = null;
    turn += 1;
    answer.replaceChildren(html("p", { class: "note", text: text || "Choose two variables, adjacent or not." }));
    answer.firstChild.hidden = !text && !again.disabled;
  }

  function chooser(id, label) {
    const sorted = [...graph.nodes].sort((p, q) => Dom.collator.compare(p.name, q.name));
    const options = sorted.map((node) => html("option", { value: node.index, text: node.name }));
    const select = html("select", { id, onchange: callbacks.answer ? ready : ask }, html("option", { value: "", text: "Choose" }), ...options);
    return [html("label", { for: id, text: label }), select];
  }

  const pair = () => [cause, outcome].map((select) => (select.value === "" ? null : graph.nodes[Number(select.value)]));

  // An answer that takes a while is asked for by the button only.
  function ready() {
    const [x, y] = pair();
    again.disabled = !x || !y || x === y;
    if (lit) callbacks.light(null);
    rest(x && x === y ? "Choose two different variables." : undefined);
  }

  function ask() {
    const [x, y] = pair();
    again.disabled = !x || !y || x === y;
    if (x && y && x !== y) return callbacks.answer ? enquire(x, y) : show(x, y);
    if (lit) callbacks.light(null);
    return rest(x && x === y ? "Choose two different variables." : undefined);
  }

  function swap() {
    [cause.value, outcome.value] = [outcome.value, cause.value];
    (callbacks.answer ? ready : ask)();
  }

  // Begin a question with a variable.
  function start(node) {
    cause.value = String(node.index);
    if (callbacks.asking) callbacks.asking();
    (callbacks.answer ? ready : ask)();
    place.scrollIntoView({ block: "nearest" });
    outcome.focus();
  }

  place.hidden = (!told && !gaps && !callbacks.answer) || graph.nodes.length < 2;
  if (place.hidden) return { rest: () => {}, again: () => {}, start: null };
  const body = place.querySelector(".body");
  const [causeLabel, cause] = chooser("cause", "First"), [outcomeLabel, outcome] = chooser("outcome", "Second");
  const swapping = html("button", { type: "button", id: "swap", text: "Swap", onclick: swap });
  const again = html("button", { type: "button", id: "answer", text: "Answer", disabled: true, onclick: ask });
  const notes = told && !told.why ? told.notes || [] : [];
  body.append(html("div", { class: "question screen" }, causeLabel, cause, outcomeLabel, outcome,
    html("div", { class: "buttons" }, swapping, again)), answer, ...notes.map((text) => html("p", { class: "note", text })));
  rest();
  return { rest: () => lit && rest(), again: () => lit && ask(), start };
};
