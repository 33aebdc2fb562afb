// The crosstable of chosen players of a league.

import { element } from "./dom.js";
import { numbersInAddress } from "./games.js";
import { setStickyOffsets, sortable, Tally } from "./tables.js";

const DEFAULT_PLAYERS = 12;
const MAX_PLAYERS = 100;

export class Crosstable {
  /**
   * `players` are [page number, name, rank], with a null rank if it has none. `matches` are
   * [first, second, wins, draws, losses]: indices of two players, and the results of the first.
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
    /** A button that chooses the first `count` players. */
    const chooser = (text, count) => {
      const button = element("button", { type: "button", class: "more" }, text);
      button.addEventListener("click", () => {
        this.boxes.forEach((box, index) => { box.checked = index < count; });
        this.choose();
      });
      return button;
    };
    const maximum = Math.min(MAX_PLAYERS, players.length);
    this.container = element("div");
    root.append(
      element("div", { class: "choice" }, "Players:", chooser("none", 0),
        ...(maximum > DEFAULT_PLAYERS
          ? [chooser(`first ${DEFAULT_PLAYERS}`, DEFAULT_PLAYERS)] : []),
        chooser(maximum < players.length ? `first ${maximum}` : "all", maximum)),
      element("div", { class: "players", role: "group", "aria-label": "Players", tabindex: 0 },
        ...this.players.map(({ name, rank }, index) => element("label", {}, this.boxes[index],
          ` ${rank ? `${rank}.` : "–"} ${name}`))),
      this.container);
    const followAddress = () => {
      const numbers = numbersInAddress("players");
      this.players.forEach(({ number }, index) => {
        this.boxes[index].checked = numbers ? numbers.includes(number) : index < DEFAULT_PLAYERS;
      });
      this.show();
    };
    window.addEventListener("hashchange", followAddress);
    followAddress();
  }

  /** Indices of the chosen players. */
  get chosen() {
    return [...this.players.keys()].filter((index) => this.boxes[index].checked);
  }

  /** Puts the chosen players into the address, and shows their crosstable. */
  choose() {
    const numbers = this.chosen.map((index) => this.players[index].number);
    // Page numbers begin at 1; 0 stands for no players.
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
    const heads = shown.map((player, column) =>
      element("th", {}, element("abbr", { title: this.players[player].name }, String(column + 1))));
    const table = element("table", { class: "ranked cross" },
      element("thead", {}, element("tr", {}, element("th", {}, "#"),
        element("th", { class: "name" }, "Name"), element("th", {}, "Points"), ...heads)),
      element("tbody", {}, ...rows));
    sortable(table);
    this.container.replaceChildren(element("div", { class: "wide" }, table),
      element("p", { class: "note" }, "Cells: wins–draws–losses of the row's player against " +
        "the column's. Click a cell to list its games."));
    setStickyOffsets();
  }
}
