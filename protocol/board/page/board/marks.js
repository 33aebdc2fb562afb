// Marks on the board: proven values, arrows of moves, and the grades of a review.

import { svg } from "../dom.js";
import { MAN_RADIUS, parseMove } from "../drawing.js";

/** Paths of the marks around the origin, in units of the board, which is 700 wide. */
const SHAPES = {
  win: "M0 -17A17 17 0 1 1 0 17A17 17 0 1 1 0 -17Z",
  draw: "M-15 -15H15V15H-15Z",
  loss: "M0 -21L21 0L0 21L-21 0Z",
};
const SIGNS = {
  win: "M-9 0L-3 7L9 -7",
  draw: "M-8 -4.5H8M-8 4.5H8",
  loss: "M-7 -7L7 7M-7 7L7 -7",
};

/** Returns a value's mark at the origin: a tick (win), an equals sign (draw) or a cross (loss). */
export function mark(value) {
  return svg("g", { class: `value ${value}` },
    svg("path", { class: "shape", d: SHAPES[value] }),
    svg("path", { class: "sign", d: SIGNS[value] }));
}

/** Returns a value's mark as a separate picture, for lists; empty without a value. */
export function markPicture(value) {
  const picture = svg("svg", { class: "symbol", viewBox: "-24 -24 48 48", "aria-hidden": "true" });
  if (value) picture.append(mark(value));
  return picture;
}

const CENTRE = 350;
/** Distance of a placing's arrow from its point, along each axis. */
const PLACING_OFFSET = 70;
/** The arrow's tip ends this far before the centre of its point. */
const TIP_GAP = 8;
const HEAD_LENGTH = 26;
const HALF_HEAD_WIDTH = 15;

/** Returns an arrow for each move, or a disc for a placing; the first arrow is the thickest. */
export function arrows(board, moves) {
  // Moves that differ only in the removed man share an arrow.
  const drawn = new Map();
  moves.forEach((move, index) => {
    const path = `${move.origin}-${move.to}`;
    if (!drawn.has(path)) drawn.set(path, arrow(board, move, index + 1));
  });
  return [...drawn.values()];
}

/** Returns where the arrow of a placing begins: beside its point, towards the centre. */
function placingStart([x, y]) {
  const inwards = (coordinate) => (
    coordinate + (coordinate > CENTRE ? -PLACING_OFFSET : PLACING_OFFSET));
  return [inwards(x), inwards(y)];
}

/** Returns a move's arrow; a placing has an arrow only with `always`, otherwise a disc. */
function arrow(board, move, rank, always = false) {
  const group = svg("g", { class: `arrow rank-${rank}` });
  const [x, y] = board.at(move.to);
  if (move.origin === null && !always) {
    group.append(svg("circle", { cx: x, cy: y, r: 19 }), svg("text", { x, y }, String(rank)));
  } else {
    const [fromX, fromY] = move.origin ? board.at(move.origin) : placingStart([x, y]);
    const length = Math.hypot(x - fromX, y - fromY);
    const [ux, uy] = [(x - fromX) / length, (y - fromY) / length];
    const [tipX, tipY] = [x - TIP_GAP * ux, y - TIP_GAP * uy];
    const [backX, backY] = [tipX - HEAD_LENGTH * ux, tipY - HEAD_LENGTH * uy];
    const [sideX, sideY] = [-HALF_HEAD_WIDTH * uy, HALF_HEAD_WIDTH * ux];
    group.append(
      svg("line", { class: "shaft", x1: fromX, y1: fromY, x2: backX, y2: backY }),
      svg("path", {
        d: `M${tipX} ${tipY}L${backX + sideX} ${backY + sideY}`
          + `L${backX - sideX} ${backY - sideY}Z`,
      }),
    );
  }
  for (const man of move.removed) {
    const [cx, cy] = board.at(man);
    group.append(svg("circle", {
      class: "removed", "stroke-dasharray": "9 7", cx, cy, r: MAN_RADIUS + 5,
    }));
  }
  return group;
}

const GRADES = { blunder: "??", mistake: "?", inaccuracy: "?!" };

/**
 * Returns the marks of a judged move, for a board that shows the position after it: the grade that
 * is the `name` of the judgement, and an arrow for the better move.
 */
export function gradeMarks(board, judged) {
  if (!judged || !judged.name) return [];
  const [x, y] = board.at(parseMove(judged.move).to);
  const marks = [svg("g", {
    class: `verdict ${judged.name}`, transform: `translate(${x + 27} ${y - 27})`,
  }, svg("circle", { r: 18 }), svg("text", {}, GRADES[judged.name]))];
  if (judged.best) {
    marks.unshift(arrow(board, parseMove(judged.best), 1, true));
    marks[0].classList.add("better");
  }
  return marks;
}
