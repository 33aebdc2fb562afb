// Tables that are sorted by a click on a column's head, and scroll with the page.

import { element } from "./dom.js";

const ROWS_SHOWN = 100;
const collator = new Intl.Collator("en", { numeric: true });

/** The value by which a cell is sorted: a number, text, or null for an empty cell, "–" or "x". */
function valueOf(cell) {
  const text = cell.firstElementChild?.title || cell.textContent.trim();
  if (["", "–", "-", "x"].includes(text)) return null;
  const record = /^(\d+)–(\d+)–(\d+)$/.exec(text);
  if (record) {
    const [wins, draws, losses] = record.slice(1).map(Number);
    return (wins + draws / 2) / (wins + draws + losses);
  }
  const number = /^[±+]? ?(-?[\d.,]+|inf)( ?%|\/\d+| ± .*)?$/.exec(text);
  const value = number ? Number(number[1].replaceAll(",", "").replace("inf", "Infinity")) : NaN;
  return Number.isNaN(value) ? text : value;
}

/**
 * Makes a table sortable: the first click on a column's head sorts by it, the second reverses the
 * order, the third restores the original order.
 *
 * `rows` are functions that make the rows when they are shown; by default, the rows are those of
 * the table. At first only `shown` rows are shown; each click on a button below the table shows ten
 * times as many.
 */
export function sortable(table, rows = [...table.tBodies[0].rows].map((row) => () => row),
  valueAt = (row, column) => valueOf(row().cells[column]), shown = Infinity) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const more = element("button", { type: "button", class: "more" });
  let order = rows;
  const draw = () => {
    body.replaceChildren(...order.slice(0, shown).map((row) => row()));
    more.hidden = order.length <= shown;
    more.textContent = `Show more (${shown} of ${order.length} are shown)`;
  };
  const sort = (column) => {
    const head = heads[column];
    const values = new Map(rows.map((row) => [row, valueAt(row, column)]));
    const isText = [...values.values()].some((value) => typeof value === "string");
    const directions = isText || head.textContent === "#"
      ? [null, "ascending", "descending"] : [null, "descending", "ascending"];
    const direction = directions[(directions.indexOf(head.getAttribute("aria-sort")) + 1) % 3];
    for (const other of heads) other.removeAttribute("aria-sort");
    if (direction) head.setAttribute("aria-sort", direction);
    const sign = direction === "descending" ? -1 : 1;
    const compare = (upper, lower) => {
      const [a, b] = [values.get(upper), values.get(lower)];
      if (a === null || b === null) return (a === null) - (b === null);
      return sign * (isText ? collator.compare(a, b) : a - b);
    };
    order = direction ? [...rows].sort(compare) : rows;
    draw();
  };
  heads.forEach((head, column) => {
    const button = element("button", { type: "button" }, ...head.childNodes);
    button.addEventListener("click", () => sort(column));
    head.append(button);
  });
  more.addEventListener("click", () => { shown *= 10; draw(); });
  if (shown < rows.length) table.after(more);
  if (!body.rows.length) draw();
}

/** Makes a sortable table of text and numbers; `content` returns the content of a cell. */
export function newTable(css, head, rows, content = (row, column) => row[column]) {
  const inner = element("table", { class: css },
    element("thead", {}, element("tr", {}, ...head.map((text, column) =>
      element("th", column ? {} : { class: "name" }, text)))),
    element("tbody"));
  const wide = element("div", { class: "wide" }, inner);
  const cell = (row, column) => (column ? element("td", {}, content(row, column))
    : element("th", { scope: "row" }, content(row, column)));
  const made = rows.map((row) => Object.assign(() =>
    element("tr", {}, ...head.map((_, column) => cell(row, column))), { row }));
  sortable(inner, made, ({ row }, column) => {
    const value = row[column];
    return value === "–" ? null : head[column] === "Score" ? parseFloat(value) : value;
  }, ROWS_SHOWN);
  return wide;
}

/** Wins, draws, losses and unfinished games of an engine. */
export class Tally {
  constructor(wins = 0, draws = 0, losses = 0) {
    Object.assign(this, { wins, draws, losses, unfinished: 0 });
  }

  /** Adds a game that the engine played as White or Black. */
  add(result, isWhite) {
    const win = isWhite ? "1-0" : "0-1";
    this[{ [win]: "wins", "1/2-1/2": "draws", "*": "unfinished" }[result] ?? "losses"] += 1;
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

/** Lets each table scroll with the page until its right edge is in view. */
export function setStickyOffsets() {
  const edge = parseFloat(getComputedStyle(document.body).paddingLeft);
  const wide = [...document.querySelectorAll(".wide")];
  const room = document.documentElement.clientWidth - edge;
  // All tables are measured before any is moved, so that the page is laid out only once.
  const stops = wide.map((box) => Math.min(edge, room - box.scrollWidth));
  wide.forEach((box, index) => { box.style.left = `${stops[index]}px`; });
}
