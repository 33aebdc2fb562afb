// The games in progress: a grid of cards, each with a board.

import { element, svg } from "./dom.js";
import { Drawing } from "./drawing.js";
import { resultText } from "./game.js";
import { drawPosition, Player, Scores } from "./replay.js";

/** Milliseconds that a finished game stays on its card before another game may replace it. */
const LINGER = 4000;
/** Number of latest moves on a card. */
const MOVES = 14;

class Card {
  constructor(points, onOpen) {
    this.game = null;
    this.players = [new Player(0), new Player(1)];
    this.title = element("button", { type: "button", class: "title" });
    this.result = element("span", { class: "result" });
    const root = svg("svg", { class: "board", role: "img" });
    this.board = new Drawing(root, points);
    this.graph = new Scores();
    this.moves = element("p", { class: "moves" });
    this.root = element("article", { class: "card" },
      element("h3", {}, this.title, this.result),
      element("div", { class: "table" }, this.players[1].root, root, this.players[0].root),
      element("div", { class: "side" }, this.graph.root, this.moves));
    this.root.addEventListener("click", () => onOpen(this.game));
  }

  draw() {
    const { game } = this;
    this.title.textContent = `Game ${game.n}`;
    this.title.title = "Enlarge, and step through the moves";
    const names = game.names.join(" against ");
    this.title.setAttribute("aria-label", `Game ${game.n}, ${names}: enlarge`);
    this.result.textContent = game.result === null ? "" : resultText(game.result);
    this.root.classList.toggle("over", game.result !== null);
    for (const player of this.players) player.draw(game, game.length);
    drawPosition(this.board, game, game.length);
    this.graph.draw(game);
    const first = Math.max(0, game.length - MOVES);
    const texts = game.moves.slice(first).map((move, index) => {
      const numbered = move.side === 0 || index === 0;
      return numbered ? game.textOf(first + index) : move.text;
    });
    const last = game.length ? `${game.textOf(game.length - 1)} — ` : "";
    this.moves.textContent = game.result === null ? texts.join(" ") : last + game.reason;
  }
}

export class Cards {
  constructor(root, points, onOpen) {
    Object.assign(this, { root, points, onOpen, cards: [] });
    this.waiting = new Set();
    this.changed = new Set();
    root.replaceChildren();
  }

  /** Shows a game as soon as a card is free. */
  add(game) {
    this.waiting.add(game);
  }

  /** Marks a game for redrawing after new moves or its end. */
  change(game) {
    // A game that ended before a card was free is not shown.
    if (game.result !== null) this.waiting.delete(game);
    // A hidden page draws nothing, so games without a card must not accumulate here.
    if (this.cards.some((card) => card.game === game)) this.changed.add(game);
  }

  /** Draws the changed cards; `live`: number of games in progress. */
  draw(live) {
    const now = performance.now();
    for (const game of this.waiting) {
      const card = this.cards.find((shown) => shown.game.result !== null &&
        now - shown.game.ended > LINGER) ?? (this.cards.length < live ? this.make() : null);
      if (!card) break;
      card.game = game;
      this.waiting.delete(game);
      this.changed.add(game);
    }
    for (const card of this.cards) if (this.changed.has(card.game)) card.draw();
    this.changed.clear();
  }

  /** After the run, replaces games on the cards by those of the latest `games` without a card. */
  end(games) {
    this.waiting.clear();
    if (!this.cards.length && games.length) {
      this.make().game = games.at(-1);
      this.changed.add(games.at(-1));
    }
    const shown = new Map(this.cards.map((card) => [card.game.n, card]));
    const latest = games.slice(-this.cards.length);
    const free = this.cards.filter(({ game }) =>
      games.some(({ n }) => n === game.n) && !latest.some(({ n }) => n === game.n));
    for (const game of latest) if (!shown.has(game.n) && free.length) {
      const card = free.shift();
      card.game = game;
      this.changed.add(game);
    }
  }

  make() {
    const card = new Card(this.points, this.onOpen);
    this.cards.push(card);
    this.root.append(card.root);
    document.body.dataset.games = this.cards.length;
    return card;
  }

  tick() {
    for (const card of this.cards) for (const player of card.players) player.tick();
  }
}
