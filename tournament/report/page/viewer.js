// A game on a board: both players with score and clock, the graph of their scores, and the moves.

import { $, clockText, COLOURS, element, svg } from "./dom.js";
import { parseMove } from "./drawing.js";
import { inMen, newBoard, scoreText } from "./game.js";

/** The y coordinate of a score for White in men: 3 if White wins, 50 if level, 97 if Black wins. */
const height = (men) => (50 - 47 * Math.tanh(men / 3)).toFixed(1);

/** A player's row beside a board: name, score and depth, and the clock. */
class Player {
  constructor(side) {
    this.side = side;
    this.name = element("span", { class: "name" });
    this.score = element("span", { class: "score" });
    this.clock = element("span", { class: "clock" });
    this.root = element("div", { class: `player ${COLOURS[side].toLowerCase()}` },
      element("span", { class: "man", role: "img", "aria-label": COLOURS[side] }),
      this.name, this.score, this.clock);
  }

  draw(game, ply) {
    this.name.textContent = this.name.title = game.names[this.side];
    this.root.classList.toggle("winner", game.result === ["1-0", "0-1"][this.side]);
    const [, hand] = game.men(this.side, ply);
    const { score, depth } = game.lastOf(this.side, ply) ?? {};
    const parts = [scoreText(score), depth && `depth ${depth}`, hand && `${hand} in hand`];
    this.score.textContent = parts.filter(Boolean).join(" · ");
    this.tick(game, ply);
  }

  /** Shows the clock; without clocks, the time used so far for this move, or for the last one. */
  tick(game, ply) {
    const last = game.lastOf(this.side, ply);
    const isMoving = ply === game.length && game.mover === this.side;
    const running = isMoving && game.goTime !== null;
    const spent = running ? performance.now() - game.goTime : 0;
    const left = last ? last.left : game.clocks[this.side];
    let text = "";
    if (Number.isFinite(left)) text = clockText((left - spent) / 1000);
    else if (running) text = `${(spent / 1000).toFixed(1)} s`;
    else if (last && Number.isFinite(last.used)) {
      text = `${(last.used / 1000).toFixed(last.used < 9950 ? 2 : 1)} s`;
    }
    if (this.clock.textContent !== text) this.clock.textContent = text;
    this.clock.hidden = !text;
    this.root.classList.toggle("moving", isMoving);
    this.clock.title = Number.isFinite(left) ? "time left" : "time for this move";
  }
}

/** A board between its players, and the graph of both engines' scores from White's view. */
export class GameView {
  constructor() {
    this.players = [new Player(0), new Player(1)];
    const root = svg("svg", { class: "board", role: "img" });
    this.board = newBoard(root);
    this.table = element("div", { class: "table" },
      this.players[1].root, root, this.players[0].root);
    this.plot = svg("svg", {
      role: "img", preserveAspectRatio: "none",
      "aria-label": "Both engines' scores, White's wins above",
    });
    this.graph = element("div", { class: "graph" }, this.plot,
      element("span", { class: "top", "aria-hidden": "true" }, "White wins"),
      element("span", { class: "bottom", "aria-hidden": "true" }, "Black wins"));
  }

  /** Shows the position after `ply` moves; `isMarked`: mark it in the graph. */
  draw(game, ply, isMarked = false) {
    Object.assign(this, { game, ply });
    for (const player of this.players) player.draw(game, ply);
    const { men } = game.positions[ply];
    this.board.show(men, ply ? parseMove(game.moves[ply - 1].text) : null);
    this.board.root.setAttribute("aria-label", game.describe(ply));
    this.width = Math.max(game.length, 20);
    this.plot.setAttribute("viewBox", `0 0 ${this.width} 100`);
    this.plot.replaceChildren(
      svg("line", { class: "zero", x1: 0, x2: this.width, y1: 50, y2: 50 }),
      ...[1, 0].map((side) => this.scores(side)),
      ...(isMarked ? [svg("line", { class: "here", x1: ply, x2: ply, y1: 0, y2: 100 })] : []));
  }

  /** The line of a side's scores. */
  scores(side) {
    const places = this.game.moves.flatMap((move, index) => {
      const men = move.side === side ? inMen(move.score) : null;
      return men === null ? [] : [`${index + 1},${height(side ? -men : men)}`];
    });
    // A line from a point to itself is drawn as a dot, because its ends are round.
    if (places.length === 1) places.push(places[0]);
    const colour = COLOURS[side].toLowerCase();
    return svg("polyline", { class: `scores ${colour}`, points: places.join(" ") });
  }

