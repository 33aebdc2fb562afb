// Finds and makes the page's elements.

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
