// The rows of both players: name, men, clock.

import { $, clockText, element } from "../dom.js";
import { counted, playerName, SIDES, t } from "../text.js";

/** Returns the sides that users play: 0 White, 1 Black. */
export const usersOf = ({ players }) => [0, 1].filter((side) => players[side].engine === null);

/** Both players' rows; `onHand` is called with the event when a man in hand is pressed. */
export class Players {
  constructor(onHand) {
    this.onHand = onHand;
    this.clocks = [];
    setInterval(() => this.tick(), 100);
  }

  draw(state, flipped, placing) {
    this.state = state;
    this.received = performance.now();
    // White is at the bottom unless the board is flipped.
    const rows = [$("player-bottom"), $("player-top")];
    if (flipped) rows.reverse();
    rows.forEach((row, side) => this.drawRow(row, side, placing));
    this.tick();
  }

  drawRow(row, side, placing) {
    const { position, players, clock, over } = this.state;
    const colour = ["white", "black"][side];
    const moving = position.side === side && !over;
    row.classList.toggle("moving", moving);
    row.dataset.side = side;
    const player = playerName(players[side].name);
    const name = player ? t("player", { side: SIDES[side], name: player }) : SIDES[side];
    const second = element("span", { class: "second" });
    row.replaceChildren(element("span", { class: "name" }, name), second);
    const hand = position.hands[side];
    if (hand) {
      const tray = element("span", { class: `hand ${colour}` });
      for (let count = 0; count < hand; count += 1) tray.append(element("i"));
      tray.append(element("span", {}, t("player.hand", { count: hand })));
      if (moving && placing) {
        tray.classList.add("live");
        tray.addEventListener("pointerdown", this.onHand);
      }
      second.append(tray);
    } else {
      const men = element("span", {}, counted("man", position[colour].length));
      second.append(element("span", { class: "hand" }, men));
    }
    const chip = (word) => {
      second.append(element("span", { class: `chip ${word}` }, t(`player.${word}`)));
    };
    if (position.flying[side]) chip("flying");
    if (position.blocked && position.side === side) chip("blocked");
    this.clocks[side] = null;
    if (clock) {
      this.clocks[side] = element("span", {
        class: "clock", role: "timer", "aria-label": t("player.clock", { side: SIDES[side] }),
      });
      row.append(this.clocks[side]);
    }
  }

  tick() {
    const clock = this.state && this.state.clock;
    if (!clock) return;
    this.clocks.forEach((shown, side) => {
      if (!shown) return;
      const running = clock.running === side;
      const spent = running ? (performance.now() - this.received) / 1000 : 0;
      const text = clockText(clock.left[side] - spent);
      if (shown.textContent !== text) shown.textContent = text;
      shown.classList.toggle("running", running);
      shown.classList.toggle("short", clock.left[side] - spent < 20);
    });
  }
}
