// The status line, and the strip with the result of a game.

import { on } from "../dialogs/form.js";
import { $ } from "../dom.js";
import { fromServer, playerName, SIDES, t } from "../text.js";
import { page } from "../page.js";
import { isRunning, losingMistakes, mistakes, progress } from "./review.js";
import { usersOf } from "./players.js";

/** Returns the one thing that the user should know now; null while a move is being sent. */
export function statusOf(state, choice) {
  // The next prompt comes with the server's answer.
  if (choice.step === "done") return null;
  const { position, playing } = state;
  const isBack = state.node !== state.live;
  const isFlight = choice.step === "man" && position.flying[position.side];
  const step = choice.step === "remove" ? `remove.${position.side}`
    : isFlight ? "fly" : choice.step;
  const prompt = step === "none" ? "" : t(`status.${step}`, { side: SIDES[position.side] });
  if (["target", "remove"].includes(choice.step)) return prompt;
  const { engine } = state.players[state.turn];
  const name = playerName(state.players[state.turn].name);
  if (playing && state.paused) {
    const key = engine === null ? "status.paused.own" : "status.paused.engine";
    return t(key, { side: SIDES[state.turn], name });
  }
  if (playing && isBack) return t("status.viewing", state);
  if (state.thinking) return t("status.thinking", { name });
  if (!isBack && state.reason) return `${fromServer(state.reason)}.`;
  if (!isBack && state.result !== "*") return t("status.recorded", state);
  return isBack && !state.analysing ? t("status.move", state) : prompt;
}

/** Returns the result, from the point of view of the only user if there is one. */
function headline({ result, players }) {
  const winner = { "1-0": 0, "0-1": 1 }[result];
  if (winner === undefined) return t("result.draw");
  const users = usersOf({ players });
  if (users.length === 1) return t(users[0] === winner ? "result.you.win" : "result.you.lose");
  return fromServer(["{side} wins", { side: SIDES[winner] }]);
}

/** The strip at the end of a game: the winner, the reason, the accuracy, and the next steps. */
export class ResultCard {
  constructor() {
    on("click", { "result-close": () => this.close(), rematch: () => this.close() });
  }

  /** Shows the strip when the game has just ended; not for an opened game that was over. */
  follow(before, state) {
    const isOtherGame = before && before.over && before.plies !== state.plies;
    if (!state.over || isOtherGame) this.close();
    else if (before && !before.over && !state.analysing) {
      $("result-title").textContent = headline(state);
      $("result-card").hidden = false;
    }
    this.showReview(page.review);
  }

  /** Shows the progress of a review, then the accuracy and the mistakes to learn from. */
  showReview(review) {
    const isDone = review !== null && !isRunning(review);
    $("result-accuracy").hidden = review === null;
    $("result-review").hidden = review !== null && page.state.analysing;
    $("result-learn").hidden = !isDone || !mistakes(review, page.state).length;
    if (review && !isDone) $("result-accuracy").textContent = progress(review);
    if (!isDone) return;
    const [white, black] = review.sums
      .map(({ accuracy }) => (accuracy === null ? "–" : `${accuracy.toFixed(0)} %`));
    const losing = losingMistakes(review, page.state);
    $("result-accuracy").textContent = `${losing}. ${t("result.accuracy", { white, black })}`;
  }

  close() {
    $("result-card").hidden = true;
  }
}
