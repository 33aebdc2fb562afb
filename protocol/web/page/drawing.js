// Draws a board: its wood and lines, the men on it, and the last move.

import { svg } from "./dom.js";

/** Radius of a man. */
export const MAN_RADIUS = 36;

/** Gradients of a drawing: name, centre, radius, and offsets of the stops. */
const GRADIENTS = [
  ["white", 0.36, 0.3, 0.8, [0, 0.45, 1]],
  ["black", 0.36, 0.3, 0.8, [0, 0.55, 1]],
  ["shade", 0.5, 0.5, 0.5, [0, 0.72, 1]],
];
const square = (d) => `M${d} ${d}H${700 - d}V${700 - d}H${d}Z`;
/** The path of the board's lines. */
export const LINES = `${square(50)}${square(150)}${square(250)}` +
  "M350 50V250M350 450V650M50 350H250M450 350H650";
/** A point's coordinates on a board that is not flipped. */
export const at = (point) => [50 + 100 * (point.charCodeAt(0) - 97), 50 + 100 * (7 - point[1])];
/** Number of drawings so far; it makes the ids of gradients unique in a page. */
let drawings = 0;

/** The parts of a move's text such as "a4-b4xb2". */
export function parseMove(text) {
  const [path, ...removed] = text.split("x");
  const points = path.split("-");
  return { text, origin: points.length > 1 ? points[0] : null, to: points.at(-1), removed };
}

/** The men of a position: a map of points to colours. */
export const menOf = ({ white, black }) => new Map([
  ...white.map((point) => [point, "white"]), ...black.map((point) => [point, "black"]),
]);

/** A man of a colour, or the dot of an empty point, around the origin. */
export function piece(colour) {
  if (!colour) return [svg("circle", { class: "dot", r: 8 })];
  return [
    svg("circle", { class: "shade", cx: 1, cy: 5, r: MAN_RADIUS + 7 }),
    svg("circle", { class: `man ${colour}`, r: MAN_RADIUS }),
    svg("circle", { class: "inner", r: MAN_RADIUS - 11 }),
  ];
}

/** A ring around a man, `margin` units outside its edge. */
export function ring(name, margin = 4) {
  return svg("circle", { class: `ring ${name}`, r: MAN_RADIUS + margin });
}

export class Drawing {
  /** Draws an empty board into an SVG element; `points` are the names of all points. */
  constructor(root, points, flipped = false) {
    Object.assign(this, { root, points, flipped, groups: new Map() });
    root.setAttribute("viewBox", "-14 0 714 714");
    root.append(this.gradients());
    root.append(svg("rect", { class: "wood", x: -12, y: 2, width: 710, height: 710, rx: 20 }));
    this.lines = svg("path", { class: "lines" });
    this.labels = svg("g", { "aria-hidden": "true" });
    this.under = svg("g", { "aria-hidden": "true" });
    this.men = svg("g");
    root.append(this.lines, this.labels, this.under, this.men);
    for (const point of this.inReadingOrder()) {
      const group = svg("g", { class: "point", "data-point": point });
      group.append(svg("g", { class: "marks" }));
      this.groups.set(point, group);
      this.men.append(group);
    }
    this.layOut();
  }

  /** Creates the gradients of men and their shadows, and names them for the style sheet. */
  gradients() {
    drawings += 1;
    return svg("defs", {}, ...GRADIENTS.map(([name, cx, cy, r, offsets]) => {
      const id = `${name}-${drawings}`;
      const property = name === "shade" ? "--man-shade" : `--${name}-man`;
      this.root.style.setProperty(property, `url(#${id})`);
      return svg("radialGradient", { id, cx, cy, r }, ...offsets.map((offset, index) =>
        svg("stop", { class: `${name}-${index + 1}`, offset })));
    }));
  }

  /** Turns points into buttons: a hit circle covers the marks, and stays when they are redrawn. */
  addButtons(tabIndex) {
    for (const group of this.groups.values()) {
      group.setAttribute("role", "button");
      group.setAttribute("tabindex", tabIndex);
      group.append(svg("circle", { class: "hit", r: 48 }));
    }
  }

  inReadingOrder() {
    return [...this.points].sort((a, b) => b[1] - a[1] || a.charCodeAt(0) - b.charCodeAt(0));
  }

  /** A point's coordinates in the drawing. */
  at(point) {
    const [x, y] = at(point);
    return this.flipped ? [700 - x, 700 - y] : [x, y];
  }

  /** Draws lines and labels and moves the points; call this again after a change of `flipped`. */
  layOut() {
    this.lines.setAttribute("d", LINES);
    this.labels.replaceChildren();
    for (let index = 0; index < 7; index += 1) {
      const letter = "abcdefg"[this.flipped ? 6 - index : index];
      const number = this.flipped ? index + 1 : 7 - index;
      this.labels.append(
        svg("text", { class: "label", x: 50 + 100 * index, y: 699 }, letter),
        svg("text", { class: "label", x: 0, y: 50 + 100 * index }, String(number)),
      );
    }
    for (const [point, group] of this.groups) {
      const [x, y] = this.at(point);
      group.setAttribute("transform", `translate(${x} ${y})`);
    }
  }

  /** Replaces what is drawn at a point: its man or dot, and marks. */
  drawAt(point, ...marks) {
    this.groups.get(point).firstChild.replaceChildren(...marks);
  }

  /** Draws the men, a map of points to colours, and the last move; null: no move. */
  show(men, last) {
    for (const point of this.points) {
      const marks = piece(men.get(point));
      if (last && last.to === point) marks.push(ring("last"));
      this.drawAt(point, ...marks);
    }
    this.markLast(last);
  }

  /** Marks where the man of the last move came from and which men it removed; null: no move. */
  markLast(last) {
    this.under.replaceChildren();
    if (!last) return;
    const [x, y] = this.at(last.to);
    if (last.origin) {
      const [fromX, fromY] = this.at(last.origin);
      this.under.append(svg("line", { class: "trail", x1: fromX, y1: fromY, x2: x, y2: y }));
    }
    for (const man of last.removed) {
      const [a, b] = this.at(man);
      this.under.append(
        svg("line", { class: "gone", x1: a - 20, y1: b - 20, x2: a + 20, y2: b + 20 }),
        svg("line", { class: "gone", x1: a - 20, y1: b + 20, x2: a + 20, y2: b - 20 }),
      );
    }
  }
}
