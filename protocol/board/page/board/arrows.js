// The first moves of variations, drawn over the board.

import { svg } from "../dom.js";
import { MAN } from "../drawing.js";

/** An arrow for each move, or a disc where a man is placed; the better, the darker. */
export function arrows(board, moves) {
  // Two variations may differ only in the man that they remove.
  const key = (move) => `${move.origin}-${move.to}`;
  const first = new Map();
  moves.forEach((move, index) => {
    if (!first.has(key(move))) first.set(key(move), arrow(board, move, index + 1));
  });
  return [...first.values()];
}

function arrow(board, move, rank) {
  const group = svg("g", { class: `arrow rank-${rank}` });
  const [x, y] = board.at(move.to);
  if (move.origin === null) {
    group.append(svg("circle", { cx: x, cy: y, r: 19 }), svg("text", { x, y }, String(rank)));
  } else {
    const [fromX, fromY] = board.at(move.origin);
    const length = Math.hypot(x - fromX, y - fromY);
    const [ux, uy] = [(x - fromX) / length, (y - fromY) / length];
    const [tipX, tipY] = [x - 8 * ux, y - 8 * uy];
    const [backX, backY] = [tipX - 26 * ux, tipY - 26 * uy];
    group.append(
      svg("line", {
        class: "shaft", "stroke-width": 10, x1: fromX, y1: fromY, x2: backX, y2: backY,
      }),
      svg("path", {
        d: `M${tipX} ${tipY}L${backX - 15 * uy} ${backY + 15 * ux}`
          + `L${backX + 15 * uy} ${backY - 15 * ux}Z`,
      }),
    );
  }
  for (const man of move.removed) {
    const [cx, cy] = board.at(man);
    group.append(svg("circle", {
      class: "shaft", "stroke-width": 5, "stroke-dasharray": "9 7", cx, cy, r: MAN + 5,
    }));
  }
  return group;
}
