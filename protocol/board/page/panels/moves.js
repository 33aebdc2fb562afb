// The moves played.

import { $, element } from "../dom.js";

/** The move list, rebuilt only when it changes because it is long. */
export class MoveList {
  constructor(onGo) {
    this.onGo = onGo;
    this.key = "";
  }

  draw(state, judgements) {
    const key = JSON.stringify([state.moves, state.comments, state.first, judgements.length]);
    if (key !== this.key) this.build(state, judgements);
    this.key = key;
    let current = null;
    for (const button of $("moves").querySelectorAll("button")) {
      const here = Number(button.dataset.ply) === state.cursor;
      button.setAttribute("aria-current", String(here));
      if (here) current = button;
    }
    const list = $("moves");
    // Not scrollIntoView: it would scroll the whole page on a phone.
    if (current) {
      const top = current.offsetTop - list.offsetTop;
      const hidden = top < list.scrollTop || top > list.scrollTop + list.clientHeight - 30;
      if (hidden) list.scrollTop = top - 60;
    }
  }

  build(state, judgements) {
    const cells = [];
    let { number, side } = state.first;
    state.moves.forEach((text, index) => {
      if (side === 0 || index === 0) cells.push(element("li", { class: "number" }, `${number}.`));
      if (side === 1 && index === 0) cells.push(element("li", {}, "…"));
      const button = element("button", { "data-ply": index + 1 }, text);
      const judged = judgements[index];
      if (judged && judged.name) {
        button.classList.add(judged.name);
        button.title = judged.sentence;
      } else if (state.comments[index]) button.title = state.comments[index];
      button.addEventListener("click", () => this.onGo(index + 1));
      cells.push(element("li", {}, button));
      number += side;
      side = 1 - side;
    });
    $("moves").replaceChildren(...cells);
  }
}
