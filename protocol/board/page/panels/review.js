// The review of the game: its graph and its verdicts.

import { $, svg } from "../dom.js";

/** Whether a review has not come to its end. */
export const isRunning = (review) => review !== null && review.judgements.length < review.moves;

/** What was judged of the move shown. */
export const judgementOf = (review, state) =>
  (review ? review.judgements[review.nodes.indexOf(state.node)] : undefined);

/** Takes news of a review, of which judgements come one by one. */
export function takeReview(review, news) {
  if (!news || news.whole) return news;
  review.judgements.push(...news.judgements);
  return review;
}

/** The review: a graph of White's expected score after each move, and a verdict. */
export function drawReview(review, state, onGo) {
  $("graph").hidden = $("verdict").hidden = !review;
  $("review").textContent = isRunning(review) ? "Stop" : "Review";
  if (!review) return;
  const width = Math.max(1, review.moves);
  const drawing = svg("svg", {
    viewBox: `0 0 ${width} 100`, preserveAspectRatio: "none", role: "img",
    "aria-label": "White's expected score after each move",
  });
  const places = review.judgements.map((judged, at) => `${at + 1},${100 - judged.value * 100}`);
  if (places.length) {
    drawing.append(svg("polygon", { class: "area",
      points: `0,100 0,${places[0].split(",")[1]} ${places.join(" ")} ${places.length},100` }));
  }
  drawing.append(svg("line", { class: "half", x1: 0, x2: width, y1: 50, y2: 50 }));
  const here = review.nodes.indexOf(state.node) + 1;
  if (here) drawing.append(svg("line", { class: "here", x1: here, x2: here, y1: 0, y2: 100 }));
  drawing.addEventListener("click", (event) => {
    const box = drawing.getBoundingClientRect();
    const ply = Math.round(((event.clientX - box.left) / box.width) * width);
    onGo(ply ? review.nodes[ply - 1] : 0);
  });
  $("graph").replaceChildren(drawing);
  $("verdict").textContent = verdictOn(review, review.judgements[here - 1]);
}

/** The verdict on the move shown, or on the whole game. */
function verdictOn(review, judged) {
  const count = (name) => review.judgements.filter((one) => one.name === name).length;
  const done = review.judgements.length;
  if (isRunning(review)) return `Judging move ${done + 1} of ${review.moves} …`;
  if (judged && judged.sentence) return `${judged.move}: ${judged.sentence} (${judged.text})`;
  if (judged) return `${judged.move}: ${judged.text}`;
  return `Blunders ${count("blunder")}, mistakes ${count("mistake")}, `
    + `inaccuracies ${count("inaccuracy")}`;
}
