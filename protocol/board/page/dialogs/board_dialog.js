// The base of the dialogs in which the user moves on a board: puzzles and lessons.

import { Board } from "../board/board.js";
import { Choice } from "../board/choice.js";
import { prefersReducedMotion } from "../board/motion.js";
import { $ } from "../dom.js";

/** Returns the milliseconds before a reply, or before a wrong move is taken back. */
export const replyDelay = () => (prefersReducedMotion() ? 250 : 700);

export class BoardDialog {
  /** `name` begins the ids of the dialog's elements. A subclass has `play` and `removalText`. */
  constructor(name, { points, mills }) {
    this.name = name;
    /** The position shown: {white, black, side, last}; null before the first one. */
    this.view = null;
    this.choice = new Choice([]);
    this.board = new Board($(`${name}-board`), points, {
      onPick: (point) => this.pick(point), onCancel: () => this.cancel(), mills,
    });
    $(`${name}-dialog`).addEventListener("cancel", (event) => {
      // Esc clears the picked points before it closes the dialog.
      if (!this.choice.origin && !this.choice.to) return;
      event.preventDefault();
      this.cancel();
    });
  }

  /** Shows a position with the moves that the user may pick. */
  showPosition(view, moves) {
    this.view = view;
    this.choice = new Choice(moves);
    this.draw();
  }

  draw() {
    this.board.draw({ ...this.view, choice: this.choice, values: {} });
    this.board.drawArrows([]);
  }

  note(text, kind = "") {
    $(`${this.name}-note`).textContent = text;
    $(`${this.name}-note`).className = `note ${kind}`;
  }

  pick(point) {
    if (!this.view) return;
    const move = this.choice.pick(point);
    this.draw();
    if (this.choice.step === "remove") this.note(this.removalText());
    if (move !== null) this.play(move);
  }

  cancel() {
    this.choice.clear();
    this.draw();
  }
}
