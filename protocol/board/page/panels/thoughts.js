// What an engine thinks: the evaluation bar and the variations.

import { $, element } from "../dom.js";

function drawBar(share, text) {
  const percent = Math.round(share * 100);
  $("bar-white").style.height = `${percent}%`;
  $("bar").setAttribute("aria-valuenow", percent);
  $("bar").title = `${text} (White ${percent} %)`;
}

/**
 * The evaluation bar and the variations. `judged` is the review's judgement of the last move;
 * `stale` says that there is an evaluation, but of another position.
 */
export function drawInfo(info, state, flipped, judged, stale) {
  $("bar").classList.toggle("flipped", flipped);
  const result = { "1-0": 1, "0-1": 0, "1/2-1/2": 0.5 }[state.result];
  if (state.over && state.cursor === state.moves.length) drawBar(result, state.result);
  else if (info && info.share !== null) drawBar(info.share, info.text);
  else if (judged) drawBar(judged.value, judged.text);
  else if (!stale) drawBar(0.5, "not yet evaluated");
  if (!info) {
    $("lines").replaceChildren();
    $("facts").textContent = state.analysing ? "" : "Turn on analysis to see the best moves.";
    return;
  }
  if (info.share === null) return;
  const facts = [`${info.part}: depth ${info.depth ?? "?"}`];
  if (info.nodes) facts.push(`${short(info.nodes)} nodes`);
  if (info.nps) facts.push(`${short(info.nps)}/s`);
  $("facts").textContent = facts.join(" · ");
  $("lines").replaceChildren(...info.lines.map((line) => {
    const text = line.moves.join(" ");
    return element("li", { title: text }, element("b", {}, line.text), element("span", {}, text));
  }));
}

function short(number) {
  for (const [unit, size] of [["G", 1e9], ["M", 1e6], ["k", 1e3]]) {
    if (number >= size) return `${(number / size).toFixed(number >= 10 * size ? 0 : 1)} ${unit}`;
  }
  return String(number);
}
