// Builds a move from the points that are clicked. It knows no rules: it only narrows down the
// list of legal moves that the server sent.

import { parse } from "../drawing.js";

export class Choice {
  constructor(legal) {
    this.moves = legal.map(parse);
    this.clear();
  }

  /** Forgets the picked points. */
  clear() {
    this.origin = this.to = null;
    this.removed = [];
  }

  /** The legal moves that fit the picked points. */
  get fitting() {
    return this.moves.filter((move) =>
      (this.origin === null || move.origin === this.origin) &&
      (this.to === null || move.to === this.to) &&
      this.removed.every((man) => move.removed.includes(man)));
  }

  /** The next thing to pick: "place", "man", "target" or "remove"; "none" or "done" if nothing. */
  get step() {
    if (!this.moves.length) return "none";
    if (this.to !== null) return this.complete ? "done" : "remove";
    if (this.moves[0].origin === null) return "place";
    return this.origin === null ? "man" : "target";
  }

  /** The picked move, once it is complete. */
  get complete() {
    if (this.to === null) return undefined;
    return this.fitting.find((move) => move.removed.length === this.removed.length);
  }

  /** The points that can be picked now. */
  get points() {
    const pick = {
      place: (move) => move.to,
      man: (move) => move.origin,
      target: (move) => move.to,
      remove: (move) => move.removed.filter((man) => !this.removed.includes(man)),
    }[this.step];
    return new Set(pick ? this.fitting.flatMap(pick) : []);
  }

  /** Whether a man can be picked up, perhaps instead of the one picked before. */
  canLift(point) {
    return this.to === null && this.moves.some((move) => move.origin === point);
  }

  /** Picks a point; returns the move's text once it is complete, otherwise null. */
  pick(point) {
    if (!this.points.has(point)) {
      if (this.to !== null) return null;
      this.origin = this.canLift(point) && point !== this.origin ? point : null;
      return null;
    }
    const step = this.step;
    if (step === "man") this.origin = point;
    else if (step === "remove") this.removed.push(point);
    else this.to = point;
    return this.complete ? this.complete.text : null;
  }
}
