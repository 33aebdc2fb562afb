// Moves typed on the keyboard: d6, d6-d5, d6d5xf4. A move is played as soon as it is complete.

import { $ } from "../dom.js";
import { page, showMessage } from "../page.js";
import { t } from "../text.js";

/** Milliseconds after which an incomplete move is dropped. */
const MOVE_TIMEOUT = 6000;

const pointsOf = (text) => text.replace(/[-x]/g, "");

/** Returns a typed move with a hyphen after its first point: "d6d5" is "d6-d5". */
const spelled = (typed) => typed.replace(/(..)(?=.)/, "$1-");

export class TypedMove {
  /** `onMove` is called with a complete move. */
  constructor(onMove) {
    this.onMove = onMove;
    this.typed = "";
    this.timer = null;
  }

  set(typed) {
    clearTimeout(this.timer);
    this.typed = typed;
    $("typed").hidden = !typed;
    $("typed").textContent = typed && t("typed", { text: spelled(typed) });
    if (typed) this.timer = setTimeout(() => this.set(""), MOVE_TIMEOUT);
  }

  /** Handles a key; returns whether it belongs to a move. */
  key(key) {
    const { typed } = this;
    if (typed && key === "Escape") this.set("");
    else if (typed && key === "Backspace") this.set(typed.slice(0, -1));
    // Separators may be typed or left out.
    else if (typed.length > 1 && /^[-x ]$/.test(key)) this.set(typed);
    else if (typed.length % 2 ? /^[1-7]$/.test(key) : /^[a-g]$/.test(key)) {
      return this.add(typed + key);
    } else {
      if (typed) this.set("");
      return false;
    }
    return true;
  }

  add(typed) {
    const fitting = page.choice.moves.filter(({ text }) => pointsOf(text).startsWith(typed));
    if (typed.length === 1) {
      if (!page.choice.moves.length) return false;
      this.set(typed);
    } else if (fitting.length === 1 && pointsOf(fitting[0].text) === typed) {
      this.set("");
      this.onMove(fitting[0].text);
    } else if (fitting.length) this.set(typed);
    else {
      this.set("");
      showMessage(t("typed.none", { text: spelled(typed) }));
    }
    return true;
  }
}
