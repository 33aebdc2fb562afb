// The tree of moves, as the server sends it: the first child goes on with a line, the others are
// variations. The main line ends at the node `stop`, if any: all moves after it are variations.

export class Tree {
  constructor() {
    this.root = { number: 0, parent: null, text: "", comment: "", children: [], ply: 0 };
    this.nodes = new Map([[0, this.root]]);
    this.first = { number: 1, side: 0 };
    this.stop = null;
  }

  /** Takes an update; returns the nodes that were added, or null if the whole tree is another. */
  take(update) {
    if (update.whole) {
      for (const node of this.nodes.values()) node.children = [];
      this.nodes = new Map([[0, this.root]]);
    }
    this.first = update.first;
    this.stop = update.stop;
    this.root.comment = update.comment;
    const added = update.nodes.map(([number, parent, text, comment]) => {
      const above = this.nodes.get(parent);
      const node = { number, parent: above, text, comment, children: [], ply: above.ply + 1 };
      above.children.push(node);
      this.nodes.set(number, node);
      return node;
    });
    return update.whole ? null : added;
  }

  node(number) {
    return this.nodes.get(number) || this.root;
  }

  /** The last node of the line that goes on from a node. */
  end(node) {
    let last = node;
    while (this.next(last)) last = this.next(last);
    return last;
  }

  /** The next move of a node's line; null: the line ends there. */
  next(node) {
    return node.number === this.stop ? null : node.children[0] || null;
  }

  /** The next or, with -1, the previous alternative to a node's move; null: there is none. */
  alternative(node, way) {
    const all = node.parent ? node.parent.children : [];
    return all[all.indexOf(node) + way] || null;
  }

  isMain(node) {
    for (let one = node; one.parent; one = one.parent) {
      if (this.next(one.parent) !== one) return false;
    }
    return true;
  }

  /** How many moves are deleted with a node. */
  size(node) {
    let count = 0;
    for (const nodes = [node]; nodes.length; count += 1) nodes.push(...nodes.pop().children);
    return count;
  }

  /** A move's number and side. */
  numberOf(node) {
    const half = 2 * this.first.number + this.first.side + node.ply - 1;
    return [Math.floor(half / 2), half % 2];
  }
}
