// One game, large: it follows a game in progress, or steps through its moves.

import { $, element, svg } from "./dom.js";
import { drawPosition } from "./cards.js";
import { Drawing } from "./drawing.js";
import { resultText, scoreText } from "./game.js";
import { Scores } from "./graphs.js";
import { Player } from "./players.js";

export class Viewer {
  constructor(points) {
    this.game = null;
    this.dialog = $("viewer");
    this.players = [new Player(0), new Player(1)];
    const root = svg("svg", { class: "board", role: "img" });
    this.board = new Drawing(root, points);
    $("viewer-board").replaceChildren(this.players[1].root, root, this.players[0].root);
    this.graph = new Scores();
    $("viewer-graph").replaceChildren(this.graph.root);
    const steps = { first: () => 0, back: () => this.ply - 1, forward: () => this.ply + 1,
      last: () => Infinity };
    for (const [name, step] of Object.entries(steps)) $(name).onclick = () => this.go(step());
    $("viewer-close").onclick = () => this.dialog.close();
    this.dialog.onclick = (event) => { if (event.target === this.dialog) this.dialog.close(); };
    this.dialog.onclose = () => { this.game = null; };
    this.dialog.onkeydown = (event) => {
      const keys = { ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last" };
      const name = keys[event.key];
      if (!name || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      this.go(steps[name]());
    };
    this.graph.root.onclick = (event) => this.go(this.graph.plyAt(event));
  }

  /** Shows a game at its last position. */
  open(game) {
    Object.assign(this, { game, ply: game.length, follows: true, listed: [] });
    $("viewer-moves").replaceChildren();
    this.draw();
    if (!this.dialog.open) this.dialog.showModal();
  }

  go(ply) {
    this.ply = Math.min(Math.max(0, ply), this.game.length);
    this.follows = this.ply === this.game.length;
    this.draw();
  }

  /** Draws the game that is shown, if there is one, as it stands now. */
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
    else parts.push(scoreText(score), depth ? `depth ${depth}` : "", `${used / 1000} s`);
    return parts.filter(Boolean).join(" · ");
  }

  /** The list of moves grows with the game; one that began anew is listed anew. */
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
      button.onclick = () => this.go(index + 1);
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
