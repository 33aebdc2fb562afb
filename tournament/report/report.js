// The report's page: sorted tables, two engines head to head, and their games on a board.

import { $, element } from "./dom.js";
import { unpack } from "./game.js";
import { GameList } from "./games.js";
import { sortable } from "./sort.js";
import { stick } from "./tables.js";

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
  document.querySelector(".legend")?.append(" A click on a cell shows the games behind it.");
}

for (const drawn of document.querySelectorAll("main table")) sortable(drawn);
const text = $("games").textContent;
if (text) {
  linkCells();
  $("games").remove();
  const data = JSON.parse(text);
  const lots = [];
  // `GameArchive` compresses the moves of games by lots.
  new GameList($("head-to-head"), data, async (game) => {
    const [, position, opening] = data.openings[data.opening[game]];
    const lot = Math.floor(game / data.lot);
    lots[lot] ??= unpack(data.lots[lot]);
    const moves = (await lots[lot])[game % data.lot];
    return { position, opening: opening.split(" ").filter(Boolean), moves };
  });
}
stick();
window.addEventListener("resize", stick);
