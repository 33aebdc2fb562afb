// The evaluation bar, the variations and the proven values of the position shown.

import { $, element } from "../dom.js";
import { parseMove } from "../drawing.js";
import { markPicture } from "../board/marks.js";
import { title as rulesTitle } from "../rules.js";
import { countedText, fromServer, LANGUAGE, playerName, SIDES, t } from "../text.js";

const VALUE_KEYS = { win: "evaluation.win", draw: "evaluation.draws", loss: "evaluation.loss" };
/** Writes large numbers with a unit: "1.2M". */
const COMPACT = new Intl.NumberFormat(LANGUAGE, { notation: "compact" });
/** White's share by result. */
const SHARES = { "1-0": 1, "0-1": 0, "1/2-1/2": 0.5 };

/** Draws the bar with White's share, from 0 to 1, and its meaning as text. */
function drawBar(share, text) {
  const percent = Math.round(share * 100);
  $("bar-white").style.setProperty("--share", `${percent}%`);
  $("bar").setAttribute("aria-valuenow", percent);
  $("bar").setAttribute("aria-valuetext", t("evaluation.bar", { text, percent }));
  $("bar").title = $("bar").ariaValueText;
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
function worth(info, state, judged) {
  // In an analysis the last position of a resigned game has a value of its own.
  const resigned = state.over && state.node === state.live && !state.analysing;
  const end = state.position.end || (resigned ? state : null);
  if (end && end.result in SHARES) {
    return [fromServer(end.reason) || end.result, SHARES[end.result], t("evaluation.over")];
  }
  const proof = proven(state);
  if (proof) return [...proof, t("evaluation.tables")];
  // A player's score is not used, because the scores of levels are inaccurate.
  if (info && info.share !== null && info.role === "Analysis") {
    return [fromServer(info.text), info.share, null];
  }
  return judged ? [fromServer(judged.text), judged.value, t("evaluation.review")] : null;
}

/** The evaluation panel; `on` holds the callbacks of its lines: `hover`, `leave`, `play`. */
export class Evaluation {
  constructor(on) {
    this.on = on;
    this.isPreviewing = false;
    this.previewed = "";
    /** The moves in the list of proven values, as a text. */
    this.explored = "";
    for (const list of [$("lines"), $("explorer")]) {
      // Not `pointerover`: lines also appear under a pointer that rests.
      for (const kind of ["pointermove", "focusin"]) {
        list.addEventListener(kind, (event) => this.preview(event));
      }
      for (const kind of ["pointerleave", "focusout"]) {
        list.addEventListener(kind, () => this.endPreview());
      }
      list.addEventListener("click", (event) => {
        const moves = this.movesOf(event);
        if (!moves) return;
        this.endPreview();
        this.on.play(moves);
      });
    }
  }

  /** Returns the moves of a line up to the button of an event, or null. */
  movesOf(event) {
    const button = event.target.closest("button[data-moves]");
    return button && button.dataset.moves.split(" ");
  }

  preview(event) {
    const moves = this.movesOf(event);
    const text = moves && moves.join(" ");
    if (!moves || (this.isPreviewing && text === this.previewed)) return;
    this.previewed = text;
    // Meanwhile the lines are not redrawn: one that changes under the pointer cannot be clicked.
    this.isPreviewing = true;
    this.on.hover(moves);
  }

  endPreview() {
    if (!this.isPreviewing) return;
    this.isPreviewing = false;
    this.on.leave();
  }

  /**
   * Draws the panel. `judged` is the review's judgement of the move shown. Without an evaluation
   * the bar shows one half, but with `keepsBar` it keeps its share.
   */
  draw(info, state, flipped, judged, keepsBar) {
    const isOn = state.shows_evaluation;
    $("bar").classList.toggle("flipped", flipped);
    $("bar").classList.toggle("off", !isOn);
    $("evaluation").setAttribute("aria-checked", String(isOn));
    $("evaluation").closest("section").classList.toggle("off", !isOn);
    $("line-count").disabled = !isOn;
    if (document.activeElement !== $("line-count")) $("line-count").value = String(state.lines);
    const shown = worth(info, state, judged);
    if (shown) drawBar(shown[1], shown[0]);
    else if (!keepsBar) drawBar(0.5, t("evaluation.none"));
    if (!isOn || this.position !== state.position.text) this.endPreview();
    this.position = state.position.text;
    this.write($("worth"), isOn && shown ? shown[0] : "");
    const [facts, ...more] = isOn ? this.facts(info, shown) : [t("evaluation.off")];
    this.write($("facts"), facts);
    this.write($("facts-more"), more.join(" · "));
    // Reserve the height: lines that come and go would move everything below them.
    const lineCount = isOn && !state.position.end ? state.lines : 0;
    $("lines").style.setProperty("--line-count", lineCount);
    if (this.isPreviewing) return;
    this.drawLines(isOn && info ? info : null);
    this.drawExplorer(isOn ? state.proven : null, state);
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

  /** Returns the source of the evaluation, then the depth and the speed, which are folded. */
  facts(info, shown) {
    const parts = [shown && shown[2] ? shown[2] : ""];
    if (info && info.share !== null) {
      parts[0] = [parts[0], playerName(info.name)].filter(Boolean).join(" · ");
      parts.push(t("evaluation.depth", { depth: info.depth ?? "?" }));
      if (info.nodes) parts.push(t("evaluation.positions", { count: COMPACT.format(info.nodes) }));
      if (info.nps) parts.push(`${COMPACT.format(info.nps)}/s`);
    }
    return parts;
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

  drawExplorer(provenValues, state) {
    $("explorer-box").hidden = !provenValues;
    if (!provenValues) return;
    const side = SIDES[state.position.side];
    const key = JSON.stringify([provenValues, side]);
    if (this.explored === key) return;
    this.explored = key;
    let group = "";
    $("explorer").replaceChildren(...provenValues.moves.flatMap((entry) => {
      const button = element(
        "button", { class: `known ${entry.value || "unknown"}`, "data-moves": entry.move },
        markPicture(entry.value), element("span", { class: "move" }, entry.move),
      );
      const remarks = element("span", { class: "remarks" });
      if (entry.replies && entry.replies[0] === 1) {
        const text = t("evaluation.only", { side: SIDES[1 - state.position.side] });
        remarks.append(element("span", {}, text));
      }
      if (entry.in) {
        const count = entry.depth === 255 ? t("evaluation.more", { count: entry.in }) : entry.in;
        const text = entry.ends ? countedText("evaluation.in", count)
          : countedText("evaluation.removal", count);
        remarks.append(element("span", {}, text));
      }
      button.append(remarks);
      const name = t(entry.value ? VALUE_KEYS[entry.value] : "evaluation.unknown", { side });
      const head = name === group ? [] : [element("li", { class: "group" }, name)];
      group = name;
      return [...head, element("li", {}, button)];
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
  return info.lines.filter((line) => line.moves.length).map((line) => parseMove(line.moves[0]));
}

