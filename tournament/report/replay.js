// A game on a board: both players with score and clock, the graph of their scores, and the moves.

import { $, clockText, COLOURS, element, svg } from "./dom.js";
import { Drawing, parseMove } from "./drawing.js";
import { inMen, resultText, scoreText } from "./game.js";

/** The y coordinate of a score for White in men: 3 if White wins, 50 if level, 97 if Black wins. */
const height = (men) => (50 - 47 * Math.tanh(men / 3)).toFixed(1);

/** Draws a position of a game on a board. */
export function drawPosition(board, game, ply) {
  board.show(game.positions[ply].men, ply ? parseMove(game.moves[ply - 1].text) : null);
  board.root.setAttribute("aria-label", game.describe(ply));
}

/** A player's row beside a board: name, score and depth, and the clock. */
export class Player {
  constructor(side) {
    this.side = side;
    this.name = element("span", { class: "name" });
    this.hand = element("span", { class: "hand" });
    this.score = element("span", { class: "score" });
    this.clock = element("span", { class: "clock" });
    this.root = element("div", { class: `player ${COLOURS[side].toLowerCase()}` },
      element("span", { class: "man", role: "img", "aria-label": COLOURS[side] }),
      this.name, element("span", { class: "info" }, this.score, this.hand), this.clock);
  }

  /** Shows the position after `ply` moves of a game. */
  draw(game, ply) {
    Object.assign(this, { game, ply });
    this.name.textContent = this.name.title = game.names[this.side];
    this.root.classList.toggle("winner", game.result === ["1-0", "0-1"][this.side]);
    const [, hand] = game.men(this.side, ply);
    this.hand.textContent = hand ? `${hand} in hand` : "";
    const last = game.lastOf(this.side, ply);
    const depth = last && last.depth ? `depth ${last.depth}` : "";
    const parts = last ? [scoreText(last.score), depth] : [];
    this.score.textContent = parts.filter(Boolean).join(" · ");
    this.tick();
  }

  /** Shows the clock; without clocks, the time used so far for this move, or for the last one. */
  tick() {
    const { game, side, ply } = this;
    const last = game.lastOf(side, ply);
    const atEnd = ply === game.length;
    const running = atEnd && game.mover === side && game.asked !== null;
    const spent = running ? performance.now() - game.asked : 0;
    const left = last ? last.left : game.clocks[side];
    let text = "";
    if (Number.isFinite(left)) text = clockText((left - spent) / 1000);
    else if (running) text = `${(spent / 1000).toFixed(1)} s`;
    else if (last && Number.isFinite(last.used)) {
      text = `${(last.used / 1000).toFixed(last.used < 9950 ? 2 : 1)} s`;
    }
    if (this.clock.textContent !== text) this.clock.textContent = text;
    this.clock.hidden = !text;
    this.root.classList.toggle("moving", atEnd && game.mover === side);
    this.clock.title = Number.isFinite(left) ? "time left" : "time for this move";
  }
}

/** A graph of both engines' scores in a game, from White's view. */
export class Scores {
  constructor() {
    this.drawing = svg("svg", {
      role: "img", preserveAspectRatio: "none",
      "aria-label": "Both engines' scores, White's wins above",
    });
    this.root = element("div", { class: "graph" }, this.drawing,
      element("span", { class: "top", "aria-hidden": "true" }, "White wins"),
      element("span", { class: "bottom", "aria-hidden": "true" }, "Black wins"));
  }

  /** Draws the scores; `ply` marks a position, null none. */
  draw(game, ply = null) {
    this.width = Math.max(game.length, 20);
    this.drawing.setAttribute("viewBox", `0 0 ${this.width} 100`);
    this.drawing.replaceChildren(...scoreLines(game, this.width, ply));
  }

  /** The ply under the pointer. */
  plyAt(event) {
    const box = this.drawing.getBoundingClientRect();
    return Math.round(((event.clientX - box.left) / box.width) * this.width);
  }
}

function scoreLines(game, width, ply) {
  const parts = [svg("line", { class: "zero", x1: 0, x2: width, y1: 50, y2: 50 })];
  for (const side of [1, 0]) {
    const places = [];
    game.moves.forEach((move, index) => {
      const men = move.side === side ? inMen(move.score) : null;
      if (men !== null) places.push(`${index + 1},${height(side ? -men : men)}`);
    });
    const colour = side ? "black" : "white";
    // A line from a point to itself is drawn as a dot, because its ends are round.
    if (places.length === 1) places.push(places[0]);
    parts.push(svg("polyline", { class: `scores ${colour}`, points: places.join(" ") }));
  }
  if (ply !== null) parts.push(svg("line", { class: "here", x1: ply, x2: ply, y1: 0, y2: 100 }));
  return parts;
}

