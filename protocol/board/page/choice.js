// Puts a turn together from the points that are clicked. It knows no rules: it only narrows down
// the list of legal turns that the server gave.

/** The parts of a turn's text such as "a4-b4xb2". */
export function parse(text) {
  const [move, ...taken] = text.split("x");
  const points = move.split("-");
  return { text, origin: points.length > 1 ? points[0] : null, to: points.at(-1), taken };
}

export class Choice {
  constructor(legal) {
    this.turns = legal.map(parse);
    this.clear();
  }

  /** Forgets what was picked. */
  clear() {
    this.origin = this.to = null;
    this.taken = [];
  }

  /** The legal turns that fit what was picked. */
  get fitting() {
    return this.turns.filter((turn) =>
      (this.origin === null || turn.origin === this.origin) &&
      (this.to === null || turn.to === this.to) &&
      this.taken.every((man) => turn.taken.includes(man)));
  }

  /** What is asked for now: "none", "place", "man", "target", "take"; "done": nothing more. */
  get step() {
    if (!this.turns.length) return "none";
    if (this.to !== null) return this.whole ? "done" : "take";
    if (this.turns[0].origin === null) return "place";
    return this.origin === null ? "man" : "target";
  }

  /** The turn that was picked, once it is whole. */
  get whole() {
    if (this.to === null) return undefined;
    return this.fitting.find((turn) => turn.taken.length === this.taken.length);
  }

  /** The points that can be picked now. */
  get points() {
    const fitting = this.fitting;
    const pick = {
      none: () => [],
      done: () => [],
      place: () => fitting.map((turn) => turn.to),
      man: () => fitting.map((turn) => turn.origin),
      target: () => fitting.map((turn) => turn.to),
      take: () => fitting.flatMap((turn) => turn.taken).filter((man) => !this.taken.includes(man)),
    }[this.step];
    return new Set(pick());
  }

  /** Whether a man can be picked up, also instead of one that was picked before. */
  canLift(point) {
    return this.to === null && this.turns.some((turn) => turn.origin === point);
  }

  /** Picks a point; gives the turn's text once it is whole, otherwise null. */
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
