// The marks of proven values: a shape and a sign for each, besides its colour.

import { svg } from "../dom.js";

const SHAPES = {
  win: "M0 -17A17 17 0 1 1 0 17A17 17 0 1 1 0 -17Z",
  draw: "M-15 -15H15V15H-15Z",
  loss: "M0 -21L21 0L0 21L-21 0Z",
};
const SIGNS = {
  win: "M-9 0L-3 7L9 -7",
  draw: "M-8 -4.5H8M-8 4.5H8",
  loss: "M-7 -7L7 7M-7 7L7 -7",
};

/** The mark of a value around the origin: a tick for a win, an equals sign, a cross for a loss. */
export function mark(value) {
  return svg("g", { class: `value ${value}` },
    svg("path", { class: "shape", d: SHAPES[value] }),
    svg("path", { class: "sign", d: SIGNS[value] }));
}

/** The same mark as a picture of its own, for lists; nothing for an unknown value. */
export function symbol(value) {
  const picture = svg("svg", { class: "symbol", viewBox: "-24 -24 48 48", "aria-hidden": "true" });
  if (value) picture.append(mark(value));
  return picture;
}
