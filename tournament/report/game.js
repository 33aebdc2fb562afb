// A game in progress or finished: its moves, and the positions between them.

import { COLOURS } from "./dom.js";
import { parseMove } from "./drawing.js";

/** The results of a game; an archive stores them as indices of this list. */
export const RESULTS = ["1-0", "0-1", "1/2-1/2", "*"];

const colourOf = (side) => COLOURS[side].toLowerCase();

export class Game {
  /** `data` is a game of `replay_view` or `Broadcast.all`; `points`: the names of all points. */
  constructor(data, points) {
    const { n, white, black, clocks } = data;
    Object.assign(this, { n, names: [white, black], clocks });
    const [board, side, whiteHand, blackHand, , number] = data.position.split(" ");
    const men = new Map();
    [...board.replaceAll("/", "")].forEach((man, index) => {
      if (man !== "*") men.set(points[index], man === "O" ? "white" : "black");
    });
    this.number = Number(number);
    this.positions = [
      { men, hands: [Number(whiteHand), Number(blackHand)], side: side === "b" ? 1 : 0 },
    ];
    this.moves = [];
    for (const text of data.opening) this.play({ text, score: null });
    this.opened = this.moves.length;
    this.asked = this.result = null;
    this.add(data.at ?? 0, data.moves, data.thinking);
    if (data.result) this.end(data);
  }

  /**
   * Replaces the moves from index `at` after the opening.
   *
   * `thinking`: milliseconds since the side to move received `go`, or null.
   */
  add(at, moves, thinking) {
    this.moves.length = this.opened + at;
    this.positions.length = this.moves.length + 1;
    for (const [text, score, depth, used, left] of moves) {
      this.play({ text, score, depth, used, left });
    }
    this.asked = Number.isFinite(thinking) ? performance.now() - thinking : null;
  }

  play(move) {
    const { men: before, hands: held, side } = this.positions.at(-1);
    const { origin, to, removed } = parseMove(move.text);
    const men = new Map(before);
    const hands = [...held];
    if (origin) men.delete(origin);
    else hands[side] -= 1;
    men.set(to, colourOf(side));
    for (const man of removed) men.delete(man);
    this.moves.push({ ...move, side });
    this.positions.push({ men, hands, side: 1 - side });
  }

  end({ result, reason }) {
    Object.assign(this, { result, reason, asked: null, ended: performance.now() });
  }

  /** The number of moves. */
  get length() {
    return this.moves.length;
  }

  /** The side to move, or null once the game is over. */
  get mover() {
    return this.result === null ? this.positions.at(-1).side : null;
  }

  /** A move with its number: "12. d6-d7" or "12… d6-d7". */
  textOf(index) {
    const { text, side } = this.moves[index];
    const number = this.number + Math.floor((this.positions[0].side + index) / 2);
    return `${number}${side === 0 ? "." : "…"} ${text}`;
  }

  /** A side's last move after the opening and up to `ply`; undefined if there is none. */
  lastOf(side, ply) {
    return this.moves.slice(this.opened, ply).findLast((move) => move.side === side);
  }

  /** The numbers of a side's men on the board and in hand. */
  men(side, ply) {
    const { men, hands } = this.positions[ply];
    return [[...men.values()].filter((man) => man === colourOf(side)).length, hands[side]];
  }

  /** A board's description for screen readers. */
  describe(ply) {
    const last = ply ? `after ${this.textOf(ply - 1)}` : "first position";
    const counts = [0, 1].map((side) => {
      const [men, hand] = this.men(side, ply);
      return `${men} ${colourOf(side)} men${hand ? ` and ${hand} in hand` : ""}`;
    });
    return `Game ${this.n}, ${last}: ${counts.join(", ")}`;
  }
}

/** A result for people to read. */
export const resultText = (result) => result.replace("1/2-1/2", "½–½").replace("-", "–");

/** A score in men, seen from the side that moved; ±Infinity if proven, null without a score. */
export function inMen(score) {
  if (score === null || score === undefined) return null;
  if (typeof score === "string") return Number(score.slice(1)) > 0 ? Infinity : -Infinity;
  return score / 100;
}

/** A score in words: "+0.35", "wins in 5 plies", "loses in 1 ply". */
export function scoreText(score) {
  if (score === null || score === undefined) return "";
  if (typeof score !== "string") {
    return `${score < 0 ? "−" : "+"}${(Math.abs(score) / 100).toFixed(2)}`;
  }
  const plies = Number(score.slice(1));
  const count = Math.abs(plies);
  return `${plies > 0 ? "wins" : "loses"} in ${count} ${count === 1 ? "ply" : "plies"}`;
}

/** Returns the JSON value that `pack` of replay_data.py has compressed. */
export async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (byte) => byte.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}
