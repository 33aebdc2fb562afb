// The games of a page: scores of one engine by opponent, colour and other columns, and the list of
// the games. A click on a game opens it on a board.

import { element } from "./dom.js";
import { readGame, resultText } from "./game.js";
import { newTable, percent, setStickyOffsets, TALLY_HEADS, Tally } from "./tables.js";
import { Viewer } from "./viewer.js";

/** The numbers in the fragment `#NAME=1-2` of the page's address; null for another fragment. */
export function numbersInAddress(name) {
  const match = new RegExp(`^#${name}=([\\d-]+)$`).exec(location.hash);
  return match && match[1].split("-").map(Number);
}

export class GameList {
  /**
   * `games` are those of `gamesOf`. `players` are those that the user may choose, each as [name,
   * Elo, group, number of its page]; a null Elo or a missing page is unknown. `engine` is the name
   * of the page's engine; without one, the user chooses two. `count` is the number of all games.
   */
  constructor(root, games, { players = [], engine = "", count = 0 } = {}) {
    Object.assign(this, { root, games, engine, count });
    this.players = new Map(players.map(([name, elo, group, page], index) =>
      [name, { elo, group, number: page ?? index + 1 }]));
    this.viewer = new Viewer();
    this.viewer.dialog.addEventListener("close", () => {
      // The event comes late: another game may be open by then.
      if (!this.viewer.dialog.open) history.replaceState(null, "", this.fragment);
    });
    const select = (label, all) => {
      const choice = element("select", { "aria-label": label },
        element("option", { value: 0 }, all),
        ...[...this.players].filter(([name]) => name !== engine).map(([name, { number }]) =>
          element("option", { value: number }, name)));
      choice.addEventListener("change", () => { location.hash = this.fragment; });
      return choice;
    };
    this.selects = [
      ...(engine ? [] : [select("engine", "all engines")]), select("opponent", "all opponents"),
    ];
    this.container = element("div");
    root.append(element("h2", {}, "Games"));
    if (players.length) {
      root.append(element("div", { class: "choice" }, ...this.selects.slice(0, -1), "against",
        this.selects.at(-1)));
    }
    root.append(this.container);
    const followAddress = () => {
      const game = numbersInAddress("game");
      if (game) {
        this.open(game[0]);
        return;
      }
      const chosen = numbersInAddress("games");
      this.show(...(chosen ?? [0, 0]));
      if (chosen) scrollTo(0, root.offsetTop);
    };
    this.show(0, 0);
    window.addEventListener("hashchange", followAddress);
    followAddress();
  }

  /** The fragment of the address for the chosen engines. */
  get fragment() {
    return `#games=${this.selects.map(({ value }) => value).join("-")}`;
  }

  /** Shows other games. */
  replace(games) {
    this.games = games;
    this.show(0, 0);
  }

  /** Shows the games of the players with these numbers; 0 means all. */
  show(...numbers) {
    this.selects.forEach((select, index) => { select.value = numbers[index]; });
    const names = this.selects.map(({ value }) =>
      [...this.players].find(([, { number }]) => number === Number(value))?.[0] ?? "");
    if (this.engine) names.unshift(this.engine);
    // One chosen engine always comes first.
    const [engine, opponent] = names[0] ? names : [names[1], ""];
    const games = this.games.filter(({ white, black }) =>
      (!engine || white === engine || black === engine) &&
      (!opponent || (opponent !== engine && (white === opponent || black === opponent))));
    const parts = engine ? this.score(engine, opponent, games) : [];
    this.container.replaceChildren(...parts, ...this.notes(games), this.list(games));
    setStickyOffsets();
  }

