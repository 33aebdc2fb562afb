// The list of moves with variations, and the panel for the comment on a move.

import { $, element } from "../dom.js";
import { fromServer, t } from "../text.js";

/** The list of moves. It may be long, so a step updates only the buttons that change. */
export class MoveList {
  /** `onGo` is called with the number of a clicked node. */
  constructor(tree, onGo) {
    this.tree = tree;
    this.buttons = new Map();
    this.end = tree.root;
    this.current = null;
    this.review = null;
    $("moves").addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button) onGo(Number(button.dataset.node));
    });
    // Opening another panel shrinks the list and may hide the current move.
    new ResizeObserver(() => this.follow()).observe($("moves-box"));
  }

  /** Scrolls to the move shown. On a phone, scrollIntoView would scroll the whole page. */
  follow() {
    // On a low screen the list scrolls together with the rest of its column.
    const list = [$("moves-box"), $("moves-box").closest("aside")].find((box) =>
      box.scrollHeight > box.clientHeight + 1 && getComputedStyle(box).overflowY === "auto");
    if (!list) return;
    const from = list.getBoundingClientRect().top - list.scrollTop;
    const top = this.current ? this.current.getBoundingClientRect().top - from : 0;
    const hidden = top < list.scrollTop || top > list.scrollTop + list.clientHeight - 30;
    if (hidden) list.scrollTop = top - list.clientHeight / 2;
  }

  /** Draws nodes that were added to the tree; with null, the whole tree. */
  addNodes(added) {
    const { root } = this.tree;
    const isNext = (node, index) => node.parent === (index ? added[index - 1] : this.end)
      && node.parent.children.length === 1 && this.tree.next(node.parent);
    if (added && added.every(isNext)) {
      for (const node of added) this.addMove(node);
      return;
    }
    this.buttons.clear();
    this.current = this.review = null;
    this.end = root;
    $("moves").replaceChildren();
    while (this.tree.next(this.end)) this.addMove(this.tree.next(this.end));
    if (this.end.children.length) this.addVariations(this.end.children);
  }

  /** Adds the variations that start with `moves` as one item of the list. */
  addVariations(moves) {
    $("moves").append(element("li", { class: "variations" },
      ...moves.map((move) => element("p", {}, ...this.variation(move)))));
  }

  /** Adds the next move of the main line, and the variations that replace it. */
  addMove(node) {
    const { tree, end } = this;
    const [number, side] = tree.numberOf(node);
    const isFirst = end === tree.root;
    const interrupted = isFirst || end.parent.children.length > 1;
    // In play the list hides variations, and the cells that repeat the number after them.
    const again = isFirst ? "" : " again";
    const cells = [];
    if (side === 0 || interrupted) {
      cells.push(element("li", { class: side ? `number${again}` : "number" }, `${number}.`));
    }
    if (side === 1 && interrupted) cells.push(element("li", { class: `gap${again}` }, "…"));
    cells.push(element("li", {}, this.button(node)));
    const others = node.parent.children.slice(1);
    if (others.length && side === 0) cells.push(element("li", { class: "gap again" }, "…"));
    $("moves").append(...cells);
    if (others.length) this.addVariations(others);
    this.end = node;
  }

  /** Returns a variation's text and buttons; iterative, as nesting can exceed the call stack. */
  variation(first) {
    const words = [];
    // The items still to write, the next one last.
    const todo = [{ after: first }, { move: first, numbered: true }];
    while (todo.length) {
      const { move, after, word, numbered } = todo.pop();
      if (word) words.push(word);
      if (move) {
        const [number, side] = this.tree.numberOf(move);
        if (side === 0 || numbered) words.push(`${number}${side === 0 ? "." : "…"} `);
        words.push(this.button(move), " ");
      }
      if (after && after.children.length) {
        const [main, ...others] = after.children;
        todo.push({ after: main, numbered: others.length > 0 });
        for (const other of others.reverse()) {
          todo.push({ word: ") " }, { after: other }, { move: other, numbered: true });
          todo.push({ word: "( " });
        }
        todo.push({ move: main, numbered });
      }
    }
    return words;
  }

  button(node) {
    const button = element("button", { "data-node": node.number }, node.text);
    if (node.comment) {
      button.classList.add("commented");
      button.title = node.comment;
    }
    this.buttons.set(node.number, button);
    return button;
  }

  /** Marks the moves that a review has judged. */
  judge(review) {
    if (review === this.review) return;
    this.review = review;
    const judged = new Map(review?.judgements.map((each, index) => [review.nodes[index], each]));
    for (const [node, button] of this.buttons) {
      const { name = "", sentence = "" } = judged.get(node) ?? {};
      if ((button.dataset.judged ?? "") === name) continue;
      if (button.dataset.judged) button.classList.remove(button.dataset.judged);
      if (name) button.classList.add(name);
      button.dataset.judged = name;
      const { comment } = this.tree.node(node);
      button.title = [fromServer(sentence), comment].filter(Boolean).join(" ");
    }
  }

  /** Marks the move shown. */
  show(state) {
    const button = this.buttons.get(state.node) || null;
    if (button !== this.current) {
      if (this.current) this.current.removeAttribute("aria-current");
      if (button) button.setAttribute("aria-current", "true");
      this.current = button;
      this.follow();
    }
    // In a game the list hides variations, among them moves that were taken back.
    $("moves").classList.toggle("in-play", state.playing);
  }
}

/** The comment on the move shown, and the buttons that promote or delete the move. */
export class Study {
  /** `onComment` is called with a node's number and the new text. */
  constructor(tree, onComment) {
    this.tree = tree;
    $("comment").addEventListener("change", () => {
      onComment(Number($("comment").dataset.node), $("comment").value);
    });
    $("comment").addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey) {
        event.preventDefault();
        $("comment").blur();
      }
    });
  }

  draw(state) {
    const node = this.tree.node(state.node);
    const [number, side] = this.tree.numberOf(node);
    const move = node.parent ? `${number}${side ? "…" : "."} ${node.text}`
      : t("moves.comment.game");
    $("study").hidden = !state.analysing;
    $("remark").hidden = state.analysing || !node.comment;
    $("remark").textContent = node.comment;
    $("comment-label").textContent = t("moves.comment", { move });
    $("comment").placeholder = t("moves.comment", { move });
    const writing = document.activeElement === $("comment")
      && $("comment").dataset.node === String(node.number);
    if (!writing) {
      $("comment").dataset.node = node.number;
      $("comment").value = node.comment;
    }
    $("promote").hidden = $("delete").hidden = this.tree.isMain(node);
    $("play-on").disabled = state.final;
  }
}
