// Puzzles: positions with one right move, played on a board of their own.

import { Board } from "../board/board.js";
import { Choice } from "../board/choice.js";
import { quiet } from "../board/motion.js";
import { $, COLOURS } from "../dom.js";
import { parse } from "../drawing.js";
import { api } from "../net.js";
import { tell } from "../now.js";
import { RULE_SETS, sentences } from "../rules.js";
import { sound } from "../sound.js";
import { show } from "./form.js";

const PAUSE = 700;

const pause = () => new Promise((resolve) => { setTimeout(resolve, quiet() ? 250 : PAUSE); });

/** Facts that the board does not show: the rules, men in hand, and who flies. */
function circumstances({ rules, position }) {
  const set = RULE_SETS[rules.variant];
  const parts = [`Rules: ${set ? set[0] : rules.variant}`];
  position.hands.forEach((count, side) => {
    if (count) parts.push(`${COLOURS[side]} has ${count} in hand`);
  });
  position.flying.forEach((flies, side) => {
    if (flies) parts.push(`${COLOURS[side]} may fly`);
  });
  return parts.join(" · ");
}

/** A move of a solution in words. */
function words(move) {
  const { origin, to, removed } = parse(move);
  const where = origin ? `${origin} to ${to}` : `place on ${to}`;
  return removed.length ? `${where}, remove ${removed.join(" and ")}` : where;
}

export class Puzzles {
  constructor(about) {
    this.busy = false;
    this.board = new Board($("puzzle-board"), about.points, {
      onPick: (point) => this.pick(point), onCancel: () => this.cancel(), mills: about.mills,
    });
    $("puzzle-dialog").addEventListener("cancel", (event) => {
      // Esc first forgets the points picked.
      if (!this.choice || (!this.choice.origin && !this.choice.to)) return;
      event.preventDefault();
      this.cancel();
    });
    for (const [id, action] of [
      ["puzzle-next", () => this.load(true)], ["puzzle-hint", () => this.hint()],
      ["puzzle-solution", () => this.solve()],
    ]) $(id).addEventListener("click", () => this.act(action));
  }

  /** Resolves with "analyse" when the position, which is in `shown`, is to be analysed. */
  open({ rules }, lessons) {
    if (lessons !== this.lessons) this.shown = null;
    this.lessons = lessons;
    this.number = 0;
    this.rules = rules;
    $("puzzle-title").textContent = lessons ? "Learn from the mistakes" : "Puzzle";
    $("puzzle-next").textContent = lessons ? "Next mistake" : "Next puzzle";
    $("puzzle-stats").hidden = lessons;
    this.act(() => this.load(false));
    return show($("puzzle-dialog"));
  }

  /** Runs one action at a time and shows its error. */
  async act(action) {
    if (this.busy) return;
    this.busy = true;
    try {
      await action();
    } catch (error) {
      this.say(error.message, "fault");
      this.choice = new Choice([]);
    }
    this.busy = false;
  }

  say(text, kind = "") {
    $("puzzle-note").textContent = text;
    $("puzzle-note").className = `note ${kind}`;
  }

  async load(next) {
    if (next || !this.shown) this.say("Looking for a puzzle …");
    if (this.lessons) {
      if (next) this.number += 1;
      this.take(await api("lesson", { number: this.number }));
      this.say(`${this.number + 1} of ${this.shown.lesson.count}.`);
    } else {
      this.take(await api("puzzle", { next, ...this.rules }));
      if (next || !this.shown.started) this.say("");
    }
    if (this.board.flipped !== (this.shown.solver === 1)) this.board.flip();
  }

  /** Shows a puzzle that the server sent. */
  take(shown) {
    this.shown = shown;
    this.choice = new Choice(shown.legal);
    this.draw(shown.position, shown.last);
    const { player, rules } = shown;
    $("puzzle-task").textContent = shown.task;
    $("puzzle-rules").textContent = circumstances(shown);
    $("puzzle-rules").title = sentences(rules.fields).join(" ");
    const sign = shown.change > 0 ? "+" : "";
    const change = shown.change === null ? "" : ` (${sign}${shown.change})`;
    $("puzzle-rating").textContent = String(shown.rating);
    $("puzzle-player").textContent = `${player.rating}${change}`;
    $("puzzle-streak").textContent = `${player.streak} (best ${player.best})`;
    $("puzzle-count").textContent = `${player.solved} of ${player.tried}`;
    $("puzzle-hint").disabled = $("puzzle-solution").disabled = shown.solved;
    if (shown.change !== null && player.save_error) tell(player.save_error);
    const { lesson } = shown;
    $("puzzle-next").disabled = Boolean(lesson) && lesson.number + 1 >= lesson.count;
    $("puzzle-next").classList.toggle("main", shown.solved);
  }

  draw({ white, black, side }, last) {
    this.board.draw({ white, black, side, last, choice: this.choice, values: {} });
    this.board.drawArrows([]);
  }

  pick(point) {
    if (this.busy || !this.choice) return;
    const move = this.choice.pick(point);
    this.draw(this.shown.position, this.shown.last);
    if (this.choice.step === "remove") {
      this.say(`Mill! Remove a ringed man (${[...this.choice.points].sort().join(", ")}).`);
    }
    if (move !== null) this.act(() => this.play(move));
  }

  cancel() {
    this.choice.clear();
    this.draw(this.shown.position, this.shown.last);
  }

  async play(move) {
    const answer = await api("try", { moves: [move] });
    sound(move.includes("x") ? "mill" : "move");
    if (!answer.right) {
      await pause();
      this.take(answer);
      const why = { win: "does not win", draw: "loses", better: "is not good enough" }[answer.goal];
      this.say(`${words(move)}: that ${why}. Try again.`, "wrong");
      return;
    }
    this.choice = new Choice([]);
    this.draw(answer.between, answer.between.last);
    if (answer.solved) {
      this.take(answer);
      const well = this.lessons || answer.change > 0;
      this.say(well ? "Right! Solved." : "Right. That is the solution.", "right");
      sound("end");
      return;
    }
    this.say("Right! Go on.", "right");
    await pause();
    this.take(answer);
  }

  async hint() {
    const answer = await api("hint");
    this.take(answer);
    const { man, letter, move } = answer.hint;
    if (man) {
      this.choice.pick(man);
      this.draw(answer.position, answer.last);
      this.say(`Hint: move the man on ${man}.`);
    } else if (letter) this.say(`Hint: place a man on a point of the letter ${letter}.`);
    else {
      this.board.drawArrows([parse(move)]);
      this.say(`Hint: ${words(move)}.`);
    }
  }

  async solve() {
    const answer = await api("solution");
    this.take(answer);
    this.board.drawArrows([parse(answer.line[0])]);
    const moves = answer.line.map((move, index) =>
      `${COLOURS[(answer.solver + index) % 2]}: ${words(move)}`);
    this.say(`The solution. ${moves.join("; ")}.`);
  }
}
