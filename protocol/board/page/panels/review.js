// The review of the game: graph, accuracy, and judgements of moves.

import { fillTerms } from "../dialogs/form.js";
import { $, COLOURS, svg } from "../dom.js";
import { counted, decimal, fromServer, SIDES, t } from "../text.js";
import { page } from "../page.js";
import { usersOf } from "./players.js";

/** Minimum milliseconds between two drawings of the graph of a running review. */
const PAUSE = 300;

/** Least loss of a losing mistake, and the expected score below which a side is lost. */
const LOSING = 0.15;
const LOST = 0.25;

/** Returns whether a review is running. */
export const isRunning = (review) => review !== null && review.judgements.length < review.moves;

/** Returns the judgement of the move shown, or undefined. */
export const judgementOf = (review, state) =>
  (review ? review.judgements[review.indices.get(state.node)] : undefined);

/** Returns the server's review with the indices of its nodes, or null. */
export const indexed = (review) => review
  && { ...review, indices: new Map(review.nodes.map((node, index) => [node, index])) };

/** The review panel: a graph of White's expected score after each move, and a verdict. */
export class ReviewPanel {
  /** `onGo` is called with the number of a clicked node. */
  constructor(onGo) {
    this.review = null;
    /** The game and the number of judgements in the graph, as a text. */
    this.drawn = "";
    this.nextDrawing = 0;
    this.graph = svg("svg", {
      viewBox: "0 0 1 100", preserveAspectRatio: "none", role: "img",
      "aria-label": t("review.graph"),
    });
    this.area = svg("polygon", { class: "area" });
    this.half = svg("line", { class: "half", x1: 0, y1: 50, y2: 50 });
    this.here = svg("line", { class: "here", y1: 0, y2: 100 });
    this.graph.append(this.area, this.half, this.here);
    this.graph.addEventListener("click", (event) => {
      const box = this.graph.getBoundingClientRect();
      const ply = Math.round(((event.clientX - box.left) / box.width) * this.review.moves);
      onGo(ply ? this.review.nodes[ply - 1] : 0);
    });
    $("graph").append(this.graph);
  }

  draw(review, state) {
    $("graph").hidden = $("verdict").hidden = $("sums").hidden = !review;
    $("review").textContent = t(isRunning(review) ? "moves.stop" : "moves.review");
    this.review = review;
    $("learn").hidden = !review || isRunning(review) || !mistakes(review, state).length;
    if (!review) return;
    this.drawArea(state.game);
    const index = review.indices.get(state.node);
    this.here.setAttribute("visibility", index === undefined ? "hidden" : "visible");
    for (const end of ["x1", "x2"]) this.here.setAttribute(end, (index ?? 0) + 1);
    drawSums(review);
    if (page.seeksReview) $("graph").scrollIntoView({ block: "center" });
    page.seeksReview = false;
    $("verdict").textContent = verdictOn(review, state);
  }

  /** Draws the graph; at most every `PAUSE` while the review runs, because games may be long. */
  drawArea(game) {
    const { judgements, moves } = this.review;
    const key = `${game} ${moves} ${judgements.length}`;
    const time = performance.now();
    const isTooEarly = judgements.length && judgements.length < moves && time < this.nextDrawing;
    if (key === this.drawn || isTooEarly) return;
    this.drawn = key;
    this.nextDrawing = judgements.length ? time + PAUSE : 0;
    const heights = judgements.map((judged) => 100 - judged.value * 100);
    const points = heights.map((height, index) => `${index + 1},${height}`).join(" ");
    const area = `0,100 0,${heights[0]} ${points} ${heights.length},100`;
    this.area.setAttribute("points", heights.length ? area : "");
    this.graph.setAttribute("viewBox", `0 0 ${Math.max(1, moves)} 100`);
    this.half.setAttribute("x2", moves);
  }
}

/** Returns the mistakes to learn from: those of the only user, otherwise of both sides. */
export function mistakes(review, state) {
  const users = usersOf(state);
  return review.judgements.filter(({ name, side }) =>
    name && (users.length !== 1 || COLOURS[users[0]].toLowerCase() === side));
}

/** Draws each side's accuracy and number of mistakes. */
function drawSums({ sums }) {
  const key = JSON.stringify(sums);
  if ($("sums").dataset.key === key) return;
  $("sums").dataset.key = key;
  fillTerms($("sums"), sums.map(({ accuracy, counts }, side) => [SIDES[side], [
    t("review.accuracy", { accuracy: accuracy === null ? "–" : decimal(accuracy, 0) }),
    ...["blunder", "mistake", "inaccuracy"].filter((name) => counts[name])
      .map((name) => counted(name, counts[name])),
  ].join(", ")]));
}

/** Returns the moves that turned a game that was not lost into a lost one, as a sentence. */
export function losingMistakes(review, state) {
  const losing = mistakes(review, state).filter(({ loss, side, value }) => {
    const after = side === "white" ? value : 1 - value;
    return loss >= LOSING && after < LOST && after + loss >= LOST;
  });
  const moves = losing.map(({ number }) => number).join(", ");
  return losing.length ? `${counted("losing", losing.length)}: ${t("review.moves", { moves })}`
    : t("review.no-losing");
}

/** Returns the progress of a running review. */
export const progress = ({ judgements, moves }) =>
  t("review.judging", { number: judgements.length + 1, count: moves });

/** Returns the verdict on the move shown, or on the whole game. */
function verdictOn(review, state) {
  const judged = judgementOf(review, state);
  if (isRunning(review)) return progress(review);
  if (judged && judged.sentence) {
    const cost = judged.cost && ` ${fromServer(judged.cost)}.`;
    return `${judged.move}: ${fromServer(judged.sentence)} (${fromServer(judged.text)}).${cost}`;
  }
  if (judged) return `${judged.move}: ${fromServer(judged.text)}`;
  return losingMistakes(review, state);
}
