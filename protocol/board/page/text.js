// The page's text in the user's language. Every language is a table of the same keys.

import * as de from "./languages/de.js";
import * as en from "./languages/en.js";

/** All languages by code: a new one is a file in languages/, and an entry here. */
export const LANGUAGES = { en, de };

/** The code of the language chosen in the settings; empty to follow the browser. */
export const CHOSEN_LANGUAGE = localStorage.getItem("language") || "";

/** The code of the page's language: the chosen one, or the browser's first that has a table. */
export const LANGUAGE = [CHOSEN_LANGUAGE, ...navigator.languages.map((code) => code.split("-")[0])]
  .find((code) => Object.hasOwn(LANGUAGES, code)) || "en";

const { default: table, sentences = {} } = LANGUAGES[LANGUAGE];
const plural = new Intl.PluralRules(LANGUAGE);

/** Returns a number in the language's notation, with `digits` decimals or up to three. */
export const decimal = (number, digits) => new Intl.NumberFormat(LANGUAGE, {
  useGrouping: false, minimumFractionDigits: digits, maximumFractionDigits: digits,
}).format(number);

const fillIn = (text, values) => text.replace(/\{(\w+)\}/g, (whole, name) => {
  if (!(name in values)) return whole;
  const value = values[name];
  const isFraction = typeof value === "number" && !Number.isInteger(value);
  return isFraction ? decimal(value) : String(value);
});

/** Returns the text of a key, with its {placeholders} replaced by values. */
export function t(key, values = {}) {
  if (!(key in table)) throw new Error(`no text for ${key}`);
  return fillIn(table[key], values);
}

/** Returns the text of a key if there is one, otherwise `otherwise`. */
export const textOr = (key, otherwise) => (key in table ? t(key) : otherwise);

/** Returns the text of a key for a count or its text; keys end with `.one`, `.other` and so on. */
export function countedText(key, count) {
  const exact = `${key}.${plural.select(Number(count))}`;
  return t(exact in table ? exact : `${key}.other`, { count });
}

/** Returns a count with its noun: `counted("move", 2)` is "2 moves". */
export const counted = (noun, count) => countedText(`count.${noun}`, count);

/**
 * Returns a message of the server in the page's language. It is a sentence, or a list of a template
 * and its values, which may be messages, too; a sentence without a translation stays in English.
 */
export function fromServer(message) {
  if (typeof message === "number" || !message) return String(message ?? "");
  const [template, values] = Array.isArray(message) ? message : [message, {}];
  // A decimal number keeps its digits and sign, and gets the language's decimal separator.
  if (/^[-+]?\d+\.\d+$/.test(template)) return template.replace(".", decimal(0.5).charAt(1));
  // The user's own words are quoted as they are.
  const shown = Object.entries(values)
    .map(([name, value]) => [name, name === "what" ? value : fromServer(value)]);
  return fillIn(sentences[template] ?? template, Object.fromEntries(shown));
}

/** Returns a message of the server that begins with a capital letter. */
export const sentenceFrom = (message) =>
  fromServer(message).replace(/^./u, (letter) => letter.toUpperCase());

/** The names of the colours: White's, then Black's. */
export const SIDES = ["White", "Black"].map(fromServer);

/** Returns a player's name; one that the user or a record has given is not translated. */
export const playerName = (name) => (Array.isArray(name) ? fromServer(name) : name);

/**
 * Fills the texts whose keys are in `data-text` or `data-label`. The title of a button has the same
 * key with `.title`; without one, the title of a button that shows a sign is its label.
 */
export function fillPage(root = document) {
  document.documentElement.lang = LANGUAGE;
  for (const node of root.querySelectorAll("[data-text]")) node.textContent = t(node.dataset.text);
  for (const node of root.querySelectorAll("[data-label]")) node.ariaLabel = t(node.dataset.label);
  for (const button of root.querySelectorAll("button")) {
    const { text, label } = button.dataset;
    button.title = textOr(`${text ?? label}.title`, button.ariaLabel ?? "");
  }
}
