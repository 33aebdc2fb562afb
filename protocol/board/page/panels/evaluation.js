// The evaluation bar, variations and proven values of the position shown.

import { $, COLOURS, element } from "../dom.js";
import { parse } from "../drawing.js";
import { symbol } from "../board/marks.js";

const WORDS = { win: "wins", draw: "draws", loss: "loses" };
const RESULTS = { "1-0": 1, "0-1": 0, "1/2-1/2": 0.5 };

/** The bar, with a share of it from 0 to 1 for White, and what it means in words. */
function drawBar(share, text) {
  const percent = Math.round(share * 100);
  $("bar-white").style.setProperty("--share", `${percent}%`);
  $("bar").setAttribute("aria-valuenow", percent);
  $("bar").setAttribute("aria-valuetext", `${text}, White ${percent} percent`);
  $("bar").title = `${text} (White ${percent} %)`;
}

/** The proven value of the position shown: its words and White's share, or null. */
function proven(state) {
  const here = state.proven && state.proven.here;
  if (!here) return null;
  if (here.value === "draw") return ["Draw, proven", 0.5];
  const winner = here.value === "win" ? state.position.side : 1 - state.position.side;
  return [`${COLOURS[winner]} wins, proven`, 1 - winner];
}

/** The bar's text, share and source; null if nothing changed. */
function verdict(info, state, judged) {
  // A game that was resigned is over, but an analysis asks what its last position is worth.
  const resigned = state.over && state.node === state.live && !state.analysing;
  const end = state.position.end || (resigned ? state : null);
  if (end && end.result in RESULTS) {
    return [end.reason || end.result, RESULTS[end.result], "The game is over."];
  }
  const known = proven(state);
  if (known) return [...known, "From the tables of perfect play."];
  // A level's score during play is no verdict on the position.
  if (info && info.share !== null && info.part === "Analysis") {
    return [info.text, info.share, null];
  }
  return judged ? [judged.text, judged.value, "From the review."] : null;
}

/** The panel of evaluations; `on` has what happens to its lines: `hover`, `leave` and `play`. */
export class Evaluation {
  constructor(on) {
    this.on = on;
    this.held = false;
    this.explored = "";
    for (const list of [$("lines"), $("explorer")]) {
      list.addEventListener("pointerover", (event) => this.touch(event));
      list.addEventListener("focusin", (event) => this.touch(event));
      list.addEventListener("pointerleave", () => this.release());
      list.addEventListener("focusout", () => this.release());
      list.addEventListener("click", (event) => {
        const moves = this.movesOf(event);
        if (moves) this.release();
        if (moves) this.on.play(moves);
      });
    }
  }

  /** The moves up to the one under the pointer or in focus. */
  movesOf(event) {
    const button = event.target.closest("button[data-moves]");
    return button && button.dataset.moves.split(" ");
  }

  touch(event) {
    const moves = this.movesOf(event);
    if (!moves) return;
    // A line that changes under the pointer could not be clicked.
    this.held = true;
    this.on.hover(moves);
  }

  release() {
    if (!this.held) return;
    this.held = false;
    this.on.leave();
  }

  /** `judged` is the review's judgement of the last move; `stale`: all that is known is old. */
  draw(info, state, flipped, judged, stale) {
    const { reveals } = state;
    $("bar").classList.toggle("flipped", flipped);
    $("bar").classList.toggle("off", !reveals);
    $("evaluation").setAttribute("aria-checked", String(reveals));
    $("line-count").disabled = !reveals;
    if (document.activeElement !== $("line-count")) $("line-count").value = String(state.lines);
    const found = verdict(info, state, judged);
    if (found) drawBar(found[1], found[0]);
    else if (!stale) drawBar(0.5, "Not yet evaluated");
    if (!reveals || this.place !== state.position.text) this.release();
    this.place = state.position.text;
    this.write($("worth"), reveals && found ? found[0] : "");
    this.write($("facts"), reveals ? this.facts(info, found) : "Off: nothing is given away.");
    // Lines that come and go would move all below them, away from a finger.
    const room = reveals && !state.position.end ? state.lines : 0;
    $("lines").style.setProperty("--room", room);
    if (this.held) return;
    this.drawLines(reveals && info ? info : null);
    this.drawExplorer(reveals ? state.proven : null, state);
  }

  write(place, text) {
    if (place.textContent !== text) place.textContent = text;
  }

  facts(info, found) {
    const parts = found && found[2] ? [found[2]] : [];
    if (info && info.share !== null) {
      parts.push(`${info.name}: depth ${info.depth ?? "?"}`);
      if (info.nodes) parts.push(`${short(info.nodes)} positions`);
      if (info.nps) parts.push(`${short(info.nps)}/s`);
    }
    return parts.join(" · ");
  }

  /** Redraws the lines in place: what is replaced could be neither clicked nor pointed at. */
  drawLines(info) {
    const lines = info && info.share !== null ? info.lines : [];
    fit($("lines"), lines.length, () => element("li", {}, element("b"), element("span")));
    lines.forEach((line, index) => {
      const [score, steps] = $("lines").children[index].children;
      this.write(score, line.text);
      fit(steps, line.moves.length, () => element("button", { class: "step" }));
      line.moves.forEach((move, at) => {
        this.write(steps.children[at], move);
        steps.children[at].dataset.moves = line.moves.slice(0, at + 1).join(" ");
      });
    });
  }

  drawExplorer(found, state) {
    $("explorer-box").hidden = !found;
    if (!found) return;
    const side = COLOURS[state.position.side];
    const key = JSON.stringify([found, side]);
    if (this.explored === key) return;
    this.explored = key;
    $("explorer").replaceChildren(...found.moves.map((one) => {
      const button = element(
        "button", { class: `known ${one.value || "unknown"}`, "data-moves": one.move },
        symbol(one.value), element("span", { class: "move" }, one.move),
        element("span", { class: "worth" }, one.value ? `${side} ${WORDS[one.value]}` : "unknown"),
      );
      if (one.replies) {
        const [holding, all] = one.replies;
        const title = `${holding} of ${all} replies hold the value against it`;
        button.append(element("span", { class: "replies", title }, `${holding} of ${all} hold`));
      }
      if (one.depth) {
        const text = `${one.depth}${one.depth === 255 ? " or more" : ""}`;
        button.append(element("span", { class: "depth" }, `in ${text}`));
        button.title = `The next removal or the end comes in ${text} moves, counting both sides`;
      }
      return element("li", {}, button);
    }));
  }
}

/** Gives an element `count` children, creating those that are missing. */
function fit(place, count, make) {
  while (place.children.length > count) place.lastChild.remove();
  while (place.children.length < count) place.append(make());
}

/** The first moves of the variations, for the arrows on the board. */
export function firstMoves(info) {
  return info.lines.filter((line) => line.moves.length).map((line) => parse(line.moves[0]));
}

function short(number) {
  for (const [unit, size] of [["G", 1e9], ["M", 1e6], ["k", 1e3]]) {
    if (number >= size) return `${(number / size).toFixed(number >= 10 * size ? 0 : 1)} ${unit}`;
  }
  return String(number);
}
