// The review of the game: its graph and its verdicts.

import { $, COLOURS, counted, element, svg } from "../dom.js";
import { usersOf } from "./players.js";

/** Milliseconds between two drawings of the graph while a review goes on. */
const PAUSE = 300;

/** Whether a review has not come to its end. */
export const isRunning = (review) => review !== null && review.judgements.length < review.moves;

/** The judgement of the move shown. */
export const judgementOf = (review, state) =>
  (review ? review.judgements[review.places.get(state.node)] : undefined);

/** Takes the next judgements of a review, which come one by one. */
export function takeReview(review, update) {
  if (update && update.whole) {
    return { ...update, places: new Map(update.nodes.map((node, place) => [node, place])) };
  }
  if (update) {
    review.judgements.push(...update.judgements);
    review.sums = update.sums;
  }
  return update && review;
}

/** The review: a graph of White's expected score after each move, and a verdict. */
export class ReviewPanel {
  /** `onGo` is called with the number of the node that is clicked. */
  constructor(onGo) {
    this.review = null;
    this.drawn = 0;
    this.next = 0;
    this.graph = svg("svg", {
      viewBox: "0 0 1 100", preserveAspectRatio: "none", role: "img",
      "aria-label": "White's expected score after each move",
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
    $("graph").hidden = $("verdict").hidden = !review;
    $("review").textContent = isRunning(review) ? "Stop" : "Review";
    if (review !== this.review) this.drawn = 0;
    this.review = review;
    $("sums").hidden = !review;
    if (!review) $("learn").hidden = true;
    if (!review) return;
    this.drawArea();
    const place = review.places.get(state.node);
    this.here.setAttribute("visibility", place === undefined ? "hidden" : "visible");
    for (const end of ["x1", "x2"]) this.here.setAttribute(end, (place ?? 0) + 1);
    drawSums(review);
    $("learn").hidden = isRunning(review) || !mistakes(review, state).length;
    $("verdict").textContent = verdictOn(review, judgementOf(review, state));
  }

  /** Draws the area that grows with the review, of a long game not with every judgement. */
  drawArea() {
    const { judgements, moves } = this.review;
    const now = performance.now();
    const early = this.drawn && judgements.length < moves && now < this.next;
    if (judgements.length === this.drawn || early) return;
    this.drawn = judgements.length;
    this.next = now + PAUSE;
    const heights = judgements.map((judged) => 100 - judged.value * 100);
    const places = heights.map((height, at) => `${at + 1},${height}`).join(" ");
    this.area.setAttribute("points", `0,100 0,${heights[0]} ${places} ${heights.length},100`);
    this.graph.setAttribute("viewBox", `0 0 ${Math.max(1, moves)} 100`);
    this.half.setAttribute("x2", moves);
  }
}

/** The mistakes to learn from: of the only user, else of both sides. */
function mistakes(review, state) {
  const users = usersOf(state);
  return review.judgements.filter(({ name, side }) =>
    name && (users.length !== 1 || COLOURS[users[0]].toLowerCase() === side));
}

/** How accurately each side played, and its mistakes. */
function drawSums({ sums }) {
  const key = JSON.stringify(sums);
  if ($("sums").dataset.key === key) return;
  $("sums").dataset.key = key;
  $("sums").replaceChildren(...sums.flatMap(({ accuracy, moves, counts }, side) => [
    element("dt", {}, COLOURS[side]),
    element("dd", {}, moves ? `${accuracy.toFixed(1)} % accurate, ${listed(counts)}` : "–"),
  ]));
}

function listed({ blunder, mistake, inaccuracy }) {
  const last = `${inaccuracy} ${inaccuracy === 1 ? "inaccuracy" : "inaccuracies"}`;
  return `${counted(blunder, "blunder")}, ${counted(mistake, "mistake")}, ${last}`;
}

/** The verdict on the move shown, or on the whole game. */
function verdictOn(review, judged) {
  const done = review.judgements.length;
  if (isRunning(review)) return `Judging move ${done + 1} of ${review.moves} …`;
  if (judged && judged.sentence) {
    const cost = judged.cost && ` ${judged.cost}.`;
    return `${judged.move}: ${judged.sentence} (${judged.text}).${cost}`;
  }
  if (judged) return `${judged.move}: ${judged.text}`;
  const count = (name) => review.judgements.filter((one) => one.name === name).length;
  return `Blunders ${count("blunder")}, mistakes ${count("mistake")}, `
    + `inaccuracies ${count("inaccuracy")}`;
}
