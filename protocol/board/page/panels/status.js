// The status line, and the card with the result of a game.

import { $, COLOURS } from "../dom.js";
import { usersOf } from "./players.js";

/** Returns the status text; null while a move is being sent. */
export function statusOf(state, choice) {
  // The next prompt comes with the server's answer.
  if (choice.step === "done") return null;
  const { position, playing, paused } = state;
  const back = state.node !== state.live;
  const parts = state.analysing ? ["Analysis."] : [];
  const of = `${state.ply} of ${state.plies}.`;
  if (back && !state.analysing) parts.push(playing ? `Viewing move ${of}` : `Move ${of}`);
  else if (!back && state.reason) parts.push(`${state.reason} (${state.result}).`);
  else if (!back && state.result !== "*") parts.push(`Recorded result: ${state.result}.`);
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
    const purpose = engine === null ? "to play on" : `to let ${name} move`;
    parts.push(`Paused; it is ${next}'s turn. Press Resume ${purpose}.`);
  } else if (state.thinking) parts.push(`${name} is thinking …`);
  else if (playing && back) parts.push(`It is ${next}'s turn; » returns to the last move.`);
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

/** Returns the result, from the point of view of the only user if there is one. */
function headline({ result, players }) {
  const winner = { "1-0": 0, "0-1": 1 }[result];
  if (winner === undefined) return "Draw";
  const users = usersOf({ players });
  if (users.length === 1) return users[0] === winner ? "You win" : "You lose";
  return `${COLOURS[winner]} wins`;
}

/** The card shown at the end of a game: the winner, the reason, and the next steps. */
export class ResultCard {
  constructor() {
    $("result-close").addEventListener("click", () => this.close());
    for (const name of ["rematch", "result-review", "result-save"]) {
      $(name).addEventListener("click", () => this.close());
    }
  }

  /** Shows the card when the game has just ended; not for an opened game that was over. */
  follow(before, state) {
    const ended = state.over && !state.analysing && state.result !== "*";
    if (!ended) this.close();
    else if (before && !before.over) {
      $("result-title").textContent = headline(state);
      $("result-reason").textContent = state.reason || state.result;
      $("result-card").hidden = false;
    }
  }

  close() {
    $("result-card").hidden = true;
  }
}
