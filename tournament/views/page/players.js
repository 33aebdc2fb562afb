// A player's row beside a board: name, score and depth, and the clock.

import { clockText, COLOURS, element } from "./dom.js";
import { scoreText } from "./game.js";

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

  /** Shows the player of a game after so many moves. */
  draw(game, ply) {
    Object.assign(this, { game, ply });
    this.name.textContent = this.name.title = game.names[this.side];
    this.root.classList.toggle("winner", game.result === ["1-0", "0-1"][this.side]);
    const [, hand] = game.men(this.side, ply);
    this.hand.textContent = hand ? `${hand} in hand` : "";
    const last = game.lastOf(this.side, ply);
    const depth = last && last.depth ? `depth ${last.depth}` : "";
    const said = last ? [scoreText(last.score), depth] : [];
    this.score.textContent = said.filter(Boolean).join(" · ");
    this.tick();
  }

  /** Shows the clock, or the time for the last move where there is none. */
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
    else if (last) text = `${(last.used / 1000).toFixed(last.used < 9950 ? 2 : 1)} s`;
    if (this.clock.textContent !== text) this.clock.textContent = text;
    this.clock.hidden = !text;
    this.root.classList.toggle("moving", atEnd && game.mover === side);
    this.clock.title = Number.isFinite(left) ? "time left" : "time for this move";
  }
}
