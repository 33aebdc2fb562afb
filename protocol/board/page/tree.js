// The tree of moves, as the server sends it. A node's first child continues its line, the others
// are variations. If the number `stop` is not null, the main line ends at that node, and all moves
// after it are variations.

export class Tree {
  constructor() {
    this.root = { number: 0, parent: null, text: "", comment: "", children: [], ply: 0 };
    this.nodes = new Map([[0, this.root]]);
    this.first = { number: 1, side: 0 };
    this.stop = null;
    /** The game and the number of its edits when the tree was last updated. */
    this.state = "";
  }

  /** Applies the server's tree; returns the added nodes, or null if other nodes have changed. */
  apply(update) {
    const state = `${update.game} ${update.edits}`;
    const isOther = state !== this.state;
    this.state = state;
    if (isOther) {
      for (const node of this.nodes.values()) node.children = [];
      this.nodes = new Map([[0, this.root]]);
    }
    this.first = update.first;
    this.stop = update.stop;
    this.root.comment = update.comment;
    const fresh = update.nodes.filter(([number]) => !this.nodes.has(number));
    const added = fresh.map(([number, parent, text, comment]) => {
      const before = this.nodes.get(parent);
      const node = { number, parent: before, text, comment, children: [], ply: before.ply + 1 };
      before.children.push(node);
      this.nodes.set(number, node);
      return node;
    });
    return isOther ? null : added;
  }

  node(number) {
    return this.nodes.get(number) || this.root;
  }

  /** Returns the last node of a node's line. */
  end(node) {
    let last = node;
    while (this.next(last)) last = this.next(last);
    return last;
  }

  /** Returns the next node of a node's line, or null at its end. */
  next(node) {
    return node.number === this.stop ? null : node.children[0] || null;
  }

  /** Returns the next or, with step -1, the previous alternative to a node's move, or null. */
  alternative(node, step) {
    const siblings = node.parent ? node.parent.children : [];
    return siblings[siblings.indexOf(node) + step] || null;
  }

  isMain(node) {
    for (let child = node; child.parent; child = child.parent) {
      if (this.next(child.parent) !== child) return false;
    }
    return true;
  }

  /** Returns the number of nodes in the subtree of a node, including the node. */
  size(node) {
    let count = 0;
    for (const nodes = [node]; nodes.length; count += 1) nodes.push(...nodes.pop().children);
    return count;
  }

  /** Returns the move number and the side (0 White, 1 Black) of a node's move. */
  numberOf(node) {
    const ply = 2 * this.first.number + this.first.side + node.ply - 1;
    return [Math.floor(ply / 2), ply % 2];
  }
}
