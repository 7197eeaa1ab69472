// The frame: steps by the part of the address behind #, and what all of them need.
import { api, describe, listen, reload, state, on } from "./state.js";
import { button, message, speak, tried } from "./ui.js";
import * as table from "./table.js";
import * as know from "./know.js";
import * as learn from "./learn.js";
import * as graph from "./graph.js";
import * as take from "./take.js";

const { byId } = Dom;
const STEPS = ["table", "know", "learn", "graph", "ask", "take"];
const PLACES = { table: "step-table", know: "step-know", learn: "step-learn", graph: "step-result", ask: "step-result", take: "step-take" };
const SHOWN = { graph: () => graph.show("graph"), ask: () => graph.show("ask"), take: take.show, know: know.show, learn: learn.show };

export function go(step, focus = true) {
  state.step = STEPS.includes(step) ? step : "table";
  for (const place of document.querySelectorAll(".step")) place.hidden = place.id !== PLACES[state.step];
  for (const link of document.querySelectorAll("#steps a")) {
    if (link.hash === `#${state.step}`) link.setAttribute("aria-current", "step");
    else link.removeAttribute("aria-current");
  }
  if (location.hash !== `#${state.step}`) history.pushState(null, "", `#${state.step}`);
  document.title = `${document.querySelector(`#steps a[href="#${state.step}"]`).textContent} – ${state.all.project.name} – lmarvel`;
  (SHOWN[state.step] || (() => {}))();
  if (focus) {
    scrollTo(0, 0);
    byId("work").focus({ preventScroll: true });
  }
}

function head() {
  byId("project-name").textContent = state.all.table ? `${state.all.project.name}: ${state.all.table.name}` : state.all.project.name;
  byId("project-name").title = state.all.project.folder;
  byId("app-footer").textContent = `lmarvel ${state.all.version}. Nothing leaves this computer. Project folder: ${state.all.project.folder}`;
}

async function stop() {
  await api("POST", "/api/stop");
  state.ended = true;
  message("The app was stopped. Everything is saved. Close this window.", "notice");
}

addEventListener("hashchange", () => {
  if (STEPS.includes(location.hash.slice(1))) go(location.hash.slice(1));
});
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  byId("work").focus();
});
byId("stop").addEventListener("click", tried(stop));
on("state", head);
on("ended", (event) => {
  reload().then(() => {
    if (event.run === null) {
      if (event.error) message(event.error);
      speak(event.cancelled ? "The run was cancelled" : "The run failed");
      return;
    }
    graph.choose(event.run);
    speak(`Run ${event.run} is done`);
    if (state.step === "learn") go("graph");
  });
});

const parts = { go };
for (const step of [table, know, learn, graph, take]) step.begin(parts);
tried(async () => {
  await reload();
  listen();
  go(location.hash.slice(1) || "table", false);
  await describe();
  document.body.dataset.ready = "yes";
})();

export { button };
