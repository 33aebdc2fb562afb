// Tables that are sorted by a click on a column's head, and scroll with the page.

import { element } from "./dom.js";

const ROWS_SHOWN = 100;
const collator = new Intl.Collator("en", { numeric: true });

/** The text of a cell; a crosstable in percent has wins–draws–losses in its cells' titles. */
const textOf = (cell) => cell.firstElementChild?.title || cell.textContent.trim();

/**
 * The value by which a text is sorted: a number, the text, or null for an empty cell.
 *
 * Numbers are "1,234", "±5.0", "± inf", "55.5 %", "12.5/20" and "-3.0 ± 5.0". Wins, draws and
 * losses, such as "3–1–0", are sorted by their score.
 */
function valueOf(text) {
  if (["", "–", "-", "x"].includes(text)) return null;
  const record = /^(\d+)–(\d+)–(\d+)$/.exec(text);
  if (record) {
    const [wins, draws, losses] = record.slice(1).map(Number);
    return (wins + draws / 2) / (wins + draws + losses);
  }
  // Its groups: the number, and what may follow it.
  const number = /^[±+]? ?(-?[\d.,]+|inf)( ?%|\/\d+| ± .*)?$/.exec(text);
  const value = number ? Number(number[1].replaceAll(",", "").replace("inf", "Infinity")) : NaN;
  return Number.isNaN(value) ? text : value;
}

/**
 * Makes a table sortable: the first click on a column's head sorts by it, the second reverses the
 * order, the third restores the original order.
 *
 * By default, `rows` are the rows of the table. Other rows are made by `makeRow` when they are
 * shown, and `textAt` returns the text by which a column sorts them. At first only `shown` rows are
 * shown; each click on a button below the table shows ten times as many.
 */
export function sortable(table, rows = [...table.tBodies[0].rows], makeRow = (row) => row,
  textAt = (row, column) => textOf(row.cells[column]), shown = Infinity) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const more = element("button", { type: "button", class: "more" });
  let order = rows;
  const draw = () => {
    body.replaceChildren(...order.slice(0, shown).map(makeRow));
    more.hidden = order.length <= shown;
    more.textContent = `Show more (${shown} of ${order.length} are shown)`;
  };
  const sort = (column) => {
    const head = heads[column];
    const values = new Map(rows.map((row) => [row, valueOf(textAt(row, column))]));
    const isText = [...values.values()].some((value) => typeof value === "string");
    // The first click sorts figures from the largest, but ranks and texts from the first.
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
  if (!body.rows.length) draw(); // Only rows that are made later are missing.
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
  const makeRow = (row) => element("tr", {}, ...head.map((_, column) => cell(row, column)));
  sortable(inner, rows, makeRow, (row, column) => String(row[column] ?? ""), ROWS_SHOWN);
  return wide;
}

/** Wins, draws, losses and unfinished games of an engine. */
export class Tally {
  constructor(wins = 0, draws = 0, losses = 0) {
    Object.assign(this, { wins, draws, losses, unfinished: 0 });
  }

  /** Adds a game that the engine played as White or Black. */
  add(result, isWhite) {
    if (result === "*") this.unfinished += 1;
    else if (result === "1/2-1/2") this.draws += 1;
    else if (isWhite === (result === "1-0")) this.wins += 1;
    else this.losses += 1;
  }

  get games() {
    return this.wins + this.draws + this.losses;
  }

  get points() {
    return this.wins + this.draws / 2;
  }

  /** The cells below `TALLY_HEADS`. */
  get cells() {
    const { games, wins, draws, losses, points } = this;
    return [games, wins, draws, losses, points, games ? percent(points / games) : "–"];
  }
}

export const TALLY_HEADS = ["Games", "Won", "Drawn", "Lost", "Points", "Score"];

export const percent = (share) => `${(100 * share).toFixed(1)} %`;

/**
 * Sets where each table sticks when the page is scrolled sideways: at the left edge of the text or,
 * if it is wider than the window, as soon as its right edge is in view.
 */
export function setStickyOffsets() {
  const edge = parseFloat(getComputedStyle(document.body).paddingLeft);
  const boxes = [...document.querySelectorAll(".wide")];
  const right = document.documentElement.clientWidth - edge;
  // All tables are measured before any is moved, so that the page is laid out only once.
  const offsets = boxes.map((box) => Math.min(edge, right - box.scrollWidth));
  boxes.forEach((box, index) => { box.style.left = `${offsets[index]}px`; });
}
