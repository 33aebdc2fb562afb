// Builds a move from picked points by narrowing down the legal moves that the server sent. It does
// not implement the rules.

import { parseMove } from "../drawing.js";

export class Choice {
  constructor(legal) {
    this.moves = legal.map(parseMove);
    /** Whether the moves are premoves, which may turn out to be illegal. */
    this.isPremove = false;
    this.clear();
  }

  /** Clears the picked points. */
  clear() {
    this.origin = this.to = null;
    this.removed = [];
  }

  /** Whether a point is picked. */
  get isPicked() {
    return this.origin !== null || this.to !== null;
  }

  /** Picks a whole move by its text. */
  pickMove(text) {
    const { origin, to, removed } = parseMove(text);
    Object.assign(this, { origin, to, removed });
  }

  /** The legal moves that contain all picked points. */
  get fitting() {
    return this.moves.filter((move) =>
      (this.origin === null || move.origin === this.origin) &&
      (this.to === null || move.to === this.to) &&
      this.removed.every((man) => move.removed.includes(man)));
  }

  /** The next thing to pick: "place", "man", "target" or "remove"; otherwise "none" or "done". */
  get step() {
    if (!this.moves.length) return "none";
    if (this.to !== null) return this.complete ? "done" : "remove";
    if (this.moves[0].origin === null) return "place";
    return this.origin === null ? "man" : "target";
  }

  /** The picked move if it is complete, otherwise undefined. */
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

  /** Returns whether the man on a point can be moved; it may replace the picked man. */
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
