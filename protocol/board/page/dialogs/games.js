// The dialog My games: searches, opens, deletes and exports the stored games.

import { $, element, svg } from "../dom.js";
import { at, LINES, menOf } from "../drawing.js";
import { api } from "../net.js";
import { confirmLeaving, send, showMessage } from "../page.js";
import { title as rulesTitle } from "../rules.js";
import { counted, fromServer, LANGUAGE, playerName, t } from "../text.js";
import { ask, download, on, show } from "./form.js";

const DATE = new Intl.DateTimeFormat(LANGUAGE, { dateStyle: "long" });

/** Returns the title of a game of the user against an engine; null for any other game. */
function ownTitle(game) {
  const user = game.types ? game.types.indexOf("human") : -1;
  const names = [game.white, game.black];
  // A name that the board gave is an array, which `fromServer` translates; other names are strings.
  if (user < 0 || game.types[1 - user] !== "program" || names[user][0] !== "You") return null;
  const name = playerName(names[1 - user]);
  if (game.unfinished || game.result === "*") return t("games.own.open", { name });
  const winner = { "1-0": 0, "0-1": 1 }[game.result];
  if (winner === undefined) return t("games.own.draw", { name });
  return t(winner === user ? "games.own.win" : "games.own.loss", { name });
}

const MONTH = new Intl.DateTimeFormat(LANGUAGE, { month: "long" });

/** Returns the translated words by which the server searches games, by the server's keys. */
function labels(about) {
  const months = Array.from({ length: 12 }, (_, month) => [
    `month.${String(month + 1).padStart(2, "0")}`, MONTH.format(new Date(2000, month)),
  ]);
  const levels = about.levels.map(({ name }) => [`level.${name}`, fromServer(name)]);
  const rules = Object.keys(about.variants).map((name) => [`rules.${name}`, rulesTitle(name)]);
  const results = ["win", "loss", "draw", "open"]
    .map((key) => [key, t(`games.own.${key}`, { name: "" })]);
  return Object.fromEntries([...months, ...levels, ...rules, ...results]);
}

/** Returns a PGN date in words, or with dashes if a part of it is unknown. */
function dateText(date) {
  const match = /^(\d{4})\.(\d\d)\.(\d\d)$/.exec(date);
  return match ? DATE.format(new Date(match[1], match[2] - 1, match[3]))
    : date.replaceAll(".", "-");
}

/** Returns the title of a game: the opponent and the result, or both players and the result. */
export function title(game) {
  const own = ownTitle(game);
  if (own) return own;
  const result = game.unfinished || game.result === "*" ? t("games.unfinished") : game.result;
  if (game.event === "Analysis") return fromServer("Analysis");
  const names = [game.white, game.black].map(playerName);
  const isUnnamed = names.every((name) => name === "?");
  return t("games.players", {
    players: isUnnamed ? t("games.unnamed") : names.join(" – "), result,
  });
}

/** Returns the second line of a game in a list. */
function details(game) {
  const parts = [
    game.elsewhere ? t("games.elsewhere") : "",
    dateText(game.date),
    // The key of a game that was played here begins with its date and time: YYYYMMDD-HHMMSS.
    game.key?.startsWith(game.date.replaceAll(".", ""))
      ? `${game.key.slice(9, 11)}:${game.key.slice(11, 13)}` : "",
    game.plies && counted("move", game.plies),
    rulesTitle(game.variant),
    ["A game on the board", "Analysis"].includes(game.event) ? "" : game.event,
  ];
  // Unknown PGN tags are "?", unknown dates "????-??-??".
  return parts.filter((part) => part && !part.startsWith("?")).join(" · ");
}

/** Returns a small picture of the men on the board. */
function miniature(men) {
  return svg("svg", { class: "board mini", viewBox: "0 0 700 700", "aria-hidden": "true" },
    svg("rect", { class: "wood", width: 700, height: 700, rx: 40 }),
    svg("path", { class: "lines", d: LINES }),
    ...[...menOf(men)].map(([point, colour]) => {
      const [cx, cy] = at(point);
      return svg("circle", { class: `man ${colour}`, r: 48, cx, cy });
    }));
}

