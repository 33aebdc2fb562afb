// The pages of a league: sorted tables, the games of a player on a board, and the crosstable.

import { $, element } from "./dom.js";
import { Game, RESULTS, resultText, unpack } from "./game.js";
import { Viewer } from "./replay.js";
import { sortable } from "./sort.js";
import { percent, stick, table, Tally, TALLY } from "./tables.js";

const LOT = 500;
const DEFAULT_PLAYERS = 12;
const MAX_PLAYERS = 100;

/** The value of `name` in the fragment of the page's address; undefined if there is none. */
const inAddress = (name) => new RegExp(`^#${name}=([\\d-]+)$`).exec(location.hash)?.[1];

/** Loads a data file of the site: a script that calls the global function `name` with the data. */
function load(path, name) {
  return new Promise((resolve, reject) => {
    window[name] = (...data) => resolve(data);
    const script = element("script", { src: path });
    script.addEventListener("error", () => reject(new Error(`${path} is missing`)));
    document.head.append(script);
  });
}

/** The list of a player's games, each of which opens on a board. */
class PlayerGames {
  constructor(root, data) {
    this.data = data;
    this.points = root.dataset.points.split(" ");
    this.viewer = new Viewer(this.points);
    this.viewer.dialog.addEventListener("close", () => {
      // The event comes late: another game may be open by then.
      if (!this.viewer.dialog.open) this.setFragment(`games=${this.select.value}`);
    });
    document.addEventListener("click", (event) => {
      const link = event.target.closest("a[href^='#game=']");
      if (!link) return;
      // A second click on the same link must open the game, too, but changes no address.
      event.preventDefault();
      this.go(Number(link.hash.slice("#game=".length)));
    });
    this.lots = new Map();
    this.loading = Promise.resolve();
    this.place = element("div");
    const names = Object.entries(data.players).sort(([, first], [, second]) =>
      first.localeCompare(second, "en", { numeric: true }));
    this.select = element("select", { "aria-label": "opponent" },
      element("option", { value: 0 }, "all players"),
      ...names.map(([number, name]) => element("option", { value: number }, name)));
    root.append(element("h2", {}, "Games"),
      element("div", { class: "choice" }, "against", this.select), this.place);
    this.select.addEventListener("change", () => {
      location.hash = `games=${this.select.value}`;
    });
    const followAddress = () => {
      const game = Number(inAddress("game"));
      if (game) {
        this.open(game);
        return;
      }
      const opponent = inAddress("games");
      this.show(Number(opponent ?? 0));
      if (opponent) scrollTo(0, root.offsetTop);
    };
    this.show(0);
    window.addEventListener("hashchange", followAddress);
    followAddress();
  }

  /** Lists the games against an opponent, or all of them. */
  show(opponent) {
    const { data } = this;
    this.select.value = opponent;
    const games = [...data.n.keys()].filter((game) =>
      !opponent || data.opponent[game] === opponent);
    const tally = new Tally();
    for (const game of games) tally.add(data.result[game], data.colour[game] === 0);
    const rows = games.map((game) => [
      data.n[game], data.players[data.opponent[game]], ["White", "Black"][data.colour[game]],
      resultText(RESULTS[data.result[game]]), data.plies[game], data.reasons[data.reason[game]],
      data.phases[data.phase[game]], data.openings[data.opening[game]],
    ]);
    const heads = ["#", "Opponent", "Colour", "Result", "Plies", "Ended by", "Phase", "Opening"];
    const total = tally.games
      ? `${tally.points} of ${tally.games} points (${percent(tally.points / tally.games)})` : "";
    this.place.replaceChildren(
      element("p", { class: "total" }, total),
      table("games texts", heads, rows, (row, column) => {
        const text = String(row[column]);
        if (column) return text;
        const button = element("button", { type: "button", "aria-label": `Replay game ${text}` },
          text);
        button.addEventListener("click", () => this.go(row[0]));
        return button;
      }));
    stick();
  }

  /** Sets the fragment of the page's address. */
  setFragment(fragment) {
    history.replaceState(null, "", `#${fragment}`);
  }

  /** Opens a game, and puts its number into the address. */
  go(number) {
    this.setFragment(`game=${number}`);
    this.open(number);
  }

  /** Opens a game on the board. */
  async open(number) {
    const lot = await this.lot(Math.ceil(number / LOT)).catch((error) => error);
    const game = lot.head?.n.indexOf(number) ?? -1;
    if (game < 0) {
      const text = `Game ${number} cannot be shown: ${lot.message ?? "it is not on this site"}.`;
      this.place.prepend(element("p", { class: "note", role: "alert" }, text));
      return;
    }
    const { head, moves } = lot;
    const [, position, opening] = head.openings[head.opening[game]];
    this.viewer.open(new Game({
      n: number, white: head.players[head.white[game]], black: head.players[head.black[game]],
      result: RESULTS[head.result[game]], reason: head.texts[head.text[game]], position,
      opening: opening.split(" ").filter(Boolean), clocks: [null, null], moves: moves[game],
    }, this.points), 0);
  }

