// The page's state, its requests to the server and its messages to the user.

import { Choice } from "./board/choice.js";
import { ask } from "./dialogs/form.js";
import { $ } from "./dom.js";
import { api } from "./net.js";
import { Tree } from "./tree.js";

export const now = {
  /** The data of the server's latest event of each kind; null: none yet. */
  state: null,
  info: null,
  review: null,
  /** The points picked of a move. */
  choice: new Choice([]),
  /** The moves of a line that are looked at, from the position shown; null: none. */
  ahead: null,
  /** The node asked for, until it is shown; null: none. */
  going: null,
  /** The server's warning, and an unexpected error of this game; empty if there is none. */
  warning: "",
  failure: "",
  /** Whether the connection is lost. */
  lost: false,
};

/** The game's moves with their variations. */
export const tree = new Tree();

/** Shows a message for a few seconds. */
export function tell(message) {
  const toast = $("toast");
  // Behind an open dialog the toast could be neither clicked nor read aloud.
  (document.querySelector("dialog[open]") || document.body).append(toast);
  toast.textContent = message;
  toast.hidden = false;
  toast.scrollIntoView({ block: "nearest" });
  clearTimeout(tell.timer);
  tell.timer = setTimeout(() => { toast.hidden = true; }, 5000);
}

/** Sends a request and shows the server's error, if any. */
export async function send(action, body) {
  try {
    return await api(action, body);
  } catch (error) {
    tell(error.message);
    return null;
  }
}

/** Whether a game goes on that would be left. */
export const isLive = () => now.state !== null && now.state.playing && now.state.plies > 0;

/** Asks before a game that goes on is left; whether it may be. */
export async function mayLeave() {
  return !isLive() || ask(
    "Leave this game?", "It is not over. It stays in My games and can be played on.",
    "Leave it", "Stay",
  );
}
