// Runs the report's script on a document just good enough for it, opens every game, goes to its
// end and prints the men on the board as JSON: node replay_dom.js report.js games.json
"use strict";
const fs = require("fs");
const [, , script, games] = process.argv;

class Element {
  constructor(name) {
    Object.assign(this, { name, children: [], attributes: {}, listeners: {} });
    Object.assign(this, { textContent: "", value: "" });
    this.classList = { toggle: () => {} };
  }
  setAttribute(key, value) { this.attributes[key] = String(value); }
  append(child) { this.children.push(child); }
  replaceChildren() { this.children = []; }
  addEventListener(kind, listener) { this.listeners[kind] = listener; }
  get firstChild() { return this.children[0]; }
  find(test) {
    return [...(test(this) ? [this] : []), ...this.children.flatMap((child) => child.find(test))];
  }
}

const replay = new Element("section");
const source = new Element("script");
source.textContent = fs.readFileSync(games, "utf8");
let pressed = null;
globalThis.document = {
  getElementById: (id) => ({ replay, games: source })[id],
  createElement: (name) => new Element(name),
  createElementNS: (_, name) => new Element(name),
  addEventListener: (_, listener) => { pressed = listener; },
};
eval(fs.readFileSync(script, "utf8"));

const answers = [];
for (const button of replay.find((e) => e.game !== undefined)) {
  button.listeners.click();
  pressed({ key: "End", target: button, preventDefault: () => {} });
  const men = { white: [], black: [] };
  for (const circle of replay.find((e) => e.name === "circle")) {
    const colour = circle.attributes.class;
    if (!(colour in men)) continue;
    const file = "abcdefg"[Math.round((circle.attributes.cx - 8) / 14)];
    men[colour].push(file + (7 - Math.round((circle.attributes.cy - 8) / 14)));
  }
  const note = replay.find((e) => e.attributes.class === "note")[0].textContent;
  answers.push({ white: men.white.sort(), black: men.black.sort(), note });
}
console.log(JSON.stringify(answers));
