// Tables of results that sort, and scroll with the page.

import { element } from "./dom.js";
import { sortable } from "./sort.js";

const ROWS_SHOWN = 100;
const POINTS = [1, 0, 0.5];

/** Wins, draws, losses and unfinished games of an engine. */
export class Tally {
  constructor() {
    Object.assign(this, { wins: 0, draws: 0, losses: 0, unfinished: 0 });
  }

  /** Adds a game that the engine played as White or Black; `result` is an index of `RESULTS`. */
  add(result, isWhite) {
    const points = isWhite ? POINTS[result] : 1 - POINTS[result];
    this[{ 1: "wins", 0.5: "draws", 0: "losses" }[points] ?? "unfinished"] += 1;
  }

  get games() {
    return this.wins + this.draws + this.losses;
  }

  get points() {
    return this.wins + this.draws / 2;
  }

  /** The cells of `TALLY`. */
  get cells() {
    const { games, wins, draws, losses, points } = this;
    return [games, wins, draws, losses, points, games ? percent(points / games) : "–"];
  }
}

export const TALLY = ["Games", "Won", "Drawn", "Lost", "Points", "Score"];

export const percent = (share) => `${(100 * share).toFixed(1)} %`;

/** Makes a sortable table of text and numbers; `content` returns the content of a cell. */
export function table(css, head, rows, content = (row, column) => String(row[column])) {
  const inner = element("table", { class: css },
    element("thead", {}, element("tr", {}, ...head.map((text, column) =>
      element("th", column ? {} : { class: "name" }, text)))),
    element("tbody"));
  const wide = element("div", { class: "wide" }, inner);
  sortable(inner, rows.map((row) => ({
    value: (column) => {
      const value = row[column];
      return value === "–" ? null : head[column] === "Score" ? parseFloat(value) : value;
    },
    element: () => element("tr", {}, ...head.map((_, column) =>
      element(column ? "td" : "th", column ? {} : { scope: "row" }, content(row, column)))),
  })), ROWS_SHOWN);
  return wide;
}

/** Lets each table scroll with the page until its right edge is in view. */
export function stick() {
  const edge = parseFloat(getComputedStyle(document.body).paddingLeft);
  const wide = [...document.querySelectorAll(".wide, .row")];
  const room = document.documentElement.clientWidth - edge;
  // All tables are measured before any is moved, so that the page is laid out only once.
  const stops = wide.map((box) => Math.min(edge, room - box.scrollWidth));
  wide.forEach((box, index) => { box.style.left = `${stops[index]}px`; });
}
