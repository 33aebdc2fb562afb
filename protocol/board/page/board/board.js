// An interactive board: draws a position with marks and arrows, handles pointer and keys.

import { svg } from "../dom.js";
import { Drawing, menOf, parseMove, piece, ring } from "../drawing.js";
import { t } from "../text.js";
import { arrows, mark } from "./marks.js";
import { animate } from "./motion.js";

/** Pixels that the pointer must move to start a drag. */
const DRAG = 6;
/** Path of the cross on a man that can be removed. */
const CROSS = "M-13 -13L13 13M13 -13L-13 13";

/** Returns the men after some moves: {white, black, side, last}. */
export function playMoves({ white, black, side }, moves) {
  const men = [new Set(white), new Set(black)];
  let mover = side;
  for (const text of moves) {
    const move = parseMove(text);
    if (move.origin) men[mover].delete(move.origin);
    men[mover].add(move.to);
    for (const man of move.removed) men[1 - mover].delete(man);
    mover = 1 - mover;
  }
  return { white: [...men[0]], black: [...men[1]], side: mover, last: moves.at(-1) };
}

export class Board extends Drawing {
  /** `onPick` is called with a picked point, `onCancel` after a drag to no legal point. */
  constructor(root, points, { onPick, onCancel, mills = [] }) {
    super(root, points);
    Object.assign(this, { onPick, onCancel, mills, drag: null, dropped: null, view: null });
    /** The men drawn: a map of points to colours. */
    this.drawn = new Map();
    /** The last move and the mills that are marked, as a text. */
    this.marked = "";
    /** The layer above the men: arrows, and the mark of a judged move. */
    this.above = svg("g", { "aria-hidden": "true" });
    this.ghost = svg("g", { class: "ghost", "aria-hidden": "true" });
    root.append(this.above, this.ghost);
    this.addButtons(-1);
    root.classList.add("played");
    root.addEventListener("pointerdown", (event) => this.press(event));
    window.addEventListener("pointermove", (event) => this.move(event));
    window.addEventListener("pointerup", (event) => this.release(event));
    window.addEventListener("pointercancel", () => this.drop());
    root.addEventListener("keydown", (event) => this.key(event));
  }

  flip() {
    this.flipped = !this.flipped;
    this.layOut();
    // Forget the men drawn, because no man moves.
    this.drawn = new Map();
    if (this.view) this.draw(this.view);
  }

  /** Draws a view: {white, black, side, last, choice, values}; `values` are proven, by move. */
  draw(view) {
    this.view = view;
    const { choice } = view;
    // A premove is picked without targets: the board looks the same while the engine thinks.
    const pickable = choice.isPremove ? new Set() : choice.points;
    const step = choice.isPremove ? "none" : choice.step;
    const moved = choice.to !== null;
    const own = view.side === 0 ? "white" : "black";
    // While the user chooses the man to remove, the moved man is drawn on its new point.
    const pending = { origin: choice.origin, to: choice.to, removed: choice.removed };
    const last = moved ? pending : view.last ? parseMove(view.last) : null;
    const men = menOf(view);
    if (moved) men.delete(choice.origin);
    if (moved) men.set(choice.to, own);
    for (const man of choice.removed) men.delete(man);
    for (const [point, group] of this.groups) {
      const colour = men.get(point);
      const removable = step === "remove" && pickable.has(point);
      const value = pickable.has(point) ? this.provenValue(point) : undefined;
      // Keep the element of a man that stays: its animation may still run.
      const old = this.drawn.get(point) === colour && group.querySelector(".piece");
      const parts = [old || svg("g", { class: "piece" }, ...piece(colour))];
      if (last && point === last.to) parts.push(ring("last"));
      if (point === choice.origin && !moved) parts.push(ring("picked"));
      if (pickable.has(point) && !removable && step !== "man") {
        parts.push(svg("circle", { class: "target", r: 12 }));
      }
      if (removable) parts.push(ring("remove", 5), svg("path", { class: "doomed", d: CROSS }));
      if (value) parts.push(this.badge(value, colour));
      this.drawAt(point, ...parts, svg("circle", { class: "focus", r: 46 }));
      const isPickable = pickable.has(point) || (!choice.isPremove && choice.canLift(point));
      group.classList.toggle("live", isPickable);
      const spared = step === "remove" && !removable && men.has(point) && colour !== own;
      group.classList.toggle("spared", spared);
      group.setAttribute("aria-label", this.describe(point, colour, pickable, step));
      group.setAttribute("aria-disabled", String(!isPickable));
    }
    this.markMove(last, men);
    animate(this, this.drawn, men, this.dropped);
    this.drawn = men;
    this.dropped = null;
    const groups = [...this.groups.values()];
    if (groups.every((group) => group.tabIndex !== 0)) this.groups.get("d7").tabIndex = 0;
  }

  /** Marks the last move and the mills that it closed; redrawing would restart their animation. */
  markMove(last, men) {
    const closed = last
      ? this.mills.filter((mill) => mill.includes(last.to) &&
          mill.every((point) => men.get(point) && men.get(point) === men.get(last.to)))
      : [];
    const key = JSON.stringify([last, closed, this.flipped]);
    if (key === this.marked) return;
    this.marked = key;
    this.markLast(last);
    for (const mill of closed) {
      const [[x1, y1], [x2, y2]] = [this.at(mill[0]), this.at(mill[2])];
      this.under.append(svg("line", { class: "mill", x1, y1, x2, y2 }));
    }
  }

