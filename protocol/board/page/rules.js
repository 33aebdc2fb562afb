// Texts that explain the rule sets and their fields.

import { t, textOr } from "./text.js";

/** Returns the title of a rule set, or its name if it has none. */
export const title = (variant) => textOr(`rules.${variant}`, variant);

/** Returns what a rule set does; empty if there is no text. */
export const summary = (variant) => textOr(`rules.${variant}.words`, "");

/** Returns a rule set's source; empty if there is no text. */
export const source = (variant) => textOr(`rules.${variant}.source`, "");

/** Returns a field's question, or its name if there is no text for it. */
export const question = (field) => textOr(`rule.${field}`, field);

/** Returns the text of a field's choice. */
export const answer = (field, choice) => textOr(`rule.${field}.${choice}`, choice);

/** Returns the rules as sentences. */
export function sentences(fields) {
  const choice = (field) => textOr(`sentence.${field}.${fields[field]}`, "");
  const limit = (field) => {
    const count = fields[field];
    return Number(count) ? [t(`sentence.${field}`, { count })] : [];
  };
  return [
    choice("Flying"), choice("LockedMills"), choice("DoubleMill"), t("sentence.men"),
    choice("Blocked"), ...limit("Repetition"), ...limit("NoRemovalPlies"),
    ...limit("ThreeThreePlies"),
  ];
}
