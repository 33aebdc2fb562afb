// Positions that lie ahead: what a board looks like after moves known to be legal.

import { parse } from "../drawing.js";

/** The men after some moves: {white, black, side, last}. */
export function after({ white, black, side }, moves) {
  const men = [new Set(white), new Set(black)];
  let mover = side;
  for (const text of moves) {
    const move = parse(text);
    if (move.origin) men[mover].delete(move.origin);
    men[mover].add(move.to);
    for (const man of move.removed) men[1 - mover].delete(man);
    mover = 1 - mover;
  }
  return { white: [...men[0]], black: [...men[1]], side: mover, last: moves.at(-1) };
}