  /** Returns the proven value of the best move that picks a point, or undefined. */
  provenValue(point) {
    const { values, choice } = this.view;
    const picks = {
      man: (move) => move.origin === point,
      remove: (move) => move.removed.includes(point),
    }[choice.step] || ((move) => move.to === point);
    const picked = choice.fitting.filter(picks).map((move) => values[move.text]);
    // A move of unknown value may be better than any move but a win.
    return ["win", undefined, "draw", "loss"].find((value) => picked.includes(value));
  }

  /** Returns the mark of a value, at the top right of a man if there is one. */
  badge(value, colour) {
    const drawn = mark(value);
    if (colour) drawn.setAttribute("transform", "translate(27 -27)");
    return drawn;
  }

  describe(point, colour, pickable, step) {
    const content = `${point}, ${t(colour ? `man.${colour}` : "board.empty")}`;
    if (pickable.has(point)) {
      const value = this.provenValue(point);
      return `${content}, ${t(`board.${step}`)}${value ? `: ${t(`board.proven.${value}`)}` : ""}`;
    }
    const { choice } = this.view;
    return !choice.isPremove && choice.canLift(point) ? `${content}, ${t("board.man")}` : content;
  }

  /** Draws an arrow for each move, the best first. */
  drawArrows(moves) {
    this.above.replaceChildren(...arrows(this, moves));
  }

  /** Returns the point under the pointer or null, and the pointer's coordinates in the drawing. */
  locate(event) {
    const box = this.root.getBoundingClientRect();
    const { x: left, y: top, width, height } = this.root.viewBox.baseVal;
    const x = left + ((event.clientX - box.left) * width) / box.width;
    const y = top + ((event.clientY - box.top) * height) / box.height;
    for (const point of this.points) {
      const [a, b] = this.at(point);
      if (Math.hypot(a - x, b - y) <= 48) return [point, x, y];
    }
    return [null, x, y];
  }

  press(event) {
    if (event.button || !this.view) return;
    const [point] = this.locate(event);
    if (point === null) return;
    event.preventDefault();
    const { choice } = this.view;
    const lifts = choice.canLift(point);
    const picked = choice.origin;
    this.drag = { point, x: event.clientX, y: event.clientY, moving: false, lifts, picked };
    if (lifts && picked !== point) this.onPick(point);
  }

  /** Starts dragging a man from the hand. */
  pressHand(event) {
    if (!this.view || this.view.choice.step !== "place") return;
    event.preventDefault();
    this.drag = { point: null, x: event.clientX, y: event.clientY, moving: false, lifts: true };
  }

  move(event) {
    const { drag } = this;
    if (!drag || !drag.lifts) return;
    if (!drag.moving && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < DRAG) return;
    drag.moving = true;
    const [, x, y] = this.locate(event);
    const { choice, side } = this.view;
    const colour = ["white", "black"][choice.isPremove ? 1 - side : side];
    if (drag.point) this.groups.get(drag.point).classList.add("lifted");
    this.ghost.setAttribute("transform", `translate(${x} ${y}) scale(1.05)`);
    this.ghost.replaceChildren(...piece(colour));
  }

  release(event) {
    const { drag } = this;
    if (!drag) return;
    this.drop();
    const [point] = this.locate(event);
    if (drag.moving) {
      const fits = this.view.choice.points.has(point);
      this.dropped = fits ? point : null;
      if (fits && point !== drag.point) this.onPick(point);
      else if (drag.point !== null) this.onCancel();
    } else if (point !== null && point === drag.point) {
      this.focus(point, false);
      // A press has already picked this man; only a second click releases it.
      if (!drag.lifts || drag.picked === point) this.onPick(point);
    }
  }

  drop() {
    if (this.drag?.point) this.groups.get(this.drag.point).classList.remove("lifted");
    this.drag = null;
    this.ghost.replaceChildren();
  }

  /** Makes a point the board's tab stop, and focuses it unless `focuses` is false. */
  focus(point, focuses = true) {
    for (const [name, group] of this.groups) group.tabIndex = name === point ? 0 : -1;
    if (focuses) this.groups.get(point).focus();
  }

  key(event) {
    const point = event.target.dataset && event.target.dataset.point;
    if (!point || event.ctrlKey || event.metaKey || event.altKey) return;
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key === "Enter" || event.key === " ") this.onPick(point);
    else if (steps[event.key]) {
      const next = this.neighbour(point, steps[event.key]);
      if (next) this.focus(next);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Returns the nearest point in a direction, or null; sideways distance counts three times. */
  neighbour(point, [dx, dy]) {
    const [x, y] = this.at(point);
    let best = null;
    let least = Infinity;
    for (const other of this.points) {
      const [a, b] = this.at(other);
      const ahead = (a - x) * dx + (b - y) * dy;
      const aside = Math.abs((a - x) * dy) + Math.abs((b - y) * dx);
      if (ahead > 0 && ahead + 3 * aside < least) [best, least] = [other, ahead + 3 * aside];
    }
    return best;
  }
}
