// The evaluation bar, the variations and the proven values of the position shown.

import { $, element } from "../dom.js";
import { parse } from "../drawing.js";
import { symbol } from "../board/marks.js";
import { title as rulesTitle } from "../rules.js";
import { countedText, decimal, fromServer, SIDES, t } from "../text.js";

const WORDS = { win: "evaluation.win", draw: "evaluation.draws", loss: "evaluation.loss" };
const RESULTS = { "1-0": 1, "0-1": 0, "1/2-1/2": 0.5 };

/** Draws the bar with White's share, from 0 to 1, and its meaning as text. */
function drawBar(share, text) {
  const percent = Math.round(share * 100);
  $("bar-white").style.setProperty("--share", `${percent}%`);
  $("bar").setAttribute("aria-valuenow", percent);
  $("bar").setAttribute("aria-valuetext", t("evaluation.bar", { text, percent }));
  $("bar").title = t("evaluation.bar.title", { text, percent });
}

/** Returns the text and White's share of the position's proven value, or null. */
function proven(state) {
  const here = state.proven && state.proven.here;
  if (!here) return null;
  if (here.value === "draw") return [t("evaluation.draw"), 0.5];
  const winner = here.value === "win" ? state.position.side : 1 - state.position.side;
  return [t("evaluation.wins", { side: SIDES[winner] }), 1 - winner];
}

/** Returns the bar's text, share and source; null if there is no evaluation yet. */
function verdict(info, state, judged) {
  // In an analysis the last position of a resigned game has a value of its own.
  const resigned = state.over && state.node === state.live && !state.analysing;
  const end = state.position.end || (resigned ? state : null);
  if (end && end.result in RESULTS) {
    return [fromServer(end.reason) || end.result, RESULTS[end.result], t("evaluation.over")];
  }
  const known = proven(state);
  if (known) return [...known, t("evaluation.tables")];
  // A player's score is not used, because the scores of levels are inaccurate.
  if (info && info.share !== null && info.part === "Analysis") {
    return [fromServer(info.text), info.share, null];
  }
  return judged ? [fromServer(judged.text), judged.value, t("evaluation.review")] : null;
}

