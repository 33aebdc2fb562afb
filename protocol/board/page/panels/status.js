// The line that says what has happened, whose turn it is, and how to go on.

import { COLOURS } from "../dom.js";

/** The status in words; null while a move is on its way. */
export function statusOf(state, choice) {
  // The next prompt comes with the server's answer.
  if (choice.step === "done") return null;
  const { position, playing, paused } = state;
  const back = state.node !== state.live;
  const parts = state.analysing ? ["Analysis."] : [];
  const of = `${state.ply} of ${state.plies}.`;
  if (back && !state.analysing) parts.push(playing ? `You look back at move ${of}` : `Move ${of}`);
  else if (!back && state.reason) parts.push(`${state.reason} (${state.result}).`);
  else if (!back && state.result !== "*") parts.push(`The record says ${state.result}.`);
  const mover = COLOURS[position.side];
  const next = COLOURS[state.turn];
  const asked = {
    place: `${mover}: place a man.`,
    man: `${mover}: move a man${position.flying[position.side] ? " to any point" : ""}.`,
    target: `${mover}: where to?`,
    remove: `Mill! ${mover}: remove a ringed man (${[...choice.points].sort().join(", ")}).`,
  }[choice.step];
  const { engine, name } = state.players[state.turn];
  if (playing && paused) {
    const what = engine === null ? "to play on" : `to let ${name} move`;
    parts.push(`Paused; it is ${next}'s turn. Resume ${what}.`);
  } else if (state.thinking) parts.push(`${name} is thinking …`);
  else if (playing && back) parts.push(`It is ${next}'s turn: » goes to the last move.`);
  if (asked) parts.push(asked);
  if (playing && state.offer !== null) {
    parts.push(`${COLOURS[state.offer]} offers a draw; a move declines it.`);
  }
  if (state.analysing && !back && !state.final && !state.played) {
    parts.push("Try moves for both sides, or play on from here.");
  }
  if (state.move) parts.push(`Last: ${state.move}.`);
  return parts.join(" ");
}
