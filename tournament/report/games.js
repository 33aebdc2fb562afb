// The games of a page: scores of one engine by opponent, colour and other columns, and the list of
// the games, each of which opens on a board.

import { element } from "./dom.js";
import { Game, RESULTS, resultText } from "./game.js";
import { Viewer } from "./replay.js";
import { percent, stick, table, TALLY, Tally } from "./tables.js";

/** The numbers in a fragment of the page's address, such as `#games=1-2`; null for another one. */
export function inAddress(name) {
  const match = new RegExp(`^#${name}=([\\d-]+)$`).exec(location.hash);
  return match && match[1].split("-").map(Number);
}

export class GameList {
  /**
   * `data` has the games in columns: `n`, `white`, `black`, `result`, `reason`, `opening`, and on
   * pages of one engine also `plies` and `phase`. All but `n` and `plies` are indices. A player is
   * [name, Elo, group, number of its page]; a null Elo or a missing page is unknown.
   *
   * `read` returns the position, the opening and the moves of a game by its index. `engine` is the
   * index of the page's engine, or null if the user chooses two engines.
   */
  constructor(root, data, read, engine = null) {
    Object.assign(this, { root, data, read, engine });
    this.points = root.dataset.points.split(" ");
    this.names = data.players.map(([name]) => name);
    this.numbers = data.players.map(([, , , page], index) => page ?? index + 1);
    this.viewer = new Viewer(this.points);
    this.viewer.dialog.addEventListener("close", () => {
      // The event comes late: another game may be open by then.
      if (!this.viewer.dialog.open) history.replaceState(null, "", this.fragment);
    });
    const select = (label, all) => element("select", { "aria-label": label },
      element("option", { value: 0 }, all),
      ...[...this.names.keys()].filter((index) => index !== engine).map((index) =>
        element("option", { value: this.numbers[index] }, this.names[index])));
    this.selects = engine === null
      ? [select("engine", "all engines"), select("opponent", "all opponents")]
      : [select("opponent", "all players")];
    this.place = element("div");
    root.append(
      element("h2", {}, engine === null ? "Head to head" : "Games"),
      element("div", { class: "choice" }, ...this.selects.slice(0, -1), "against",
        this.selects.at(-1)),
      this.place);
    root.hidden = false;
    for (const choice of this.selects) {
      choice.addEventListener("change", () => { location.hash = this.fragment; });
    }
    const followAddress = () => {
      const game = inAddress("game");
      if (game) {
        this.open(game[0]);
        return;
      }
      const chosen = inAddress("games");
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

  /** Shows the games of the engines with these numbers; 0 means all. */
  show(...numbers) {
    this.selects.forEach((select, index) => { select.value = numbers[index]; });
    const chosen = this.selects.map(({ value }) => this.numbers.indexOf(Number(value)));
    // Indices; -1 means all engines. One chosen engine always comes first.
    if (this.engine !== null) chosen.unshift(this.engine);
    const [engine, opponent] = chosen[0] < 0 ? [chosen[1], -1] : chosen;
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

  /** Elements with an engine's score against one opponent or all: in total, and by columns. */
  score(engine, opponent, games) {
    const { white, black, result, reason, opening, phase, reasons, openings, phases, players } =
      this.data;
    const [total, ...colours] = [new Tally(), new Tally(), new Tally()];
    for (const game of games) {
      const isWhite = white[game] === engine;
      for (const tally of [total, colours[isWhite ? 0 : 1]]) tally.add(result[game], isWhite);
    }
    if (!total.games) return [];
    /** A table of the scores by a value of the games. */
    const by = (css, head, valueOf, content) => {
      const tallies = new Map();
      for (const game of games) {
        const value = valueOf(game);
        if (!tallies.has(value)) tallies.set(value, new Tally());
        tallies.get(value).add(result[game], white[game] === engine);
      }
      const rows = [...tallies].map(([value, tally]) => [value, ...tally.cells]);
      return table(css, [head, ...TALLY], rows, content);
    };
    let text = `${this.names[engine]} scored ${total.points} of ${total.games} points against ` +
      `${opponent < 0 ? "all opponents" : this.names[opponent]}: ` +
      `${percent(total.points / total.games)}.`;
    const [, elo, group] = players[engine];
    const [, otherElo, otherGroup] = players[opponent] ?? ["", null, null];
    if (elo !== null && otherElo !== null && group === otherGroup) {
      const lead = elo - otherElo;
      const expected = 1 / (1 + 10 ** (-lead / 400));
      text += ` Its rating is ${Math.abs(lead).toFixed(0)} Elo ${lead < 0 ? "lower" : "higher"}, ` +
        `which predicts ${percent(expected)}.`;
    }
    /** A cell of an opponent: its name and number of games are links, if it has a page. */
    const linked = (row, column) => {
      const text = String(row[column]);
      if (column > 1 || this.engine === null) return text;
      const number = this.numbers[this.names.indexOf(row[0])];
      return element("a", { href: column ? `#games=${number}` : `player-${number}.html` }, text);
    };
    const parts = [element("p", { class: "total" }, text),
      table("colours", ["With", ...TALLY], [...colours, total].map((tally, index) =>
        [["White", "Black", "both colours"][index], ...tally.cells]))];
    if (opponent < 0) {
      parts.push(element("h3", {}, "By opponent"), by("opponents", "Opponent", (game) =>
        this.names[white[game] === engine ? black[game] : white[game]], linked));
    }
    parts.push(element("h3", {}, "How games ended"),
      by("reasons", "Reason", (game) => reasons[reason[game]]));
    if (phase) parts.push(by("phases", "Phase", (game) => phases[phase[game]]));
    if (games.every((game) => opening[game] >= 0)) {
      parts.push(element("h3", {}, "By opening"),
        by("openings", "Opening", (game) => openings[opening[game]][0]));
    }
    return [...parts, element("h3", {}, "List of games")];
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
    const { n, white, black, result, reason, opening, plies, phase, reasons, openings, phases } =
      this.data;
    const columns = [
      ["#", (game) => n[game]], ["White", (game) => this.names[white[game]]],
      ["Black", (game) => this.names[black[game]]],
      ["Result", (game) => resultText(RESULTS[result[game]])],
      ...(plies ? [["Plies", (game) => plies[game]]] : []),
      ["Ended by", (game) => reasons[reason[game]]],
      ...(phase ? [["Phase", (game) => phases[phase[game]]]] : []),
      ["Opening", (game) => openings[opening[game]]?.[0] ?? "unknown"],
    ];
    const rows = games.map((game) => columns.map(([, valueOf]) => valueOf(game)));
    const indices = new Map(rows.map((row, index) => [row, games[index]]));
    return table("games texts", columns.map(([head]) => head), rows, (row, column) => {
      const text = String(row[column]);
      if (column || opening[indices.get(row)] < 0) return text;
      const label = `Replay game ${text}`;
      const button = element("button", { type: "button", "aria-label": label }, text);
      button.addEventListener("click", () => this.go(row[0]));
      return button;
    });
  }

  /** Opens a game, and puts its number into the address. */
  go(number) {
    history.replaceState(null, "", `#game=${number}`);
    this.open(number);
  }

  /** Opens a game on the board. */
  async open(number) {
    const { n, white, black, result, reason, reasons } = this.data;
    const game = n.indexOf(number);
    try {
      if (game < 0) throw new Error("it is not on this page");
      this.viewer.open(new Game({
        n: number, white: this.names[white[game]], black: this.names[black[game]],
        result: RESULTS[result[game]], reason: reasons[reason[game]], clocks: [null, null],
        ...await this.read(game),
      }, this.points), 0);
    } catch (error) {
      const text = `Game ${number} cannot be shown: ${error.message}.`;
      this.place.prepend(element("p", { class: "note", role: "alert" }, text));
    }
  }
}