/** The evaluation panel; `on` holds the callbacks of its lines: `hover`, `leave`, `play`. */
export class Evaluation {
  constructor(on) {
    this.on = on;
    this.held = false;
    this.previewed = "";
    this.explored = "";
    for (const list of [$("lines"), $("explorer")]) {
      // Not `pointerover`: lines also appear under a pointer that rests.
      list.addEventListener("pointermove", (event) => this.touch(event));
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

  /** Returns the moves of a line up to the button of an event, or null. */
  movesOf(event) {
    const button = event.target.closest("button[data-moves]");
    return button && button.dataset.moves.split(" ");
  }

  touch(event) {
    const moves = this.movesOf(event);
    const text = moves && moves.join(" ");
    if (!moves || (this.held && text === this.previewed)) return;
    this.previewed = text;
    // Do not redraw: a line that changes under the pointer could not be clicked.
    this.held = true;
    this.on.hover(moves);
  }

  release() {
    if (!this.held) return;
    this.held = false;
    this.on.leave();
  }

  /**
   * Draws the panel. `judged` is the review's judgement of the move shown. `stale`: the latest
   * variations belong to another position, so the bar keeps its share until new ones come.
   */
  draw(info, state, flipped, judged, stale) {
    const { reveals } = state;
    $("bar").classList.toggle("flipped", flipped);
    $("bar").classList.toggle("off", !reveals);
    $("evaluation").setAttribute("aria-checked", String(reveals));
    $("evaluation").closest("section").classList.toggle("off", !reveals);
    $("line-count").disabled = !reveals;
    if (document.activeElement !== $("line-count")) $("line-count").value = String(state.lines);
    const shown = verdict(info, state, judged);
    if (shown) drawBar(shown[1], shown[0]);
    else if (!stale) drawBar(0.5, t("evaluation.none"));
    if (!reveals || this.place !== state.position.text) this.release();
    this.place = state.position.text;
    this.write($("worth"), reveals && shown ? shown[0] : "");
    this.write($("facts"), reveals ? this.facts(info, shown) : t("evaluation.off"));
    // Reserve the height: lines that come and go would move everything below them.
    const lineCount = reveals && !state.position.end ? state.lines : 0;
    $("lines").style.setProperty("--line-count", lineCount);
    if (this.held) return;
    this.drawLines(reveals && info ? info : null);
    this.drawExplorer(reveals ? state.proven : null, state);
    this.drawTables(state);
  }

  /** Shows the progress of building tables, or the rules that have tables for this position. */
  drawTables({ tables, analysing }) {
    $("tables").hidden = !tables;
    $("tables-use").hidden = !tables || !tables.rules || !analysing;
    if (!tables) return;
    const { share, rules } = tables;
    this.write($("tables-text"), rules
      ? t("tables.other", { rules: rules.map(rulesTitle).join(", ") })
      : t("tables.build", { percent: Math.floor(100 * share) }));
  }

  write(place, text) {
    if (place.textContent !== text) place.textContent = text;
  }

  facts(info, shown) {
    const parts = shown && shown[2] ? [shown[2]] : [];
    if (info && info.share !== null) {
      parts.push(t("evaluation.depth", { name: info.name, depth: info.depth ?? "?" }));
      if (info.nodes) parts.push(t("evaluation.positions", { count: short(info.nodes) }));
      if (info.nps) parts.push(`${short(info.nps)}/s`);
    }
    return parts.join(" · ");
  }

  /** Redraws the lines in place, because a replaced button loses clicks and hover. */
  drawLines(info) {
    const lines = info && info.share !== null ? info.lines : [];
    fit($("lines"), lines.length, () => element("li", {}, element("b"), element("span")));
    lines.forEach((line, index) => {
      const [score, steps] = $("lines").children[index].children;
      this.write(score, fromServer(line.text));
      fit(steps, line.moves.length, () => element("button", { class: "step" }));
      line.moves.forEach((move, at) => {
        this.write(steps.children[at], move);
        steps.children[at].dataset.moves = line.moves.slice(0, at + 1).join(" ");
      });
    });
  }

  drawExplorer(known, state) {
    $("explorer-box").hidden = !known;
    if (!known) return;
    const side = SIDES[state.position.side];
    const key = JSON.stringify([known, side]);
    if (this.explored === key) return;
    this.explored = key;
    $("explorer").replaceChildren(...known.moves.map((entry) => {
      const button = element(
        "button", { class: `known ${entry.value || "unknown"}`, "data-moves": entry.move },
        symbol(entry.value), element("span", { class: "move" }, entry.move),
        element("span", { class: "worth" },
          t(entry.value ? WORDS[entry.value] : "evaluation.unknown", { side })),
      );
      if (entry.replies) {
        const [holding, all] = entry.replies;
        const title = t("evaluation.hold.title", { holding, all });
        const text = t("evaluation.hold", { holding, all });
        button.append(element("span", { class: "replies", title }, text));
      }
      if (entry.in) {
        const count = entry.depth === 255 ? t("evaluation.more", { count: entry.in }) : entry.in;
        const text = t(entry.ends ? "evaluation.in" : "evaluation.removal", { count });
        button.append(element("span", { class: "depth" }, text));
        button.title = entry.ends ? countedText("evaluation.in.title", count)
          : countedText("evaluation.removal.title", count);
      }
      return element("li", {}, button);
    }));
  }
}

/** Gives an element exactly `count` children; `make` creates missing ones. */
function fit(place, count, make) {
  while (place.children.length > count) place.lastChild.remove();
  while (place.children.length < count) place.append(make());
}

/** Returns the first moves of the variations. */
export function firstMoves(info) {
  return info.lines.filter((line) => line.moves.length).map((line) => parse(line.moves[0]));
}

function short(number) {
  for (const [unit, size] of [["G", 1e9], ["M", 1e6], ["k", 1e3]]) {
    if (number >= size) return `${decimal(number / size, number >= 10 * size ? 0 : 1)} ${unit}`;
  }
  return String(number);
}
