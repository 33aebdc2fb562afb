// The crosstable of chosen players of a league.

import { element } from "./dom.js";
import { inAddress } from "./games.js";
import { sortable, stick, Tally } from "./tables.js";

const DEFAULT_PLAYERS = 12;
const MAX_PLAYERS = 100;

export class Crosstable {
  /**
   * `players` are [number of the page, name, rank]; `matches` are [first, second, wins, draws,
   * losses] with indices of players.
   */
  constructor(root, { players, matches }) {
    this.players = players.map(([number, name, rank]) => ({ number, name, rank }));
    this.records = new Map();
    for (const [first, second, wins, draws, losses] of matches) {
      this.records.set(`${first} ${second}`, new Tally(wins, draws, losses));
      this.records.set(`${second} ${first}`, new Tally(losses, draws, wins));
    }
    this.boxes = this.players.map(() => {
      const box = element("input", { type: "checkbox" });
      box.addEventListener("change", () => this.choose());
      return box;
    });
    const button = (text, count) => {
      const made = element("button", { type: "button", class: "more" }, text);
      made.addEventListener("click", () => {
        this.boxes.forEach((box, index) => { box.checked = index < count; });
        this.choose();
      });
      return made;
    };
    const most = Math.min(MAX_PLAYERS, players.length);
    this.place = element("div");
    root.append(
      element("div", { class: "choice" }, "Players:", button("none", 0),
        ...(most > DEFAULT_PLAYERS ? [button(`first ${DEFAULT_PLAYERS}`, DEFAULT_PLAYERS)] : []),
        button(most < players.length ? `first ${most}` : "all", most)),
      element("div", { class: "players", role: "group", "aria-label": "Players", tabindex: 0 },
        ...this.players.map(({ name, rank }, index) => element("label", {}, this.boxes[index],
          ` ${rank ? `${rank}.` : "–"} ${name}`))),
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

  get chosen() {
    return [...this.players.keys()].filter((index) => this.boxes[index].checked);
  }

  /** Puts the chosen players into the address, and shows their crosstable. */
  choose() {
    const numbers = this.chosen.map((index) => this.players[index].number);
    history.replaceState(null, "", `#players=${numbers.join("-") || 0}`);
    this.show();
  }

  show() {
    const shown = this.chosen;
    const rows = shown.map((player, row) => {
      const { number, name } = this.players[player];
      const total = new Tally();
      const cells = shown.map((opponent) => {
        const record = this.records.get(`${player} ${opponent}`);
        if (!record) return element("td", {}, player === opponent ? "" : "–");
        for (const key of ["wins", "draws", "losses"]) total[key] += record[key];
        return element("td", {}, element("a", {
          class: `cell share-${Math.round((10 * record.points) / record.games)}`,
          href: `player-${number}.html#games=${this.players[opponent].number}`,
        }, `${record.wins}–${record.draws}–${record.losses}`));
      });
      return element("tr", {}, element("td", {}, String(row + 1)),
        element("th", { scope: "row" }, element("a", { href: `player-${number}.html` }, name)),
        element("td", {}, `${total.points.toFixed(1)}/${total.games}`), ...cells);
    });
    const heads = shown.map((player, row) =>
      element("th", {}, element("abbr", { title: this.players[player].name }, String(row + 1))));
    const table = element("table", { class: "ranked cross" },
      element("thead", {}, element("tr", {}, element("th", {}, "#"),
        element("th", { class: "name" }, "Name"), element("th", {}, "Points"), ...heads)),
      element("tbody", {}, ...rows));
    sortable(table);
    this.place.replaceChildren(element("div", { class: "wide" }, table),
      element("p", { class: "note" }, "Cells: wins–draws–losses of the row's player against the " +
        "column's. A click on a cell shows the games behind it."));
    stick();
  }
}
