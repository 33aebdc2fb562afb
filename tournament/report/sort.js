// Tables that are sorted by a click on a column's head.

import { element } from "./dom.js";

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
  const number = /^[±+]? ?([-\d.,]+|inf)( ?%|\/\d+)?$/.exec(text);
  const value = number ? Number(number[1].replaceAll(",", "").replace("inf", "Infinity")) : NaN;
  return Number.isNaN(value) ? text : value;
}

/** A row that already exists in the page. */
function drawnRow(row) {
  const values = [];
  return {
    value: (column) => (values[column] ??= valueOf(row.cells[column])),
    element: () => row,
  };
}

/**
 * Makes a table sortable: the first click on a column's head sorts by it, the second reverses the
 * order, the third restores the original order.
 *
 * Each row has a value per column, and makes its element when it is shown. At first only `shown`
 * rows are shown; each click on a button below the table shows ten times as many.
 */
export function sortable(table, rows = [...table.tBodies[0].rows].map(drawnRow), shown = Infinity) {
  const heads = [...table.tHead.rows[0].cells];
  const more = element("button", { type: "button", class: "more" });
  let order = rows;
  const draw = () => {
    table.tBodies[0].replaceChildren(...order.slice(0, shown).map((row) => row.element()));
    more.hidden = order.length <= shown;
    more.textContent = `Show more (${shown} of ${order.length} are shown)`;
  };
  const sort = (column) => {
    const head = heads[column];
    const values = new Map(rows.map((row) => [row, row.value(column)]));
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
  if (shown < rows.length) {
    more.addEventListener("click", () => { shown *= 10; draw(); });
    table.after(more);
  }
  if (rows[0] && !table.tBodies[0].rows.length) draw();
}
