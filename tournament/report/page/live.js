// The parts of a page that change while its tournament runs: progress, games in progress, standings
// and the latest games. Texts of games are inserted as text, never as HTML. Only the tables are
// HTML, which the server has escaped.

import { $, element } from "./dom.js";
import { Game, gamesOf, readGame, resultText } from "./game.js";
import { GameList } from "./games.js";
import { setStickyOffsets, sortable } from "./tables.js";
import { GameView } from "./viewer.js";

/** Milliseconds that a finished game stays on its card before another game may replace it. */
const LINGER = 2000;
/** Milliseconds without an event after which the runner counts as stalled. */
const SILENCE = 12000;
/** The most games in the list of the latest games. */
const KEPT_GAMES = 200;
const GONE = "The runner has ended unexpectedly, or it does not answer. This page shows the last " +
  "state, and continues if the run is resumed at this address.";
const SILENT = "The runner has sent nothing for a while: it is suspended, or the machine is too " +
  "busy.";

/** A game in progress, or the last one that was played in its place. */
class Card {
  constructor(onOpen) {
    this.game = null;
    this.view = new GameView();
    this.title = element("button", {
      type: "button", class: "title", title: "Enlarge, and step through the moves",
    });
    this.result = element("span", { class: "result" });
    this.last = element("p", { class: "moves" });
    this.root = element("article", { class: "card" },
      element("h3", {}, this.title, this.result), this.view.table, this.view.graph, this.last);
    this.root.addEventListener("click", () => onOpen(this.game));
  }

  show(game) {
    this.game = game;
    this.title.textContent = `Game ${game.n}`;
    const names = game.names.join(" against ");
    this.title.setAttribute("aria-label", `Game ${game.n}, ${names}: enlarge`);
    this.result.textContent = game.result === null ? "" : resultText(game.result);
    this.root.classList.toggle("over", game.result !== null);
    /** The time until which the card keeps its game. */
    this.until = game.result === null ? Infinity : performance.now() + LINGER;
    this.view.draw(game, game.length);
    this.last.textContent = game.result !== null ? game.text
      : game.length ? game.noteOn(game.length - 1) : "";
  }
}

/** Follows the run that this page shows. */
export class Live {
  constructor() {
    this.list = new GameList($("games"), []);
    this.cards = [];
    /** The games in progress by number. */
    this.games = new Map();
    /** How the run ended: a `text`, and `end`, a class of the banner; null while it continues. */
    this.over = null;
    /** Whether the list lacks games that have ended. */
    this.isStale = false;
    /** The time of the last event. */
    this.lastEvent = performance.now();
    /** The runner: "here", "silent" (for `SILENCE`), or "gone" (the connection failed). */
    this.state = "gone";
    const { port } = new SharedWorker("stream.js");
    port.onmessage = ({ data }) => this.take(data);
    setInterval(() => this.tick(), 100);
  }

  /**
   * Processes an event of the stream: the whole state, or the parts that have changed. It is null
   * if the connection failed.
   */
  async take(event) {
    if (this.over) return;
    this.lastEvent = performance.now();
    this.state = event ? "here" : "gone";
    const { about, score, standings, details, notices } = event ?? {};
    const { playing, games, results, over } = event ?? {};
    // An event with `about` is the whole state, which has every game to list.
    if (about) {
      this.tournament = about;
      this.list.games = [];
    }
    if (score) this.score = score;
    for (const [id, html] of Object.entries({ standings, details })) {
      if (html !== undefined) this.fill($(id), html);
    }
    if (notices) $("notices").replaceChildren(...notices.map((text) => element("li", {}, text)));
    if (playing) this.updateGames(playing, games);
    this.over = over ?? null;
    if (results) await this.finish(gamesOf(results));
    if (over) await this.end();
    this.draw();
  }

  /** Replaces a section; wide tables keep what is in view. */
  fill(box, html) {
    const wide = () => [...box.querySelectorAll(".wide")];
    const offsets = wide().map((table) => table.scrollLeft);
    box.innerHTML = html;
    wide().forEach((table, index) => { table.scrollLeft = offsets[index] ?? 0; });
    setStickyOffsets();
  }