  /** The first line and the moves of a lot. */
  lot(number) {
    if (!this.lots.has(number)) {
      // Lots are loaded one after the other, because the scripts call the same function.
      this.loading = this.loading.catch(() => {})
        .then(() => load(`games/${number}.js`, "merelsLot"));
      this.lots.set(number, this.loading.then(async ([, head, packed]) =>
        ({ head, moves: await unpack(packed) })));
    }
    return this.lots.get(number);
  }
}

/** The crosstable of the chosen players. */
class Crosstable {
  constructor(root, data) {
    this.players = data.players.map(([number, name, rank]) => ({ number, name, rank }));
    this.records = new Map();
    for (const [first, second, wins, draws, losses] of data.matches) {
      this.records.set(`${first} ${second}`, Object.assign(new Tally(), { wins, draws, losses }));
      this.records.set(`${second} ${first}`,
        Object.assign(new Tally(), { wins: losses, draws, losses: wins }));
    }
    this.boxes = this.players.map(({ name, rank }, index) => {
      const box = element("input", { type: "checkbox", value: index });
      box.addEventListener("change", () => this.choose());
      box.label = element("label", {}, box, " ", element("span", {}, rank ? `${rank}.` : "–"),
        ` ${name}`);
      return box;
    });
    const makeButton = (text, count) => {
      const button = element("button", { type: "button", class: "more" }, text);
      button.addEventListener("click", () => {
        this.boxes.forEach((box, index) => { box.checked = index < count; });
        this.choose();
      });
      return button;
    };
    this.place = element("div");
    const most = Math.min(MAX_PLAYERS, this.players.length);
    root.append(
      element("div", { class: "choice" }, "Players:", makeButton("none", 0),
        ...(most > DEFAULT_PLAYERS
          ? [makeButton(`first ${DEFAULT_PLAYERS}`, DEFAULT_PLAYERS)] : []),
        makeButton(most < this.players.length ? `first ${most}` : "all", most)),
      element("div", { class: "players", role: "group", "aria-label": "Players", tabindex: 0 },
        ...this.boxes.map((box) => box.label)),
      this.place);
    const followAddress = () => {
      const numbers = inAddress("players")?.split("-").map(Number);
      this.players.forEach(({ number }, index) => {
        this.boxes[index].checked = numbers ? numbers.includes(number) : index < DEFAULT_PLAYERS;
      });
      this.show();
    };
    window.addEventListener("hashchange", followAddress);
    followAddress();
  }

  /** Puts the chosen players into the address, and shows their crosstable. */
  choose() {
    const numbers = this.players.filter((_, index) => this.boxes[index].checked)
      .map(({ number }) => number);
    history.replaceState(null, "", `#players=${numbers.join("-") || 0}`);
    this.show();
  }

  show() {
    const shown = [...this.players.keys()].filter((index) => this.boxes[index].checked);
    const records = shown.map((player) =>
      shown.map((opponent) => this.records.get(`${player} ${opponent}`) ?? new Tally()));
    const rows = shown.map((index, row) => {
      const { number, name } = this.players[index];
      const total = new Tally();
      for (const { wins, draws, losses } of records[row]) {
        total.wins += wins;
        total.draws += draws;
        total.losses += losses;
      }
      return element("tr", {},
        element("td", {}, String(row + 1)),
        element("th", { scope: "row" },
          element("a", { href: `player-${number}.html` }, name)),
        element("td", {}, `${total.points.toFixed(1)}/${total.games}`),
        ...records[row].map((record, column) => element("td", {},
          ...(row === column ? [] : [this.cell(record, number, shown[column])]))));
    });
    const heads = shown.map((index, row) =>
      element("th", {}, element("abbr", { title: this.players[index].name }, String(row + 1))));
    const crosstable = element("table", { class: "ranked cross" },
      element("thead", {}, element("tr", {}, element("th", {}, "#"),
        element("th", { class: "name" }, "Name"), element("th", {}, "Points"), ...heads)),
      element("tbody", {}, ...rows));
    sortable(crosstable);
    this.place.replaceChildren(element("div", { class: "wide" }, crosstable),
      element("p", { class: "note" }, "Cells: wins–draws–losses of the row's player against the " +
        "column's. A click on a cell shows the games behind it."));
    stick();
  }

  cell(record, number, opponent) {
    if (!record.games) return "–";
    const share = Math.round((10 * record.points) / record.games);
    return element("a", {
      class: `cell share-${share}`,
      href: `player-${number}.html#games=${this.players[opponent].number}`,
    }, `${record.wins}–${record.draws}–${record.losses}`);
  }
}

for (const drawn of document.querySelectorAll("main table")) sortable(drawn);
if ($("games")) {
  load(`player-${$("games").dataset.player}.js`, "merelsGames")
    .then(([data]) => new PlayerGames($("games"), data));
}
if ($("crosstable")) new Crosstable($("crosstable"), JSON.parse($("matches").textContent));
stick();
window.addEventListener("resize", stick);