  /** Elements with an engine's score against one opponent or all: in total, and by columns. */
  score(engine, opponent, games) {
    const total = new Tally();
    const colours = new Map([["White", new Tally()], ["Black", new Tally()]]);
    for (const { white, result } of games) {
      for (const tally of [total, colours.get(white === engine ? "White" : "Black")]) {
        tally.add(result, white === engine);
      }
    }
    if (!total.games) return [];
    /** A table of the scores by a value of the games. */
    const by = (css, head, valueOf, content) => {
      const tallies = new Map();
      for (const game of games) {
        const value = valueOf(game);
        if (!tallies.has(value)) tallies.set(value, new Tally());
        tallies.get(value).add(game.result, game.white === engine);
      }
      const rows = [...tallies].map(([value, tally]) => [value, ...tally.cells]);
      return newTable(css, [head, ...TALLY_HEADS], rows, content);
    };
    let text = `${engine} scored ${total.points} of ${total.games} points against ` +
      `${opponent || "all opponents"}: ${percent(total.points / total.games)}.`;
    const { elo, group } = this.players.get(engine);
    const other = this.players.get(opponent);
    if (other && elo !== null && other.elo !== null && group === other.group) {
      const lead = elo - other.elo;
      const expected = 1 / (1 + 10 ** (-lead / 400));
      text += ` Its rating is ${Math.abs(lead).toFixed(0)} Elo ${lead < 0 ? "lower" : "higher"}, ` +
        `which predicts ${percent(expected)}.`;
    }
    /** A cell of an opponent: its name and number of games are links, if it has a page. */
    const linked = (row, column) => {
      if (column > 1 || !this.engine) return row[column];
      const { number } = this.players.get(row[0]);
      const href = column ? `#games=${number}` : `player-${number}.html`;
      return element("a", { href }, String(row[column]));
    };
    const parts = [element("p", { class: "total" }, text),
      newTable("colours", ["With", ...TALLY_HEADS], [...colours, ["both colours", total]]
        .map(([colour, tally]) => [colour, ...tally.cells]))];
    if (!opponent) {
      parts.push(element("h3", {}, "By opponent"), by("opponents", "Opponent",
        ({ white, black }) => (white === engine ? black : white), linked));
    }
    parts.push(element("h3", {}, "How games ended"),
      by("reasons", "Reason", ({ reason }) => reason));
    if (games.every(({ opening }) => opening !== undefined)) {
      parts.push(by("phases", "Phase", ({ phase }) => phase),
        element("h3", {}, "By opening"), by("openings", "Opening", ({ opening }) => opening));
    }
    return [...parts, element("h3", {}, "List of games")];
  }

  notes(games) {
    const notes = [];
    if (this.games.length < this.count) {
      notes.push(`This page holds the first ${this.games.length} of ${this.count} games; ` +
        "merels ratings -games N stores more.");
    }
    if (!games.length) notes.push("No games.");
    if (games.some(({ opening }) => opening === undefined)) {
      notes.push("Games without a button come from PGN files and cannot be replayed here.");
    }
    return notes.map((text) => element("p", { class: "note" }, text));
  }

  list(games) {
    const heads = ["#", "White", "Black", "Result", "Plies", "Ended by", "Phase", "Opening"];
    const rows = games.map((game) => Object.assign([
      game.n, game.white, game.black, resultText(game.result), game.plies ?? "–", game.reason,
      game.phase, game.opening ?? "unknown",
    ], { game }));
    return newTable("games texts", heads, rows, (row, column) => {
      if (column || row.game.opening === undefined) return row[column];
      const label = `Replay game ${row[0]}`;
      const button = element("button", { type: "button", "aria-label": label }, String(row[0]));
      button.addEventListener("click", () => {
        history.replaceState(null, "", `#game=${row[0]}`);
        this.open(row[0]);
      });
      return button;
    });
  }

  /** Opens a game on the board. */
  async open(number) {
    const entry = this.games.find(({ n }) => n === number);
    try {
      if (!entry) throw new Error("it is not on this page");
      this.viewer.open(await readGame(entry), 0);
    } catch (error) {
      const text = `Game ${number} cannot be shown: ${error.message}.`;
      this.container.prepend(element("p", { class: "note", role: "alert" }, text));
    }
  }
}