/** Returns an item of a list of games; its button opens the game. */
export function row(game, onOpen) {
  const open = element("button", { type: "button", class: `open ${game.own || ""}` },
    ...(game.men ? [miniature(game.men)] : []),
    element("span", { class: "who" }, title(game)), element("small", {}, details(game)),
    ...(game.unfinished ? [element("span", { class: "on" }, t("resume.go"))] : []));
  open.addEventListener("click", onOpen);
  return element("li", {}, open);
}

/** The dialog. Of its games, the one that the board shows has `here`, and cannot be picked. */
export class Games {
  constructor(about) {
    this.labels = labels(about);
    /** The games listed. */
    this.games = [];
    /** The keys of the games that are picked. */
    this.keys = new Set();
    on("input", { "games-query": () => this.listAgain() });
    on("click", {
      "games-save": () => this.save(), "games-all": () => this.pickAll(),
      "games-delete": () => this.remove(this.picked()),
    });
  }

  async save() {
    const keys = this.picked().map(({ key }) => key);
    const answer = await send("all_games", {
      query: $("games-query").value, keys, labels: this.labels,
    });
    if (!answer) return;
    download("games.pgn", new Blob([answer.record], { type: "application/x-chess-pgn" }));
  }

  /** Picks all games that can be deleted, or none if all are picked. */
  pickAll() {
    const deletable = this.games.filter(({ here }) => !here);
    const areAllPicked = deletable.every(({ key }) => this.keys.has(key));
    this.keys = new Set(areAllPicked ? [] : deletable.map(({ key }) => key));
    this.draw();
  }

  async open() {
    $("games-query").value = "";
    this.keys.clear();
    await this.list();
    return show("games");
  }

  async list() {
    const query = $("games-query").value;
    const { games, found, folder } = await api("games", { query, labels: this.labels });
    // An answer to an older query may arrive later.
    if (query !== $("games-query").value) return;
    this.games = games;
    this.draw();
    const more = found > games.length
      ? ` ${t("games.latest", { count: games.length })}` : "";
    $("games-count").textContent = found || query ? `${counted("game", found)}.${more}`
      : t("games.none", { folder });
    $("games-save").disabled = !found;
  }

  /** Lists the games in the open dialog; after an error, shows it. */
  listAgain() {
    return this.list().catch((error) => showMessage(error.message));
  }

  /** Returns the picked games that are listed. */
  picked() {
    return this.games.filter(({ key }) => this.keys.has(key));
  }

  draw() {
    $("games-list").replaceChildren(...this.games.map((game) => this.pickableRow(game)));
    this.drawButtons();
  }

  drawButtons() {
    const count = this.picked().length;
    $("games-delete").disabled = !count;
    $("games-all").disabled = !this.games.some(({ here }) => !here);
    $("games-save").textContent = count ? t("games.save.picked", { count }) : t("games.save");
  }

  /** Returns the item of a game with a box that picks it, unless the game is on the board. */
  pickableRow(game) {
    if (game.here) return row(game, () => $("games-dialog").close());
    const box = element("input", {
      type: "checkbox", "aria-label": t("games.pick", { game: title(game) }),
    });
    box.checked = this.keys.has(game.key);
    box.addEventListener("change", () => {
      if (box.checked) this.keys.add(game.key);
      else this.keys.delete(game.key);
      this.drawButtons();
    });
    const item = row(game, () => this.reopen(game));
    item.prepend(element("label", { class: "pick" }, box));
    return item;
  }

  async reopen(game) {
    const isOpen = await confirmLeaving() && await send("reopen", { key: game.key });
    if (isOpen) $("games-dialog").close();
  }

  /** Deletes games after the user has confirmed it. */
  async remove(games) {
    const name = games.length === 1 ? title(games[0]) : counted("game", games.length);
    const text = t("ask.delete.text", { games: name });
    if (!await ask(t("ask.delete.picked"), text, t("delete"), t("ask.delete.no"))) return;
    for (const { key, changed } of games) {
      if (!await send("forget", { key, changed })) break;
      this.keys.delete(key);
    }
    await this.listAgain();
  }
}
