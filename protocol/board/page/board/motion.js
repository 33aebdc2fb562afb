// Animations of men: slide, appear and vanish; none if the user prefers reduced motion.

import { svg } from "../dom.js";
import { piece } from "../drawing.js";

/** Milliseconds of a slide or an appearance, and of a removal. */
const ARRIVAL_TIME = 150;
const REMOVAL_TIME = 120;
/** Largest number of changed points that are animated; more are not changed by one move. */
const MAX_CHANGES = 5;

/** Returns whether the user prefers reduced motion. */
export function prefersReducedMotion() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Returns the points that lost and those that gained a man of a colour. */
function changes(before, after, colour) {
  const gains = (from, to) =>
    [...to.keys()].filter((point) => to.get(point) === colour && from.get(point) !== colour);
  return { lost: gains(after, before), gained: gains(before, after) };
}

/**
 * Animates the change between two maps of points to colours, unless it is too large for one move.
 * `dropped` is the point to which the user has just dragged a man, which needs no animation.
 */
export function animate(board, before, after, dropped) {
  const all = ["white", "black"].map((colour) => [colour, changes(before, after, colour)]);
  const count = all.reduce((sum, [, { lost, gained }]) => sum + lost.length + gained.length, 0);
  if (prefersReducedMotion() || !count || count > MAX_CHANGES) return;
  for (const [colour, { lost, gained }] of all) {
    if (lost.length === 1 && gained.length === 1) {
      if (gained[0] !== dropped) slide(board, lost[0], gained[0]);
      continue;
    }
    for (const point of gained) {
      if (point !== dropped) appear(board, point);
    }
    for (const point of lost) vanish(board, point, colour);
  }
}

function pieceAt(board, point) {
  return board.groups.get(point).querySelector(".piece");
}

function slide(board, from, to) {
  const [fromX, fromY] = board.at(from);
  const [toX, toY] = board.at(to);
  pieceAt(board, to).animate(
    [{ transform: `translate(${fromX - toX}px, ${fromY - toY}px)` }, { transform: "none" }],
    { duration: ARRIVAL_TIME, easing: "ease-out" },
  );
}

function appear(board, point) {
  pieceAt(board, point).animate(
    [{ transform: "scale(1.3)", opacity: 0.3 }, { transform: "none", opacity: 1 }],
    { duration: ARRIVAL_TIME, easing: "ease-out" },
  );
}

function vanish(board, point, colour) {
  const [x, y] = board.at(point);
  const man = svg("g", { class: "leaving" }, ...piece(colour));
  const place = svg("g", { transform: `translate(${x} ${y})` }, man);
  board.ghost.before(place);
  man.animate(
    [{ transform: "none", opacity: 1 }, { transform: "scale(.3)", opacity: 0 }],
    { duration: REMOVAL_TIME, easing: "ease-in" },
  ).onfinish = () => place.remove();
}
