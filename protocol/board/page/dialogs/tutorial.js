// Learn Mill: small boards to touch, each with one rule of the game.

import { playMoves } from "../board/board.js";
import { $ } from "../dom.js";
import { parseMove } from "../drawing.js";
import { sound } from "../sound.js";
import { t } from "../text.js";
import { BoardDialog, replyDelay } from "./board_dialog.js";
import { on, show } from "./form.js";

/** Key of the number of lessons done, in the browser's storage. */
const DONE = "lessons";

const from = (origin, ...targets) => targets.map((target) => `${origin}-${target}`);
const removing = (move, ...men) => men.map((man) => `${move}x${man}`);

/**
 * The lessons: the men, and for each move of the user the moves `offered`, and Black's `reply`.
 * Without `offered`, a man may be placed on every empty point. With `origin`, the man there may
 * also move to every other empty point. If there is a `goal`, only moves that match it end the
 * lesson.
 */
export const LESSONS = [
  { name: "place", white: [], black: [], moves: [{}] },
  {
    name: "mill", white: ["a7", "d7"], black: ["b4", "f4", "d2"],
    moves: [{ offered: removing("g7", "b4", "f4", "d2") }],
  },
  {
    name: "slide", white: ["d6", "b4", "f2"], black: ["f4", "d3", "a1"],
    moves: [{
      offered: [
        ...from("d6", "d7", "b6", "f6", "d5"), ...from("b4", "a4", "c4", "b6", "b2"),
        ...from("f2", "d2"),
      ],
    }],
  },
  {
    name: "reopen", white: ["a7", "d7", "g7", "b2"], black: ["d5", "f4", "e3", "c3"],
    moves: [
      { offered: from("d7", "d6"), reply: "f4-f2" },
      { offered: removing("d6-d7", "d5", "f2", "e3", "c3") },
    ],
  },
  {
    name: "fly", white: ["a1", "b6", "d6"], black: ["d7", "g4", "c4", "d2"],
    moves: [{ origin: "a1", offered: removing("a1-f6", "d7", "g4", "c4", "d2") }],
    goal: /^a1-f6/,
  },
  {
    name: "blocked", white: ["b4", "g7", "b6", "f6", "d5", "d1"], black: ["a7", "a4", "d7", "d6"],
    moves: [{ offered: from("d1", "a1", "g1", "d2") }], goal: /^d1-a1/,
  },
];

export class Tutorial extends BoardDialog {
  constructor(about) {
    super("tutorial", about);
    on("click", {
      "tutorial-next": () => {
        if (this.number + 1 < LESSONS.length) this.begin(this.number + 1);
        else $("tutorial-dialog").close("play");
      },
      "tutorial-back": () => this.begin(this.number - 1),
      "tutorial-again": () => this.begin(this.number),
    });
  }

  /** Opens the first lesson that is not done; resolves with "play" if the user wants to play. */
  open() {
    const done = Number(localStorage.getItem(DONE)) || 0;
    this.begin(done % LESSONS.length);
    return show("tutorial");
  }

  /** Shows a lesson from its start. */
  begin(number) {
    clearTimeout(this.timer);
    this.number = number;
    this.step = 0;
    const { name, white, black } = LESSONS[number];
    this.offerMoves({ white, black, side: 0, last: null });
    $("tutorial-step").textContent = t("puzzle.number", {
      number: number + 1, count: LESSONS.length,
    });
    $("tutorial-task").textContent = t(`lesson.${name}`);
    this.explain(t(`lesson.${name}.task`));
    $("tutorial-back").disabled = number === 0;
    $("tutorial-next").classList.remove("main");
    $("tutorial-next").textContent = t(
      number + 1 < LESSONS.length ? "lesson.next" : "lesson.play");
  }

  /** Shows a position with the moves of the current step. */
  offerMoves(view) {
    const { moves } = LESSONS[this.number];
    const { origin, offered = [] } = moves[this.step];
    const occupied = [...view.white, ...view.black, ...offered.map((move) => parseMove(move).to)];
    // Any point is allowed in a lesson without offered moves, and as the target of `origin`.
    const otherPoints = offered.length && !origin ? []
      : this.board.points.filter((point) => !occupied.includes(point));
    const otherMoves = otherPoints.map((point) => (origin ? `${origin}-${point}` : point));
    this.showPosition(view, [...offered, ...otherMoves]);
  }

  removalText() {
    return t("lesson.remove");
  }

  /** Shows what to do. */
  explain(text) {
    this.task = text;
    this.note(text);
  }

  pick(point) {
    const { moves, points, step } = this.choice;
    const isWrong = moves.length && !points.has(point) && !this.choice.canLift(point);
    super.pick(point);
    const task = step === "remove" ? this.removalText() : this.task;
    if (isWrong) this.note(`${t("lesson.miss", { point })} ${task}`, "wrong");
  }

  /** Plays a move, then Black's reply; or shows that the lesson is done. */
  play(move) {
    const { name, moves, goal } = LESSONS[this.number];
    this.showPosition(playMoves(this.view, [move]), []);
    sound(move.includes("x") ? "mill" : "move");
    if (goal && !goal.test(move)) {
      this.note(t(`lesson.${name}.other`), "wrong");
      return;
    }
    const { reply } = moves[this.step];
    if (!reply) {
      this.note(t(`lesson.${name}.done`), "right");
      localStorage.setItem(DONE, this.number + 1);
      $("tutorial-next").classList.add("main");
      return;
    }
    this.explain(t(`lesson.${name}.reply`));
    this.timer = setTimeout(() => {
      this.step += 1;
      this.offerMoves(playMoves(this.view, [reply]));
    }, replyDelay());
  }
}
