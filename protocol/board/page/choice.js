// Puts a move together from the points that are clicked. It knows no rules: it only narrows down
// the list of legal moves that the server gave.

/** The parts of a move's text such as "a4-b4xb2". */
export function parse(text) {
  const [path, ...taken] = text.split("x");
  const points = path.split("-");
  return { text, origin: points.length > 1 ? points[0] : null, to: points.at(-1), taken };
}

export class Choice {
  constructor(legal) {
    this.moves = legal.map(parse);
    this.clear();
  }

  /** Forgets what was picked. */
  clear() {
    this.origin = this.to = null;
    this.taken = [];
  }

  /** The legal moves that fit what was picked. */
  get fitting() {
    return this.moves.filter((move) =>
      (this.origin === null || move.origin === this.origin) &&
      (this.to === null || move.to === this.to) &&
      this.taken.every((man) => move.taken.includes(man)));
  }

  /** What is asked for now: "none", "place", "man", "target", "take"; "done": nothing more. */
  get step() {
    if (!this.moves.length) return "none";
    if (this.to !== null) return this.whole ? "done" : "take";
    if (this.moves[0].origin === null) return "place";
    return this.origin === null ? "man" : "target";
  }

  /** The move that was picked, once it is whole. */
  get whole() {
    if (this.to === null) return undefined;
    return this.fitting.find((move) => move.taken.length === this.taken.length);
  }

  /** The points that can be picked now. */
  get points() {
    const fitting = this.fitting;
    const pick = {
      none: () => [],
      done: () => [],
      place: () => fitting.map((move) => move.to),
      man: () => fitting.map((move) => move.origin),
      target: () => fitting.map((move) => move.to),
      take: () => fitting.flatMap((move) => move.taken).filter((man) => !this.taken.includes(man)),
    }[this.step];
    return new Set(pick());
  }

  /** Whether a man can be picked up, also instead of one that was picked before. */
  canLift(point) {
    return this.to === null && this.moves.some((move) => move.origin === point);
  }

  /** Picks a point; gives the move's text once it is whole, otherwise null. */
  pick(point) {
    if (!this.points.has(point)) {
      if (this.to !== null) return null;
      this.origin = this.canLift(point) && point !== this.origin ? point : null;
      return null;
    }
    const step = this.step;
    if (step === "man") this.origin = point;
    else if (step === "take") this.taken.push(point);
    else this.to = point;
    return this.whole ? this.whole.text : null;
  }
}
