// Ask dagitty for the minimal adjustment sets of every pair: node ask_dagitty.js STATIC < questions.json > answers.json
//
// STATIC is the folder of scripts in the wheel jupyterlab-dagitty from PyPI, which carries dagitty's algorithms. They
// are packed as modules of a bundle; below is as much of a loader as those modules need, and a name to reach them by.
const fs = require("fs");
const path = require("path");

const modules = {};
global.self = global;
self.rspackChunkjupyterlab_dagitty = { push: ([, found]) => Object.assign(modules, found) };
for (const name of fs.readdirSync(process.argv[2])) {
  const text = fs.readFileSync(path.join(process.argv[2], name), "utf8");
  if (/\.push\(\[\[\d+\],/.test(text)) {
    const sloppy = text.replace('"use strict";', ""); // dagitty counts with variables that it does not declare
    (0, eval)(sloppy.replace("this.GraphParser=", "this.GraphAnalyzer=c,this.GraphParser="));
  }
}

const loaded = {};
function load(id) {
  const own = modules[id] ? id : Object.keys(modules).find((key) => String(modules[key]).includes("countBy"));
  if (!loaded[own]) {
    loaded[own] = { exports: {} };
    modules[own].call(loaded[own].exports, loaded[own], loaded[own].exports, load);
  }
  return loaded[own].exports;
}
load.g = global;
load.r = () => {};
load.n = (value) => () => value;
load.d = (target, getters) => {
  for (const key in getters) Object.defineProperty(target, key, { get: getters[key], enumerable: true });
};

const holder = Object.keys(modules).find((key) => String(modules[key]).includes("listMsasTotalEffect"));
const { GraphAnalyzer, GraphParser } = load(holder);
const answers = JSON.parse(fs.readFileSync(0, "utf8")).map(({ text, names }) => {
  const told = {};
  for (const x of names) {
    for (const y of names) {
      if (x === y) continue;
      const graph = GraphParser.parseGuess(text.replace("{", `{ ${x} [e] ${y} [o]; `));
      const sets = GraphAnalyzer.listMsasTotalEffect(graph).map((z) => z.map((v) => v.id).sort());
      if (sets.length) told[`${x} ${y}`] = sets.sort();
    }
  }
  return told;
});
process.stdout.write(JSON.stringify(answers));
