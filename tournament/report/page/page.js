// A page with tables, and with games that are in the page, in the files of a league's site, or
// played while the page is open.

import { Crosstable } from "./crosstable.js";
import { $, element } from "./dom.js";
import { gamesOf, lineOf } from "./game.js";
import { GameList, numbersInAddress } from "./games.js";
import { Live } from "./live.js";
import { setStickyOffsets, sortable } from "./tables.js";

let loading = Promise.resolve();

/**
 * Loads a data file of a site: a script that calls the global function `data`.
 *
 * Files are loaded one after the other, because all call the same function.
 */
function load(path) {
  loading = loading.catch(() => {}).then(() => new Promise((resolve, reject) => {
    window.data = resolve;
    const script = element("script", { src: path });
    script.addEventListener("error", () => reject(new Error(`${path} is missing`)));
    document.head.append(script);
  }));
  return loading;
}

const lots = new Map();

/** Loads a lot of a site. */
function loadLot(number) {
  if (!lots.has(number)) lots.set(number, load(`games/${number}.js`));
  return lots.get(number);
}

/** Reads the line of a game of a site by its number. */
async function readLine(n, size) {
  const lot = await loadLot(Math.ceil(n / size));
  const index = lot.n.indexOf(n);
  if (index < 0) throw new Error("it is not on this site");
  return lineOf(lot, index);
}

/** Shows a player of a site. */
async function showPlayer(root, number, size) {
  const data = await load(`player-${number}.js`);
  new GameList(root, gamesOf(data.lot, (index) => readLine(data.lot.n[index], size)), data);
}

/** Shows the games of a site by lots, at first the last one or that of the game in the address. */
async function showLots(root, numbers, size) {
  const choice = element("select", { "aria-label": "games" }, ...numbers.map((number) =>
    element("option", { value: number }, `games ${(number - 1) * size + 1} to ${number * size}`)));
  const [game] = numbersInAddress("game") ?? [];
  choice.value = game ? Math.ceil(game / size) : numbers.at(-1);
  root.append(element("div", { class: "choice" }, choice));
  const games = async () => gamesOf(await loadLot(Number(choice.value)));
  const list = new GameList(root, await games());
  choice.addEventListener("change", async () => list.replace(await games()));
}

/** Makes each result of the crosstable a link to its games. */
function linkCells() {
  document.querySelectorAll(".cross tbody tr").forEach((row, engine) => {
    [...row.cells].slice(3).forEach((cell, opponent) => {
      const [span] = cell.children;
      if (!span) return;
      const href = `#games=${engine + 1}-${opponent + 1}`;
      const link = element("a", { class: span.className, href }, ...span.childNodes);
      if (span.title) link.title = span.title;
      span.replaceWith(link);
    });
  });
  document.querySelector(".legend")?.append(" Click a cell to list its games.");
}

/** Reads the JSON value of a script element, and removes the element. */
function take(id) {
  const text = $(id).textContent;
  $(id).remove();
  return JSON.parse(text);
}

for (const drawn of document.querySelectorAll("main table")) sortable(drawn);
const root = $("games");
const { player, lots: lotNumbers, size } = root?.dataset ?? {};
if ($("archive")) {
  linkCells();
  const data = take("archive");
  new GameList(root, data.lots.flatMap((lot) => gamesOf(lot)), data);
}
if (player) showPlayer(root, player, Number(size));
if (lotNumbers) showLots(root, lotNumbers.split(" ").map(Number), Number(size));
if ($("matches")) new Crosstable($("crosstable"), take("matches"));
if ($("cards")) new Live();
setStickyOffsets();
window.addEventListener("resize", setStickyOffsets);