  /** The ply under the pointer in the graph. */
  plyAt(event) {
    const box = this.plot.getBoundingClientRect();
    return Math.round(((event.clientX - box.left) / box.width) * this.width);
  }

  tick() {
    for (const player of this.players) player.tick(this.game, this.ply);
  }
}

/** Steps through a game: id of the button, its text, its label, its key, and the new ply. */
const STEPS = [
  ["first", "«", "First position", "Home", () => 0],
  ["back", "‹", "One move back", "ArrowLeft", (ply) => ply - 1],
  ["forward", "›", "One move forward", "ArrowRight", (ply) => ply + 1],
  ["last", "»", "Last position", "End", () => Infinity],
];

/** A dialog with one game: it follows a game in progress, or steps through its moves. */
export class Viewer {
  constructor() {
    this.game = null;
    const close = element("button", {
      type: "button", id: "viewer-close", "aria-label": "Close", title: "Close (Esc)",
    }, "×");
    this.view = new GameView();
    this.buttons = STEPS.map(([id, text, label, key, step]) => {
      const button = element("button", {
        type: "button", id, "aria-label": label, title: key.replace("Arrow", ""),
      }, text);
      button.addEventListener("click", () => this.go(step(this.ply)));
      return button;
    });
    this.title = element("h2", { id: "viewer-title" });
    this.verdict = element("p", { id: "viewer-result", class: "verdict" });
    this.note = element("p", { id: "viewer-note", class: "note", role: "status" });
    this.list = element("ol", {
      id: "viewer-moves", class: "move-list scroll", tabindex: 0, "aria-label": "Moves",
    });
    this.dialog = element("dialog", { id: "viewer", "aria-labelledby": "viewer-title" },
      close, this.title, this.view.table,
      element("div", { class: "side" }, this.verdict, this.view.graph, this.note,
        element("div", { class: "buttons", role: "group", "aria-label": "Navigation" },
          ...this.buttons),
        this.list));
    document.body.append(this.dialog);
    this.view.graph.addEventListener("click", (event) => this.go(this.view.plyAt(event)));
    close.addEventListener("click", () => this.dialog.close());
    this.dialog.addEventListener("click", (event) => {
      if (event.target === this.dialog) this.dialog.close();
    });
    this.dialog.addEventListener("close", () => {
      // The event comes late: another game may be open by then.
      if (!this.dialog.open) this.game = null;
    });
    this.dialog.addEventListener("keydown", (event) => this.press(event));
  }

  press(event) {
    const step = STEPS.find(([, , , key]) => key === event.key)?.[4];
    if (!this.game || !step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.go(step(this.ply));
  }

  /** Shows a game at a position, by default the last. */
  open(game, ply = game.length) {
    this.game = game;
    this.list.replaceChildren();
    this.go(ply);
    if (!this.dialog.open) this.dialog.showModal();
  }

  /** Shows the game after more of its moves, if it is the open one. */
  update(game) {
    if (this.game?.n !== game.n) return;
    this.game = game;
    this.go(this.follows ? game.length : this.ply);
  }

  go(ply) {
    const { game } = this;
    this.ply = Math.min(Math.max(0, ply), game.length);
    /** Whether the dialog shows the latest position, and goes on to later ones. */
    this.follows = this.ply === game.length;
    this.title.textContent = `Game ${game.n}: ${game.names.join(" – ")}`;
    this.verdict.textContent = game.verdict;
    this.view.draw(game, this.ply, true);
    this.note.textContent = this.ply ? game.noteOn(this.ply - 1) : "The first position.";
    this.buttons.forEach((button, index) => {
      button.disabled = index < 2 ? this.ply === 0 : this.follows;
    });
    this.drawMoves();
  }

  /** Marks the move of the position; lists the moves if they have changed. */
  drawMoves() {
    const { game, list } = this;
    const texts = game.moves.map((move, index) =>
      move.side === 0 || index === 0 ? game.textOf(index) : move.text);
    if (texts.join() !== [...list.children].map((item) => item.textContent).join()) {
      list.replaceChildren(...texts.map((text, index) => {
        const style = index < game.openingLength ? "opening" : "";
        const button = element("button", { type: "button", class: style }, text);
        button.addEventListener("click", () => this.go(index + 1));
        return element("li", {}, button);
      }));
    }
    [...list.children].forEach((item, index) => {
      item.firstChild.setAttribute("aria-current", String(index === this.ply - 1));
    });
    const current = list.children[this.ply - 1];
    list.scrollTop = current
      ? current.offsetTop - list.offsetTop - list.clientHeight / 2 : 0;
  }

  tick() {
    if (this.game) this.view.tick();
  }
}
