// Small parts that the steps share. Elements and texts are made by the report's own Dom: texts are text, never markup.
const { html, byId } = Dom;

// Say something to those who do not see the page.
export function speak(text) {
  byId("spoken").textContent = text;
}

// Show a message until it is closed, or another one takes its place.
export function message(text, kind = "trouble") {
  const close = html("button", { type: "button", class: "quiet", text: "Close", onclick: () => byId("messages").replaceChildren() });
  byId("messages").replaceChildren(html("div", { class: `message ${kind}` }, html("p", { text }), close));
}

export const quiet = () => byId("messages").replaceChildren();

// A function that shows what went wrong in it.
export const tried = (work) => async (...given) => {
  try {
    return await work(...given);
  } catch (error) {
    message(error.message);
    return undefined;
  }
};

export const button = (text, work, more = {}) => html("button", { type: "button", class: "button", text, onclick: tried(work), ...more });

export const option = (value, text = value, selected = false) => html("option", { value, text, selected });

export function choice(label, id, values, chosen, onchange) {
  const select = html("select", { id, onchange: tried(() => onchange(select.value)) },
    ...values.map(([value, text]) => option(value, text, value === chosen)));
  return html("div", { class: "field" }, html("label", { for: id, text: label }), select);
}

export const counted = (number, word, words = `${word}s`) => `${number.toLocaleString("en")} ${number === 1 ? word : words}`;

// A number of seconds as a person says it.
export function duration(seconds) {
  if (seconds < 1) return "under a second";
  if (seconds < 90) return counted(Math.round(seconds), "second");
  return seconds < 5400 ? counted(Math.round(seconds / 60), "minute") : counted(Math.round(seconds / 3600), "hour");
}

// Call a function when nothing happened for a while.
export function later(work, wait = 300) {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...given), wait);
  };
}

// Put new content into a place, and the focus back where it was, by the id of what had it.
export function refill(place, ...content) {
  const focused = place.contains(document.activeElement) ? document.activeElement.id : "";
  place.replaceChildren(...content.filter(Boolean));
  if (focused && byId(focused)) byId(focused).focus({ preventScroll: true });
}
