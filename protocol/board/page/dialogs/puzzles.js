// The dialog of puzzles, and of a reviewed game's mistakes, with its own board.

import { $ } from "../dom.js";
import { parseMove } from "../drawing.js";
import { api } from "../net.js";
import { showMessage } from "../page.js";
import { sentences, title } from "../rules.js";
import { sound } from "../sound.js";
import { fromServer, SIDES, t } from "../text.js";
import { BoardDialog, replyDelay } from "./board_dialog.js";
import { fill, fillTerms, on, show } from "./form.js";

const THEMES = [
  "placing", "moving", "flying", "draw", "mill", "removal", "quiet", "block", "fork", "double",
  "trap", "long",
];
const pause = () => new Promise((resolve) => { setTimeout(resolve, replyDelay()); });

/** Returns the facts that the board does not show: the rules, men in hand, and who may fly. */
function facts({ rules, position }) {
  const parts = [t("puzzle.rules", { rules: title(rules.variant) })];
  position.hands.forEach((count, side) => {
    if (count) parts.push(t("puzzle.in-hand", { side: SIDES[side], count }));
  });
  position.flying.forEach((flies, side) => {
    if (flies) parts.push(t("puzzle.flies", { side: SIDES[side] }));
  });
  return parts.join(" · ");
}

/** Returns a move in words. */
function describe(move) {
  const { origin, to, removed } = parseMove(move);
  const where = t(origin ? "puzzle.move" : "puzzle.place", { from: origin, to });
  const men = removed.join(t("puzzle.and"));
  return men ? t("puzzle.removing", { move: where, men }) : where;
}

export class Puzzles extends BoardDialog {
  constructor(about) {
    super("puzzle", about);
    this.busy = false;
    const next = () => this.act(() => this.load(true));
    on("click", {
      "puzzle-next": next, "puzzle-hint": () => this.act(() => this.hint()),
      "puzzle-solution": () => this.act(() => this.solve()),
    });
    fill($("puzzle-level"), [[t("puzzle.level.mine"), "0"]], "0");
    on("change", { "puzzle-theme": next, "puzzle-level": next });
  }

  /** Resolves with "analyse" if the user wants to analyse the position in `shown`. */
  open({ rules }, lessons) {
    if (lessons !== this.lessons) this.shown = null;
    this.lessons = lessons;
    this.number = 0;
    this.rules = rules;
    $("puzzle-title").textContent = t(lessons ? "moves.learn" : "puzzle");
    $("puzzle-next").textContent = t(lessons ? "puzzle.next.mistake" : "puzzle.next");
    $("puzzle-stats").hidden = $("puzzle-filter").hidden = lessons;
    this.act(() => this.load(false));
    return show("puzzle");
  }

  /** Runs an action and shows its error; ignores it while another one runs. */
  async act(action) {
    if (this.busy) return;
    this.busy = true;
    try {
      await action();
    } catch (error) {
      this.note(error.message, "fault");
      if (this.view) this.showPosition(this.view, []);
    }
    this.busy = false;
  }

  async load(next) {
    if (next || !this.shown) this.note(t("puzzle.loading"));
    if (this.lessons) {
      if (next) this.number += 1;
      this.showPuzzle(await api("lesson", { number: this.number }));
      const { count } = this.shown.lesson;
      this.note(`${t("puzzle.number", { number: this.number + 1, count })}.`);
    } else {
      const theme = $("puzzle-theme").value;
      const level = Number($("puzzle-level").value);
      this.showPuzzle(await api("puzzle", { next, ...this.rules, theme, level }));
      this.listChoices(this.shown, theme, level);
      // A puzzle that was partly solved before the dialog was closed keeps its note.
      if (next || !this.shown.started) this.note("");
    }
    if (this.board.flipped !== (this.shown.solver === 1)) this.board.flip();
  }

