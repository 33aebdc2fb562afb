// The dialog that sets up a position; the server checks it after each change.

import { $ } from "../dom.js";
import { Drawing, menOf } from "../drawing.js";
import { api } from "../net.js";
import { sentenceFrom, SIDES, t } from "../text.js";
import { chosen, fill, fillRadios, on, show } from "./form.js";

const MEN = 9;
const SIGNS = { white: "O", black: "@" };

export class Editor {
  constructor(points) {
    this.points = points;
    this.men = new Map();
    /** The number of checks so far; only the answer to the latest one is shown. */
    this.checks = 0;
    this.drawing = new Drawing($("editor-board"), points);
    this.drawing.addButtons(0);
    const pointOf = ({ clientX, clientY }) =>
      document.elementFromPoint(clientX, clientY)?.closest("#editor-board .point")?.dataset.point;
    const board = $("editor-board");
    board.addEventListener("contextmenu", (event) => event.preventDefault());
    board.addEventListener("pointerdown", (event) => { this.pressed = pointOf(event); });
    window.addEventListener("pointerup", (event) => this.release(pointOf(event), event.button));
    for (const [point, group] of this.drawing.groups) {
      group.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        this.pick(point);
      });
    }
    for (const side of [0, 1]) {
      const hands = Array.from({ length: MEN + 1 }, (_, count) => [String(count), String(count)]);
      fill($(`editor-hand-${side}`), hands, "0");
    }
    fillRadios("editor-man", [[t("editor.white"), "white"], [t("editor.black"), "black"]]);
    fillRadios("editor-side", [[t("editor.side.white"), 0], [t("editor.side.black"), 1]]);
    on("click", {
      "editor-clear": () => this.clear([0, 0]), "editor-start": () => this.clear([MEN, MEN]),
    });
    const changed = () => this.changed();
    on("change", {
      "editor-hand-0": changed, "editor-hand-1": changed, "editor-side": changed,
      "editor-text": () => this.check($("editor-text").value),
    });
  }

  /** Resolves with "play", "analyse" or "cancel"; the position is in `text`. */
  open({ position, rules }) {
    this.rules = rules;
    this.setPosition(position);
    this.check(position.text);
    return show("editor");
  }

  /** Shows a position that the server sent. */
  setPosition({ white, black, hands, side, text }) {
    this.men = menOf({ white, black });
    hands.forEach((count, owner) => { $(`editor-hand-${owner}`).value = String(count); });
    $(`editor-side-${side}`).checked = true;
    // A position that was set up has no moves since the last removal.
    this.counters = `0 ${text.split(" ").at(-1)}`;
    this.draw();
  }

  clear(hands) {
    this.men.clear();
    hands.forEach((count, side) => { $(`editor-hand-${side}`).value = String(count); });
    this.changed();
  }

  /** Ends a click or drag at a point: drops the man that was pressed, or removes or sets one. */
  release(point, button) {
    const from = this.pressed;
    this.pressed = undefined;
    if (from === undefined) return;
    if (from === point && !button) {
      this.pick(point);
      return;
    }
    const man = this.men.get(from);
    this.men.delete(from);
    if (man && point && !button) this.men.set(point, man);
    this.changed();
  }

  pick(point) {
    const man = chosen("editor-man");
    if (this.men.get(point) === man) this.men.delete(point);
    else {
      this.men.set(point, man);
      this.takeFromHand(man);
    }
    this.changed();
  }

  /** Takes a man from the hand if its side would otherwise have more than nine men. */
  takeFromHand(man) {
    const hand = $(`editor-hand-${man === "white" ? 0 : 1}`);
    const count = [...this.men.values()].filter((colour) => colour === man).length;
    if (count + Number(hand.value) > MEN) {
      hand.value = String(Math.max(0, Number(hand.value) - 1));
    }
  }

  draw() {
    this.drawing.show(this.men, null);
    for (const [point, group] of this.drawing.groups) {
      const man = this.men.get(point);
      group.setAttribute("aria-label", `${point}, ${t(man ? `man.${man}` : "board.empty")}`);
    }
  }

  /** Draws the men, and checks the position that the fields and the board describe. */
  changed() {
    this.draw();
    const signs = this.points.map((point) => SIGNS[this.men.get(point)] || "*").join("");
    const hands = [0, 1].map((side) => $(`editor-hand-${side}`).value).join(" ");
    const rings = [0, 8, 16].map((start) => signs.slice(start, start + 8)).join("/");
    this.check(`${rings} ${"wb"[chosen("editor-side")]} ${hands} ${this.counters}`);
  }

  /** Lets the server check a position's text, and shows its answer. */
  async check(text) {
    const isTyped = $("editor-text").value === text;
    $("editor-text").value = text;
    this.checks += 1;
    const number = this.checks;
    // Until the answer comes, the text is the one of an earlier position.
    $("editor-play").disabled = $("editor-analyse").disabled = true;
    let answer;
    try {
      answer = await api("check", { text, ...this.rules });
    } catch (error) {
      answer = { fault: error.message };
    }
    if (number !== this.checks) return;
    this.text = text;
    if (answer.position && isTyped) this.setPosition(answer.position);
    const side = SIDES[answer.position ? answer.position.side : 0];
    $("editor-note").textContent = sentenceFrom(answer.fault || answer.note)
      || t("editor.to-move", { side });
    $("editor-note").classList.toggle("fault", Boolean(answer.fault));
    $("editor-analyse").disabled = Boolean(answer.fault);
    $("editor-play").disabled = !answer.position || Boolean(answer.position.end);
  }
}
