// Runs the report's script on a document just good enough for it, opens every game, goes to its
// end and prints the men on the board as JSON: node replay_dom.js script.mjs games.json POINTS
"use strict";
const fs = require("fs");
const path = require("path");
const [, , script, games, points] = process.argv;

class Element {
  constructor(name) {
    Object.assign(this, { name, children: [], attributes: {}, listeners: {}, dataset: {} });
    Object.assign(this, { textContent: "", value: "" });
    this.classList = { toggle: () => {} };
  }
  setAttribute(key, value) { this.attributes[key] = String(value); }
  append(...children) { this.children.push(...children); }
  replaceChildren(...children) { this.children = children; }
  addEventListener(kind, listener) { this.listeners[kind] = listener; }
  get firstChild() { return this.children[0]; }
  find(test) {
    const below = this.children.filter((child) => child instanceof Element);
    return [...(test(this) ? [this] : []), ...below.flatMap((child) => child.find(test))];
  }
}

const replay = new Element("section");
replay.dataset.points = points;
const source = new Element("script");
source.textContent = fs.readFileSync(games, "utf8");
const byId = (id) => replay.find((one) => one.attributes.id === id)[0];
let pressed = null;
globalThis.document = {
  getElementById: (id) => ({ replay, games: source })[id] ?? byId(id),
  createElement: (name) => new Element(name),
  createElementNS: (_, name) => new Element(name),
  addEventListener: (_, listener) => { pressed = listener; },
};

import(path.resolve(script)).then(() => {
  const answers = [];
  for (const button of replay.find((one) => one.game !== undefined)) {
    button.listeners.click();
    pressed({ key: "End", target: button, preventDefault: () => {} });
    const men = { white: [], black: [] };
    for (const point of replay.find((one) => "data-point" in one.attributes)) {
      const [man] = point.find((one) => /^man /.test(one.attributes.class));
      if (man) men[man.attributes.class.slice(4)].push(point.attributes["data-point"]);
    }
    answers.push({ white: men.white.sort(), black: men.black.sort(),
      result: byId("viewer-result").textContent });
  }
  console.log(JSON.stringify(answers));
});
