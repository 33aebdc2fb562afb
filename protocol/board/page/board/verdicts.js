// What a review says of the last move: its mark, and an arrow for the better move.

import { svg } from "../dom.js";
import { parse } from "../drawing.js";
import { arrows } from "./arrows.js";

const MARKS = { blunder: "??", mistake: "?", inaccuracy: "?!" };

/** The marks of a judgement, for a board that shows the position after its move. */
export function verdicts(board, judged) {
  if (!judged || !judged.name) return [];
  const [x, y] = board.at(parse(judged.move).to);
  const better = judged.best ? arrows(board, [parse(judged.best)]) : [];
  for (const arrow of better) arrow.classList.add("better");
  return [...better, svg("g", {
    class: `verdict ${judged.name}`, transform: `translate(${x + 27} ${y - 27})`,
  }, svg("circle", { r: 18 }), svg("text", {}, MARKS[judged.name]))];
}