  /**
   * Lists themes and ranges of ratings; a choice that would leave no puzzle is disabled. The first
   * range has all puzzles; in it the server chooses a puzzle near the user's rating. The last range
   * has no upper end.
   */
  listChoices({ counts, ranges }, theme, level) {
    const themes = THEMES.filter((name) => counts[name]).map((name) =>
      [t("theme.count", { name: t(`theme.${name}`), count: counts[name][level] }), name]);
    fill($("puzzle-theme"), [[t("theme.any"), ""], ...themes], theme);
    fill($("puzzle-level"), ranges.map(([low, high], index) => [
      index ? t(high > 9000 ? "puzzle.level.above" : "puzzle.level.range", { low, high })
        : t("puzzle.level.mine"), String(index),
    ]), String(level));
    for (const option of $("puzzle-theme").options) option.disabled = !counts[option.value][level];
    for (const option of $("puzzle-level").options) option.disabled = !counts[theme][option.value];
  }

  /** Shows a puzzle that the server sent. */
  showPuzzle(shown) {
    this.shown = shown;
    this.showPosition({ ...shown.position, last: shown.last }, shown.legal);
    const { player, rules } = shown;
    $("puzzle-task").textContent = fromServer(shown.task);
    $("puzzle-rules").textContent = facts(shown);
    $("puzzle-rules").title = sentences(rules.fields).join(" ");
    // Before the end the themes would be hints.
    const hasThemes = shown.solved && shown.themes.length > 0;
    $("puzzle-themes").hidden = !hasThemes;
    $("puzzle-themes").textContent = hasThemes
      ? t("puzzle.themes", { themes: shown.themes.map((theme) => t(`theme.${theme}`)).join(", ") })
      : "";
    const sign = shown.change > 0 ? "+" : "";
    const change = shown.change === null ? "" : ` (${sign}${shown.change})`;
    const { streak, best, solved, tried } = player;
    fillTerms($("puzzle-stats"), [
      [t("puzzle.rating"), shown.rating],
      [t("puzzle.player"), `${player.rating}${change}`],
      [t("puzzle.streak"), t("puzzle.streak.best", { count: streak, best })],
      [t("puzzle.count"), t("puzzle.number", { number: solved, count: tried })],
    ]);
    $("puzzle-hint").disabled = $("puzzle-solution").disabled = shown.solved;
    if (shown.change !== null && player.save_error) showMessage(fromServer(player.save_error));
    const { lesson } = shown;
    $("puzzle-next").disabled = Boolean(lesson) && lesson.number + 1 >= lesson.count;
    $("puzzle-next").classList.toggle("main", shown.solved);
  }

  pick(point) {
    if (!this.busy) super.pick(point);
  }

  removalText() {
    return t("puzzle.mill", { men: [...this.choice.points].sort().join(", ") });
  }

  play(move) {
    return this.act(() => this.tryMove(move));
  }

  async tryMove(move) {
    const answer = await api("try", { moves: [move] });
    sound(move.includes("x") ? "mill" : "move");
    if (!answer.right) {
      await pause();
      this.showPuzzle(answer);
      this.note(t(`puzzle.wrong.${answer.goal}`, { move: describe(move) }), "wrong");
      return;
    }
    this.showPosition(answer.between, []);
    if (answer.solved) {
      this.showPuzzle(answer);
      // The rating does not rise after a hint or a wrong move.
      const isFirstTry = this.lessons || answer.change > 0;
      this.note(t(isFirstTry ? "puzzle.solved" : "puzzle.was-solution"), "right");
      sound("end");
      $("puzzle-next").focus();
      return;
    }
    this.note(t("puzzle.go-on"), "right");
    await pause();
    this.showPuzzle(answer);
  }

  async hint() {
    const answer = await api("hint");
    this.showPuzzle(answer);
    const { man, letter, move } = answer.hint;
    if (man) {
      this.choice.pick(man);
      this.draw();
      this.note(t("puzzle.hint.man", { point: man }));
    } else if (letter) this.note(t("puzzle.hint.file", { file: letter }));
    else {
      this.board.drawArrows([parseMove(move)]);
      this.note(t("hint.move", { move: describe(move) }));
    }
  }

  async solve() {
    const answer = await api("solution");
    this.showPuzzle(answer);
    this.board.drawArrows([parseMove(answer.line[0])]);
    const moves = answer.line.map((move, index) => t("puzzle.by", {
      side: SIDES[(answer.solver + index) % 2], move: describe(move),
    }));
    this.note(t("puzzle.line", { moves: moves.join("; ") }));
  }
}
