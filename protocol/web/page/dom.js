// Finds and makes a page's elements.

const SVG = "http://www.w3.org/2000/svg";
export const COLOURS = ["White", "Black"];

/** The element with an id. */
export const $ = (id) => document.getElementById(id);

function prepare(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** Makes an element; text children are never parsed as HTML. */
export function element(name, attributes = {}, ...children) {
  return prepare(document.createElement(name), attributes, children);
}

/** Makes an SVG element. */
export function svg(name, attributes = {}, ...children) {
  return prepare(document.createElementNS(SVG, name), attributes, children);
}

/** A count, a number or its text, with a noun: "1 game", "2 games". */
export const counted = (count, noun) => `${count} ${noun}${Number(count) === 1 ? "" : "s"}`;

/** The time left on a clock. */
export function clockText(seconds) {
  const left = Math.max(0, seconds);
  if (left < 20) return left.toFixed(1);
  const whole = Math.ceil(left);
  const minutes = Math.floor(whole / 60);
  const rest = String(whole % 60).padStart(2, "0");
  if (minutes < 60) return `${minutes}:${rest}`;
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}:${rest}`;
}
