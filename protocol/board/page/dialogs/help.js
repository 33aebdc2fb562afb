// The help: how to play, and by which rules.

import { $, element } from "../dom.js";
import { RULE_SETS, sentences } from "../rules.js";

/** Shows the help with the rules of the game on the board. */
export function showHelp({ variant, fields }) {
  const [, origin] = RULE_SETS[variant] || ["", ""];
  $("rules-list").replaceChildren(
    ...[origin, ...sentences(fields)].map((text) => element("li", {}, text)),
  );
  $("help-dialog").showModal();
}
