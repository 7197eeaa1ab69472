// Step 6: files to take away, for every step the command and the Python that do the same, and the log of decisions.
import { api, on, state } from "./state.js";
import { button, refill, speak, tried } from "./ui.js";
import { asked, current } from "./graph.js";

const { html, byId } = Dom;
const FILES = [["report", "Report", "one HTML file with the graph, its explanations and effects; opens anywhere"],
  ["result", "Result file", "everything that was found, as JSON, for lmarvel"],
  ["drawing", "Drawing, SVG", "sharp at any size"], ["picture", "Drawing, PNG", "in pixels"],
  ["edges", "Edges, text", "one edge per line"], ["dot", "Graphviz", "DOT"], ["dagitty", "DAGitty", "for dagitty.net and R"]];

function files(number) {
  const line = ([kind, name, about]) => html("li", null, html("a", { href: `/api/runs/${number}/files/${kind}`, download: "", class: "button small", text: name }), html("span", { class: "note", text: about }));
  return html("div", { class: "card" }, html("h3", { text: `Files of run ${number}` }), html("ul", { class: "files" }, ...FILES.map(line)));
}

function code(text, what) {
  const copy = button("Copy", async () => {
    await navigator.clipboard.writeText(text);
    speak(`${what} copied`);
  }, { class: "button small", "aria-label": `Copy ${what}` });
  return html("div", { class: "code-box" }, html("pre", { tabindex: "0", role: "region", "aria-label": what }, html("code", { text })), copy);
}

function recipe({ step, command, python }) {
  return html("details", null, html("summary", { text: step }), code(command, `command of: ${step}`), code(python, `Python of: ${step}`));
}

async function draw() {
  const number = current(), pair = asked.pair;
  const query = new URLSearchParams({ ...(number === null ? {} : { run: number }), ...(pair && number !== null ? { x: pair[0], y: pair[1] } : {}) });
  const steps = await api("GET", `/api/recipes?${query}`);
  state.all.log = (await api("GET", "/api/state")).log;
  refill(byId("take-body"),
    number === null ? html("p", { class: "card", text: "No run yet: files come with the first one." }) : files(number),
    html("div", { class: "card recipes" }, html("h3", { text: "The same without the app" }),
      html("p", { class: "note" }, "Run these in the folder of the project: ", html("code", { text: state.all.project.folder })),
      ...steps.map(recipe)),
    html("div", { class: "card" }, html("h3", { text: "Decisions" }),
      html("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": "Log of decisions" },
        html("ol", { class: "log" }, ...state.all.log.map((text) => html("li", { text }))))));
}

export const show = tried(draw);

export function begin() {
  on("ended", () => state.step === "take" && show());
}
