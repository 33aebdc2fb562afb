// The report's page: sorted tables, two engines head to head, and their games on a board.

import { $, element } from "./dom.js";
import { Game, RESULTS, resultText, unpack } from "./game.js";
import { Viewer } from "./replay.js";
import { sortable } from "./sort.js";
import { percent, stick, table, TALLY, Tally } from "./tables.js";

const ADDRESS = /^#games=(\d+)-(\d+)$/;

/** The choice of two engines, their score, and the list of their games. */
class HeadToHead {
  constructor(root, data) {
    this.data = data;
    this.points = root.dataset.points.split(" ");
    this.lots = new Map();
    this.viewer = new Viewer(this.points);
    this.names = data.players.map(([name]) => name);
    const select = (label, all) => element("select", { "aria-label": label },
      element("option", { value: 0 }, all),
      ...this.names.map((name, index) => element("option", { value: index + 1 }, name)));
    this.selects = [select("engine", "all engines"), select("opponent", "all opponents")];
    this.place = element("div");
    root.append(
      element("h2", {}, "Head to head"),
      element("div", { class: "choice" }, this.selects[0], "against", this.selects[1]),
      this.place);
    root.hidden = false;
    for (const choice of this.selects) {
      choice.addEventListener("change", () => {
        location.hash = `games=${this.selects.map(({ value }) => value).join("-")}`;
      });
    }
    const followAddress = () => {
      const chosen = ADDRESS.exec(location.hash);
      this.show(...(chosen ?? [0, 0, 0]).slice(1).map(Number));
      if (chosen) scrollTo(0, root.offsetTop);
    };
    window.addEventListener("hashchange", followAddress);
    followAddress();
  }

  /** Shows the games between two engines, given by their numbers from 1; 0 means all engines. */
  show(first, second) {
    [first, second].forEach((value, index) => { this.selects[index].value = value; });
    // Indices; -1 means all engines. One chosen engine always comes first.
    const [engine, opponent] = first ? [first - 1, second - 1] : [second - 1, -1];
    const { n, white, black } = this.data;
    const games = [...n.keys()].filter((game) => {
      const sides = [white[game], black[game]];
      return (engine < 0 || sides.includes(engine)) &&
        (opponent < 0 || (sides.includes(opponent) && opponent !== engine));
    });
    const parts = engine < 0 ? [] : this.score(engine, opponent, games);
    this.place.replaceChildren(...parts, ...this.notes(games), this.list(games));
    stick();
  }

  /** Elements with an engine's score against one opponent or all: total, by colour, by opening. */
  score(engine, opponent, games) {
    const { white, result, opening, openings, players } = this.data;
    const [total, ...colours] = [new Tally(), new Tally(), new Tally()];
    const byOpening = new Map();
    for (const game of games) {
      const isWhite = white[game] === engine;
      const key = openings[opening[game]]?.[0];
      if (!byOpening.has(key)) byOpening.set(key, new Tally());
      for (const tally of [total, colours[isWhite ? 0 : 1], byOpening.get(key)]) {
        tally.add(result[game], isWhite);
      }
    }
    if (!total.games) return [];
    let text = `${this.names[engine]} scored ${total.points} of ${total.games} points against ` +
      `${opponent < 0 ? "all engines" : this.names[opponent]}: ` +
      `${percent(total.points / total.games)}.`;
    const [, elo, group] = players[engine];
    const [, otherElo, otherGroup] = players[opponent] ?? ["", null, null];
    if (elo !== null && otherElo !== null && group === otherGroup) {
      const lead = elo - otherElo;
      const expected = 1 / (1 + 10 ** (-lead / 400));
      text += ` Its rating is ${Math.abs(lead).toFixed(0)} Elo ${lead < 0 ? "lower" : "higher"}, ` +
        `which predicts ${percent(expected)}.`;
    }
    const rows = [...colours, total].map((tally, index) =>
      [["White", "Black", "both colours"][index], ...tally.cells]);
    return [
      element("p", { class: "total" }, text),
      table("colours", ["With", ...TALLY], rows),
      ...(byOpening.has(undefined) ? [] : [
        element("h3", {}, "By opening"),
        table("openings", ["Opening", ...TALLY],
          [...byOpening].map(([name, tally]) => [name, ...tally.cells])),
      ]),
      element("h3", {}, "Games"),
    ];
  }

  notes(games) {
    const { n, offered, opening } = this.data;
    const notes = [];
    if (n.length < offered) {
      notes.push(`This page holds the first ${n.length} of ${offered} games; ` +
        "merels ratings -games N stores more.");
    }
    if (!games.length) notes.push("No games.");
    if (games.some((game) => opening[game] < 0)) {
      notes.push("Games without a button come from PGN files and cannot be replayed here.");
    }
    return notes.map((text) => element("p", { class: "note" }, text));
  }

  list(games) {
    const { n, white, black, result, reason, reasons, opening, openings } = this.data;
    const rows = games.map((game) => [
      n[game], this.names[white[game]], this.names[black[game]], resultText(RESULTS[result[game]]),
      reasons[reason[game]], openings[opening[game]]?.[0] ?? "unknown",
    ]);
    const indices = new Map(rows.map((row, index) => [row, games[index]]));
    return table("games texts", ["#", "White", "Black", "Result", "Ended by", "Opening"], rows,
      (row, column) => {
        const text = String(row[column]);
        const game = indices.get(row);
        if (column || opening[game] < 0) return text;
        const label = `Replay game ${text}`;
        const button = element("button", { type: "button", "aria-label": label }, text);
        button.addEventListener("click", () => this.replay(game));
        return button;
      });
  }

  async replay(game) {
    const { n, white, black, result, reason, reasons, opening, openings, lot } = this.data;
    const [, position, moves] = openings[opening[game]];
    const lots = await this.unpack(Math.floor(game / lot));
    this.viewer.open(new Game({
      n: n[game], white: this.names[white[game]], black: this.names[black[game]],
      result: RESULTS[result[game]], reason: reasons[reason[game]], position,
      opening: moves.split(" ").filter(Boolean), clocks: [null, null], moves: lots[game % lot],
    }, this.points), 0);
  }

  /** Returns the moves of the games in lot `number`; `GameArchive` compresses games by lots. */
  async unpack(number) {
    if (!this.lots.has(number)) this.lots.set(number, await unpack(this.data.lots[number]));
    return this.lots.get(number);
  }
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
  document.querySelector(".legend")?.append(" A click on a cell shows the games behind it.");
}

for (const drawn of document.querySelectorAll("main table")) sortable(drawn);
const text = $("games").textContent;
if (text) {
  linkCells();
  $("games").remove();
  new HeadToHead($("head-to-head"), JSON.parse(text));
}
stick();
window.addEventListener("resize", stick);
