// The page's current state, and the requests and messages that depend on it.

import { Choice } from "./board/choice.js";
import { ask } from "./dialogs/form.js";
import { $ } from "./dom.js";
import { api } from "./net.js";
import { t } from "./text.js";
import { Tree } from "./tree.js";

export const page = {
  /** The state, variations and review that the server sent last, or null. */
  state: null,
  info: null,
  review: null,
  /** The form beside the board that starts a game, or null. */
  start: null,
  /** The move that is being picked. */
  choice: new Choice([]),
  /** The moves of the line that the board previews from the position shown, or null. */
  preview: null,
  /** The premove and the number of moves when it was picked: {text, plies}; otherwise null. */
  premove: null,
  /** Whether the server has not answered the user's move for a second. */
  waiting: false,
  /** The number of the node that was requested, until it is shown; otherwise null. */
  requested: null,
  /** The server's warning, and the last unexpected error of this game; empty if none. */
  warning: "",
  failure: "",
  /** Whether the page scrolls to the review once it is drawn. */
  seeksReview: false,
  /** Whether the page reloads itself after a change of language. */
  reloading: false,
  /** Whether the connection is lost. */
  lost: false,
};

/** The moves of the game with their variations. */
export const tree = new Tree();

/** Shows a message for a few seconds. */
export function showMessage(message) {
  const toast = $("toast");
  // Behind an open dialog the toast could be neither clicked nor read aloud.
  (document.querySelector("dialog:modal") || document.body).append(toast);
  toast.textContent = message;
  toast.hidden = false;
  toast.scrollIntoView({ block: "nearest" });
  clearTimeout(showMessage.timer);
  showMessage.timer = setTimeout(() => { toast.hidden = true; }, 5000);
}

/** Sends a request and returns its answer; after an error, shows it and returns null. */
export async function send(action, body) {
  try {
    return await api(action, body);
  } catch (error) {
    showMessage(error.message);
    return null;
  }
}

/** Returns whether a game with moves is in progress. */
export const isGameInProgress = () =>
  page.state !== null && page.state.playing && page.state.plies > 0;

/** Returns whether a game would be lost if the page left it now. */
export const isUnsaved = () => isGameInProgress() && !page.state.saved;

/** Asks before an unsaved game is left; resolves with whether it may be left. */
export async function confirmLeaving() {
  if (!isUnsaved()) return true;
  return ask(t("ask.leave"), t("ask.leave.lost"), t("ask.leave.yes"), t("ask.leave.no"));
}
