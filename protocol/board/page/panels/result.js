// The card that ends a game: who won, why, and what to do next.

import { $, COLOURS } from "../dom.js";

/** The result from the user's side of the board, if there is only one. */
function headline({ result, players }) {
  const winner = { "1-0": 0, "0-1": 1 }[result];
  if (winner === undefined) return "Draw";
  const users = [0, 1].filter((side) => players[side].engine === null);
  if (users.length === 1) return users[0] === winner ? "You win" : "You lose";
  return `${COLOURS[winner]} wins`;
}

export class ResultCard {
  constructor() {
    $("result-close").addEventListener("click", () => this.close());
    for (const name of ["rematch", "result-review", "result-save"]) {
      $(name).addEventListener("click", () => this.close());
    }
  }

  /** Shows the card when the game has just ended; a game opened after its end needs none. */
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
