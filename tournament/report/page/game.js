// Games of a page: how lots store them, and the positions of one game.

import { COLOURS } from "./dom.js";
import { Drawing, parseMove } from "./drawing.js";

/** Results and last phases of games; a lot stores indices of these lists. */
const RESULTS = ["1-0", "0-1", "1/2-1/2", "*"];
const PHASES = ["placing", "moving", "flying"];
const POINTS = document.body.dataset.points.split(" ");

const colourOf = (side) => COLOURS[side].toLowerCase();

/**
 * Returns the games of a lot, see lots.py. Each has the lot's figures, and `line`, which returns
 * its start position, opening and moves; `read` returns the line of the game with an index.
 */
export function gamesOf(lot, read = (index) => lineOf(lot, index)) {
  return lot.n.map((n, index) => ({
    n, white: lot.players[lot.white[index]], black: lot.players[lot.black[index]],
    result: RESULTS[lot.result[index]], reason: lot.reasons[lot.reason[index]],
    phase: PHASES[lot.phase[index]] ?? "", plies: lot.plies[index],
    opening: lot.openings[lot.opening[index]]?.[0], line: () => read(index),
  }));
}

/** Reads the line of a game in a lot that has its moves, which may be compressed. */
export async function lineOf(lot, index) {
  if (typeof lot.moves === "string") lot.moves = unpack(lot.moves);
  const [, position, opening] = lot.openings[lot.opening[index]];
  return {
    position, opening: opening.split(" ").filter(Boolean), moves: (await lot.moves)[index],
    text: lot.texts[lot.text[index]],
  };
}

/** Returns the JSON value that `pack` of lots.py has compressed. */
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (byte) => byte.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

export class Game {
  /**
   * `data` is a game of `gamesOf` together with its line, or a game in progress. The latter has no
   * result, but may have the times on both clocks at the start, and the milliseconds since the side
   * to move was sent `go`.
   */
  constructor(data) {
    const { n, white, black, result = null, text, position, opening, moves } = data;
    const { clocks = [null, null], thinking = null } = data;
    Object.assign(this, { n, names: [white, black], result, text, clocks });
    const [board, side, whiteHand, blackHand, , number] = position.split(" ");
    const men = new Map();
    [...board.replaceAll("/", "")].forEach((man, index) => {
      if (man !== "*") men.set(POINTS[index], man === "O" ? "white" : "black");
    });
    this.number = Number(number);
    this.positions = [
      { men, hands: [Number(whiteHand), Number(blackHand)], side: side === "b" ? 1 : 0 },
    ];
    this.moves = [];
    this.openingLength = opening.length;
    for (const move of opening) this.play({ text: move });
    for (const [move, score, depth, used, left] of moves) {
      this.play({ text: move, score, depth, used, left });
    }
    /** The time at which the side to move was sent `go`; null if it is unknown. */
    this.goTime = thinking === null ? null : performance.now() - thinking;
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

  /** The number of moves. */
  get length() {
    return this.moves.length;
  }

  /** The side to move, or null once the game is over. */
  get mover() {
    return this.result === null ? this.positions.at(-1).side : null;
  }

  /** The result and the reason; empty while the game is in progress. */
  get verdict() {
    return this.result === null ? "" : `${resultText(this.result)} · ${this.text}`;
  }

  /** A move with its number: "12. d6-d7" or "12… d6-d7". */
  textOf(index) {
    const { text, side } = this.moves[index];
    const number = this.number + Math.floor((this.positions[0].side + index) / 2);
    return `${number}${side === 0 ? "." : "…"} ${text}`;
  }

  /** A move with its number, score, depth and time. */
  noteOn(index) {
    const { score, depth, used } = this.moves[index];
    const parts = [this.textOf(index)];
    if (index < this.openingLength) parts.push("opening");
    else parts.push(scoreText(score), depth ? `depth ${depth}` : "",
      Number.isFinite(used) ? `${used / 1000} s` : "");
    return parts.filter(Boolean).join(" · ");
  }

  /** A side's last move after the opening and up to `ply`; undefined if there is none. */
  lastOf(side, ply) {
    return this.moves.slice(this.openingLength, ply).findLast((move) => move.side === side);
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

/** Reads the line of a game of `gamesOf`; returns the game. */
export const readGame = async (entry) => new Game({ ...entry, ...await entry.line() });

/** Draws an empty board into an SVG element. */
export const newBoard = (root) => new Drawing(root, POINTS);

/** A result for people to read. */
export const resultText = (result) => result.replace("1/2-1/2", "½–½").replace("-", "–");

/**
 * A score in men, seen from the side that moved; ±Infinity if proven, null without a score. A
 * stored score is hundredths of a man or, if proven, the plies to the end as a text: "#5", "#-4".
 */
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
