// Finds and creates elements of a page; formats counts and clocks.

const SVG = "http://www.w3.org/2000/svg";
export const COLOURS = ["White", "Black"];

/** Returns the element with an id, or null. */
export const $ = (id) => document.getElementById(id);

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

/** Creates an element; text children are never parsed as HTML. */
export function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** Creates an SVG element. */
export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

/** Returns a count with its noun: "1 game", "2 games". The count is a number or its text. */
export const counted = (count, noun) => `${count} ${noun}${Number(count) === 1 ? "" : "s"}`;

/** Returns the time left on a clock as text: "5:00", or "19.9" below 20 seconds. */
export function clockText(seconds) {
  const left = Math.max(0, seconds);
  if (left < 20) return left.toFixed(1);
  const whole = Math.ceil(left);
  const minutes = Math.floor(whole / 60);
  const rest = String(whole % 60).padStart(2, "0");
  if (minutes < 60) return `${minutes}:${rest}`;
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}:${rest}`;
}
