// The pages of a league: sorted tables, the games of a player on a board, and the crosstable.

import { $, element } from "./dom.js";
import { unpack } from "./game.js";
import { GameList, inAddress } from "./games.js";
import { sortable } from "./sort.js";
import { stick, Tally } from "./tables.js";

const LOT = 500;
const DEFAULT_PLAYERS = 12;
const MAX_PLAYERS = 100;

/** Loads a data file of the site: a script that calls the global function `name` with the data. */
function load(path, name) {
  return new Promise((resolve, reject) => {
    window[name] = (...data) => resolve(data);
    const script = element("script", { src: path });
    script.addEventListener("error", () => reject(new Error(`${path} is missing`)));
    document.head.append(script);
  });
}

/** Returns a function that reads a game of a player's list from its lot. */
function reader(data) {
  const lots = new Map();
  let loading = Promise.resolve();
  return async (game) => {
    const number = Math.ceil(data.n[game] / LOT);
    if (!lots.has(number)) {
      // Lots are loaded one after the other, because the scripts call the same function.
      loading = loading.catch(() => {}).then(() => load(`games/${number}.js`, "merelsLot"));
      lots.set(number, loading.then(async ([, head, packed]) =>
        ({ head, moves: await unpack(packed) })));
    }
    const { head, moves } = await lots.get(number);
    const index = head.n.indexOf(data.n[game]);
    if (index < 0) throw new Error("it is not on this site");
    const [, position, opening] = head.openings[head.opening[index]];
    return {
      reason: head.texts[head.text[index]], position, opening: opening.split(" ").filter(Boolean),
      moves: moves[index],
    };
  };
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
      const numbers = inAddress("players");
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
    .then(([data]) => new GameList($("games"), data, reader(data), data.engine));
}
if ($("crosstable")) new Crosstable($("crosstable"), JSON.parse($("matches").textContent));
stick();
window.addEventListener("resize", stick);
