// The keys: how the help names them, the key of its text, and the actions by key.

import { t } from "./text.js";

export const KEYS = [
  ["← →", "help.step", { ArrowLeft: "back", ArrowRight: "forward" }],
  ["↑ ↓", "help.variation", { ArrowUp: "up", ArrowDown: "down" }],
  [t("help.ends.key"), "help.ends", { Home: "first", End: "last" }],
  ["Enter", "help.enter"],
  ["Esc", "help.escape"],
  ["S", "help.analyse", { s: "switch" }],
  ["V", "help.evaluation", { v: "evaluation" }],
  ["U R", "help.undo", { u: "undo", r: "redo" }],
  ["T", "help.flip", { t: "flip" }],
  ["N", "help.new", { n: "new" }],
  ["H", "help.suggest", { h: "suggest" }],
  ["?", "help", { "?": "help" }],
  ["d6-d5", "help.typed"],
  [t("help.mouse"), "help.mouse.words"],
];
