// Premoves: moves that the user picks while the engine thinks. The page only guesses which may be
// legal; on the user's turn the server's legal moves decide.

import { parseMove } from "../drawing.js";
import { Choice } from "./choice.js";

/** Men of the smaller side up to which a premove may be a flight: a removal may leave three. */
const MAX_MEN_BEFORE_FLIGHT = 4;

/** Returns the side whose user may premove, or null. */
export function premoveSide(state) {
  if (!state.thinking || state.node !== state.live || state.legal.length) return null;
  const side = 1 - state.turn;
  return state.players[side].engine === null ? side : null;
}

/** Returns the choice among the moves that may be legal on the user's next turn. */
export function premoveChoice(state, { points, mills }) {
  const side = premoveSide(state);
  if (side === null) return new Choice([]);
  const { position } = state;
  const own = position[["white", "black"][side]];
  const ends = points.filter((point) => !own.includes(point));
  const fewest = Math.min(position.white.length, position.black.length);
  const flies = fewest <= MAX_MEN_BEFORE_FLIGHT && state.rules.fields.Flying !== "never";
  const isNear = (a, b) => mills.some((mill) => mill.includes(a) && mill.includes(b)
    && Math.abs(mill.indexOf(a) - mill.indexOf(b)) === 1);
  const moves = position.hands[side] ? ends : own.flatMap((origin) => ends
    .filter((end) => flies || isNear(origin, end)).map((end) => `${origin}-${end}`));
  const choice = new Choice(moves);
  choice.isPremove = true;
  return choice;
}

/**
 * Applies a premove to the legal moves: returns the move to play, "" if the user still picks the
 * men to remove in `choice`, or null if the premove is illegal.
 */
export function applyPremove(text, choice) {
  const { origin, to } = parseMove(text);
  const fitting = choice.moves.filter((move) => move.origin === origin && move.to === to);
  if (!fitting.length) return null;
  choice.clear();
  Object.assign(choice, { origin, to });
  return choice.complete ? choice.complete.text : "";
}
