// What can be done with the move shown: its comment, its place among the variations.

import { $ } from "../dom.js";

export class Study {
  /** `onComment` is called with a node's number and the text that was written. */
  constructor(tree, onComment) {
    this.tree = tree;
    this.node = null;
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
    const name = node.parent ? `${number}${side ? "…" : "."} ${node.text}` : "the game";
    $("study").hidden = !state.analysing;
    $("remark").hidden = state.analysing || !node.comment;
    $("remark").textContent = node.comment;
    $("comment-label").textContent = `Comment on ${name}`;
    const writing = document.activeElement === $("comment")
      && $("comment").dataset.node === String(node.number);
    if (!writing) {
      $("comment").dataset.node = node.number;
      $("comment").value = node.comment;
    }
    $("promote").disabled = this.tree.isMain(node);
    $("delete").disabled = !node.parent;
    $("play-on").disabled = state.final;
  }
}
