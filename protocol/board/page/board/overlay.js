// The user's drawings on the board: arrows by a right-drag, circles by a right click. The layer
// also shows the premove and the hint.

import { svg } from "../dom.js";
import { MAN_RADIUS, parseMove } from "../drawing.js";
import { arrows } from "./marks.js";

export class Overlay {
  /** `onRight` is called on a right press; if it returns true, nothing is drawn. */
  constructor(board, onRight) {
    Object.assign(this, { board, onRight, start: null, premove: null, hint: null });
    /** The shapes drawn: "d6" is a circle, "d6-d5" an arrow. */
    this.shapes = new Set();
    this.layer = svg("g", { class: "overlay", "aria-hidden": "true" });
    board.ghost.before(this.layer);
    board.root.addEventListener("pointerdown", (event) => this.press(event));
    window.addEventListener("pointerup", (event) => this.release(event));
    window.addEventListener("pointercancel", () => { this.start = null; });
    board.root.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  press(event) {
    if (event.button === 0) this.clear();
    if (event.button !== 2) return;
    event.preventDefault();
    if (!this.onRight()) [this.start] = this.board.locate(event);
  }

  release(event) {
    const { start } = this;
    if (event.button !== 2 || start === null) return;
    this.start = null;
    const [end] = this.board.locate(event);
    if (end === null) return;
    const shape = end === start ? start : `${start}-${end}`;
    if (!this.shapes.delete(shape)) this.shapes.add(shape);
    this.draw();
  }

  /** Removes the user's shapes and the hint. */
  clear() {
    if (!this.shapes.size && !this.hint) return;
    this.shapes.clear();
    this.hint = null;
    this.draw();
  }

  draw() {
    const drawn = [];
    for (const shape of this.shapes) {
      const { origin, to } = parseMove(shape);
      const [cx, cy] = this.board.at(to);
      drawn.push(origin ? this.arrow(shape, "drawn")
        : svg("circle", { class: "drawn circle", r: MAN_RADIUS + 7, cx, cy }));
    }
    if (this.hint) drawn.push(this.arrow(this.hint, "hint"));
    if (this.premove) drawn.push(this.arrow(this.premove, "premove"));
    this.layer.replaceChildren(...drawn);
  }

  /** Returns the arrow of a move, or the disc of a placing, with a class. */
  arrow(text, name) {
    const [drawn] = arrows(this.board, [parseMove(text)]);
    drawn.classList.add(name);
    return drawn;
  }
}