/** A dialog with one game: it follows a game in progress, or steps through its moves. */
export class Viewer {
  /** Adds the dialog to the page; `points` are the names of all points, in order. */
  constructor(points) {
    this.game = null;
    const close = element("button", {
      type: "button", id: "viewer-close", class: "close", "aria-label": "Close",
      title: "Close (Esc)",
    }, "×");
    this.dialog = element("dialog", { id: "viewer", "aria-labelledby": "viewer-title" }, close);
    document.body.append(this.dialog);
    this.players = [new Player(0), new Player(1)];
    const board = svg("svg", { class: "board", role: "img" });
    this.board = new Drawing(board, points);
    this.graph = new Scores();
    const buttons = [
      ["first", "«", "First position", "Home"], ["back", "‹", "One move back", "←"],
      ["forward", "›", "One move forward", "→"], ["last", "»", "Last position", "End"],
    ].map(([id, text, label, title]) =>
      element("button", { type: "button", id, "aria-label": label, title }, text));
    this.dialog.append(
      element("h2", { id: "viewer-title" }),
      element("div", { class: "table" }, this.players[1].root, board, this.players[0].root),
      element("div", { class: "side" },
        element("p", { id: "viewer-result", class: "verdict" }), this.graph.root,
        element("p", { id: "viewer-note", class: "note", role: "status" }),
        element("div", { class: "buttons", role: "group", "aria-label": "Navigation" }, ...buttons),
        element("ol", {
          id: "viewer-moves", class: "move-list scroll", tabindex: 0, "aria-label": "Moves",
        })),
    );
    this.steps = { first: () => 0, back: () => this.ply - 1, forward: () => this.ply + 1,
      last: () => Infinity };
    for (const [name, step] of Object.entries(this.steps)) {
      $(name).addEventListener("click", () => this.go(step()));
    }
    this.graph.root.addEventListener("click", (event) => this.go(this.graph.plyAt(event)));
    close.addEventListener("click", () => this.dialog.close());
    this.dialog.addEventListener("click", (event) => {
      if (event.target === this.dialog) this.dialog.close();
    });
    this.dialog.addEventListener("close", () => {
      // The event comes late: another game may be open by then.
      if (!this.dialog.open) this.game = null;
    });
    this.dialog.addEventListener("keydown", (event) => this.key(event));
  }

  /** Handles the arrow keys, Home and End. */
  key(event) {
    const keys = { ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last" };
    const name = keys[event.key];
    if (!this.game || !name || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.go(this.steps[name]());
  }

  /** Shows a game at a position, by default the last. */
  open(game, ply = game.length) {
    Object.assign(this, { game, listed: [] });
    $("viewer-moves").replaceChildren();
    this.go(ply);
    if (!this.dialog.open) this.dialog.showModal();
  }

  go(ply) {
    this.ply = Math.min(Math.max(0, ply), this.game.length);
    this.follows = this.ply === this.game.length;
    this.draw();
  }

  /** Draws the game that is shown, if any. */
  draw() {
    const { game } = this;
    if (!game) return;
    this.ply = this.follows ? game.length : Math.min(this.ply, game.length);
    const { ply } = this;
    $("viewer-title").textContent = `Game ${game.n}: ${game.names.join(" – ")}`;
    const end = game.result === null ? "" : `${resultText(game.result)} · ${game.reason}`;
    $("viewer-result").textContent = end;
    for (const player of this.players) player.draw(game, ply);
    drawPosition(this.board, game, ply);
    this.graph.draw(game, ply);
    $("viewer-note").textContent = ply ? this.noteOn(ply - 1) : "The first position.";
    $("first").disabled = $("back").disabled = ply === 0;
    $("last").disabled = $("forward").disabled = ply === game.length;
    this.drawMoves();
  }

  noteOn(index) {
    const { score, depth, used } = this.game.moves[index];
    const parts = [this.game.textOf(index)];
    if (index < this.game.opened) parts.push("opening");
    else parts.push(scoreText(score), depth ? `depth ${depth}` : "",
      Number.isFinite(used) ? `${used / 1000} s` : "");
    return parts.filter(Boolean).join(" · ");
  }

  /** Adds new moves to the list; a restarted game is listed from its first move. */
  drawMoves() {
    const list = $("viewer-moves");
    const texts = this.game.moves.map((move) => move.text);
    if (this.listed.some((text, index) => text !== texts[index])) {
      list.replaceChildren();
      this.listed = [];
    }
    for (let index = this.listed.length; index < texts.length; index += 1) {
      const opening = index < this.game.opened ? "opening" : "";
      const numbered = this.game.moves[index].side === 0 || index === 0;
      const button = element("button", { type: "button", class: opening },
        numbered ? this.game.textOf(index) : texts[index]);
      button.addEventListener("click", () => this.go(index + 1));
      list.append(element("li", {}, button));
    }
    this.listed = texts;
    [...list.children].forEach((item, index) => {
      item.firstChild.setAttribute("aria-current", String(index === this.ply - 1));
    });
    const current = list.children[this.ply - 1];
    if (current) list.scrollTop = current.offsetTop - list.offsetTop - list.clientHeight / 2;
    else list.scrollTop = 0;
  }

  tick() {
    if (this.game) for (const player of this.players) player.tick();
  }
}