  /** Takes the numbers of the games in progress, and those games that have changed. */
  updateGames(playing, changed) {
    for (const data of changed) this.games.set(data.n, new Game(data));
    for (const n of this.games.keys()) if (!playing.includes(n)) this.games.delete(n);
    for (const { n } of changed) if (this.games.has(n)) this.show(this.games.get(n));
  }

  /** Shows a game on its card, if it has one, and in the open dialog. */
  show(game) {
    this.cards.find((card) => card.game.n === game.n)?.show(game);
    this.list.viewer.update(game);
  }

  async finish(games) {
    this.list.games = [...games.toReversed(), ...this.list.games].slice(0, KEPT_GAMES);
    const shown = [this.list.viewer.game, ...this.cards.map((card) => card.game)]
      .filter((game) => game?.result === null).map(({ n }) => n);
    for (const entry of games) if (shown.includes(entry.n)) this.show(await readGame(entry));
    this.relist();
  }

  /** Lists the latest games, later if a game is open or clicked now; keeps the focus. */
  relist() {
    this.isStale = this.list.viewer.dialog.open || this.list.container.matches(":active");
    if (this.isStale) return;
    const label = this.list.container.querySelector(":focus")?.ariaLabel;
    this.list.show(0, 0);
    if (label) this.list.container.querySelector(`[aria-label="${label}"]`)?.focus();
  }

  /** Shows the last games, because no game is in progress any more. */
  async end() {
    this.games.clear();
    $("cards-title").textContent = "Last games";
    const last = this.list.games.slice(0, Math.max(1, this.cards.length));
    for (const [index, entry] of last.entries()) {
      (this.cards[index] ?? this.add()).show(await readGame(entry));
    }
    for (const table of document.querySelectorAll("main > :not(#games) table")) sortable(table);
    this.relist();
  }

  add() {
    const card = new Card((game) => this.list.viewer.open(game));
    this.cards.push(card);
    $("cards").append(card.root);
    $("cards").dataset.games = this.cards.length;
    return card;
  }

  /** Notices a silent runner, gives each game in progress a card, and shows the clocks. */
  tick() {
    if (!this.over && this.state === "here" && performance.now() - this.lastEvent > SILENCE) {
      this.state = "silent";
      this.draw();
    }
    if (document.hidden) return;
    if (this.isStale) this.relist();
    const shown = this.cards.map((card) => card.game.n);
    for (const game of this.games.values()) {
      if (shown.includes(game.n)) continue;
      // A card is free if its game ended a while ago, or is gone without a result.
      const free = this.cards.find((card) => !this.games.has(card.game.n) &&
        (card.game.result === null || performance.now() > card.until));
      // With a card for each game in progress, wait until one is free.
      if (!free && this.cards.length >= this.games.size) break;
      (free ?? this.add()).show(game);
    }
    for (const { view } of this.cards) view.tick();
    this.list.viewer.tick();
  }

  /** Shows the progress, also in the tab's title, and the state of the runner. */
  draw() {
    const { over, score, state } = this;
    const text = over ? over.text : { gone: GONE, silent: SILENT, here: "" }[state];
    if ($("banner").textContent !== text) $("banner").textContent = text;
    $("banner").hidden = !text;
    $("banner").className = `banner ${over ? over.end : state}`;
    const word = over ? "over" : state === "here" ? "live" : state;
    $("state").textContent = word;
    $("state").className = `state ${word}`;
    // The clocks stop, because nothing is known about the games now.
    if (state === "gone") for (const game of this.games.values()) game.goTime = null;
    if (!score) return;
    const mark = over ? "■ " : state === "here" ? "" : "✕ ";
    document.title = `${mark}${score.text} · ${this.tournament}`;
    $("bar").value = score.share;
    const pace = over || state === "gone" ? "" : score.pace;
    $("score").textContent = [score.text, pace].filter(Boolean).join(" · ");
  }
}
