"""Perfect matchings of minimum cost, by Edmonds' blossom algorithm (Galil, 1986).

Each vertex has a *dual value*, and so has each blossom (a cycle of odd length that is contracted).
The *slack* of an edge is a multiple of its cost minus the dual values of its ends. It is never
negative, and the edges of the matching, of the trees and of the blossoms have none. From each
vertex without a mate grows a tree of alternating edges. *Even* nodes are at even distance from its
root. The dual values change until two trees meet, which gives two vertices a mate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

Edge = tuple[int, int]
"""Two vertices: first the one in the node that the edge belongs to, then the other one."""


def minimum_matching(costs: Sequence[Mapping[int, int]]) -> list[int] | None:
    """Return the mate of each vertex in a perfect matching of minimum cost; None without one.

    ``costs`` gives the cost of the edge to each neighbour of a vertex, the same in both directions.
    """
    search = _Search(costs)
    while search.has_single:
        if not search.add_pair():
            return None
    return [search.mate_of(vertex) for vertex in range(len(costs))]


class _Search:
    """A matching that grows by one pair at a time.

    A *node* is a vertex or a blossom, numbered in that order; an *outer* node is in no blossom.
    """

    def __init__(self, costs: Sequence[Mapping[int, int]]) -> None:
        self._size = len(costs)
        size = self._size + self._size // 2
        self._free = list(range(size - 1, self._size - 1, -1))
        """Numbers for new blossoms."""
        # The slacks that are halved are even, because the multiples and first dual values are.
        self._costs = [{other: 4 * cost for other, cost in row.items()} for row in costs]
        least = 2 * min((cost for row in costs for cost in row.values()), default=0)
        self._duals = [least] * self._size + [0] * (size - self._size)
        self._outer = list(range(self._size))
        """Outer node of each vertex."""
        self._parent = [-1] * size
        """Blossom of which a node is a part, or -1."""
        self._parts: dict[int, list[int]] = {}
        """Blossom -> its cycle of nodes; the first one, its base, has no mate among them."""
        self._links: dict[int, list[Edge]] = {}
        """Blossom -> edge from each part to the next one."""
        self._mates: list[Edge | None] = [None] * size
        """Edge of the matching that leaves each node."""
        self._is_even: list[bool | None] = [None] * size
        """Whether an outer node is even in its tree; None: it is in no tree."""
        self._entries: list[Edge | None] = [None] * size
        """Edge from an odd node to the node before it."""
        self._nearest: list[Edge | None] = [None] * size
        """Edge of least slack from an outer node, not an odd one, to an even node."""
        self._slacks = [0] * size
        """Slacks of these edges."""
        self._to_scan: list[int] = []
        """Vertices of even nodes whose edges are to be tried."""
        for vertex, row in enumerate(self._costs):
            if not row:
                continue
            slack, other = min((self._slack(vertex, other), other) for other in row)
            self._duals[vertex] += slack
            if self._mates[vertex] is None is self._mates[other]:
                self._mates[vertex], self._mates[other] = (vertex, other), (other, vertex)

    @property
    def has_single(self) -> bool:
        """Whether a vertex has no mate."""
        return None in (self._mates[node] for node in self._outer)

    def mate_of(self, vertex: int) -> int:
        """Return the mate of a vertex."""
        edge = self._mates[vertex]
        assert edge is not None
        return edge[1]

    def _slack(self, first: int, second: int) -> int:
        return self._costs[first][second] - self._duals[first] - self._duals[second]

    def add_pair(self) -> bool:
        """Give two more vertices a mate; return False if no matching does."""
        for node in self._nodes():
            self._is_even[node] = self._entries[node] = self._nearest[node] = None
        self._to_scan = []
        for node in self._nodes():
            if self._mates[node] is None:
                self._make_even(node)
        while True:
            while self._to_scan:
                if self._scan(self._to_scan.pop()):
                    return True
            if not self._change_duals():
                return False
            for node in self._nodes():
                edge = self._nearest[node]
                if edge is not None and not self._slacks[node]:
                    vertex, other = edge
                    is_inner = self._outer[vertex] == self._outer[other]
                    if not is_inner and self._use(other, vertex):
                        return True
            for node in list(self._parts):
                if self._parent[node] < 0 and self._is_even[node] is False:
                    if not self._duals[node]:
                        self._expand(node)

    def _scan(self, vertex: int) -> bool:
        """Use or note the edges of a vertex of an even node; return whether two trees met."""
        outer, duals, own_dual = self._outer, self._duals, self._duals[vertex]
        for other, cost in self._costs[vertex].items():
            node = outer[other]
            if node == outer[vertex] or self._is_even[node] is False:
                continue
            slack = cost - own_dual - duals[other]
            if not slack:
                if self._use(vertex, other):
                    return True
            elif self._nearest[node] is None or slack < self._slacks[node]:
                self._nearest[node], self._slacks[node] = (other, vertex), slack
        return False

    def _nodes(self) -> list[int]:
        """Return the outer nodes."""
        return list(dict.fromkeys(self._outer))

    def _make_even(self, node: int) -> None:
        self._is_even[node] = True
        self._to_scan += self._vertices(node)

    def _vertices(self, node: int) -> Iterator[int]:
        """Yield the vertices of a node."""
        if node < self._size:
            yield node
        else:
            for part in self._parts[node]:
                yield from self._vertices(part)

    def _find_nearest(self, node: int) -> None:
        """Find the edge of least slack to an even node."""
        self._nearest[node] = None
        for vertex in self._vertices(node):
            for other in self._costs[vertex]:
                outer = self._outer[other]
                if outer != node and self._is_even[outer]:
                    slack = self._slack(vertex, other)
                    if self._nearest[node] is None or slack < self._slacks[node]:
                        self._nearest[node], self._slacks[node] = (vertex, other), slack

    def _use(self, vertex: int, other: int) -> bool:
        """Use an edge without slack from an even node; return whether two trees met."""
        node = self._outer[other]
        if self._is_even[node] is None:
            mate = self._mates[node]
            assert mate is not None
            self._is_even[node], self._entries[node] = False, (other, vertex)
            self._nearest[node] = None
            self._nearest[self._outer[mate[1]]] = None
            self._make_even(self._outer[mate[1]])
        elif self._is_even[node]:
            ours = [self._outer[vertex], *(end for end, _ in self._path(vertex))]
            theirs = [node, *(end for end, _ in self._path(other))]
            if ours[-1] != theirs[-1]:
                self._augment(vertex, other)
                self._augment(other, vertex)
                return True
            base = next(end for end in theirs if end in ours)
            self._contract(base, vertex, other)
        return False

    def _path(self, vertex: int) -> Iterator[tuple[int, Edge]]:
        """Yield the nodes from the outer node of a vertex to its root, each with the edge to it."""
        edge = self._mates[self._outer[vertex]]
        while edge is not None:
            node = self._outer[edge[1]]
            yield node, edge
            edge = self._entries[node] if self._is_even[node] is False else self._mates[node]

    def _augment(self, vertex: int, other: int) -> None:
        """Exchange the edges of the matching with the others from a vertex to its root."""
        edge: Edge | None = (vertex, other)
        while edge is not None:
            node = self._outer[edge[0]]
            former = self._mates[node]
            self._match(node, edge)
            if former is None:
                return
            odd = self._outer[former[1]]
            entry = self._entries[odd]
            assert entry is not None
            self._match(odd, entry)
            edge = entry[::-1]

    def _match(self, node: int, edge: Edge) -> None:
        """Have a node leave its blossom by ``edge``; its part with this edge becomes its base."""
        self._mates[node] = edge
        if node < self._size:
            return
        index = self._turn(node, edge[0])
        parts, links = self._parts[node], self._links[node]
        for number in range(0, index, 2):
            link = links[number]
            self._match(parts[number], link)
            self._match(parts[number + 1], link[::-1])
        self._match(parts[index], edge)
        self._parts[node] = parts[index:] + parts[:index]
        self._links[node] = links[index:] + links[:index]

    def _turn(self, blossom: int, vertex: int) -> int:
        """Return the index of the part with a vertex, even if necessary by turning the cycle."""
        part = vertex
        while self._parent[part] != blossom:
            part = self._parent[part]
        parts, links = self._parts[blossom], self._links[blossom]
        index = parts.index(part)
        if index % 2 == 0:
            return index
        self._parts[blossom] = [parts[0], *parts[:0:-1]]
        self._links[blossom] = [link[::-1] for link in reversed(links)]
        return len(parts) - index

    def _contract(self, base: int, vertex: int, other: int) -> None:
        """Contract the cycle through ``base`` and an edge between two even nodes."""
        blossom = self._free.pop()
        parts, links = [base], list[Edge]()
        for end, way in ((vertex, 0), (other, 1)):
            nodes, edges = [self._outer[end]], list[Edge]()
            for node, edge in self._path(end):
                if nodes[-1] == base:
                    break
                nodes.append(node)
                edges.append(edge)
            if way:
                parts += nodes[:-1]
                links += [(vertex, other), *edges]
            else:
                parts += nodes[-2::-1]
                links += [edge[::-1] for edge in reversed(edges)]
        self._parts[blossom], self._links[blossom] = parts, links
        self._mates[blossom], self._duals[blossom] = self._mates[base], 0
        self._is_even[blossom] = True
        for part in parts:
            self._parent[part] = blossom
            if not self._is_even[part]:
                self._to_scan += self._vertices(part)
        for inner in self._vertices(blossom):
            self._outer[inner] = blossom
        self._find_nearest(blossom)

    def _expand(self, blossom: int) -> None:
        """Make the parts of an odd blossom outer nodes."""
        entry = self._entries[blossom]
        assert entry is not None
        index = self._turn(blossom, entry[0])
        parts, links = self._parts.pop(blossom), self._links.pop(blossom)
        self._free.append(blossom)
        for part in parts:
            self._parent[part] = -1
            self._is_even[part] = self._entries[part] = self._nearest[part] = None
            for vertex in self._vertices(part):
                self._outer[vertex] = part
        self._entries[parts[index]] = entry
        self._is_even[parts[index]] = False
        for number in range(0, index, 2):
            self._is_even[parts[number]], self._entries[parts[number]] = False, links[number]
            self._make_even(parts[number + 1])
        for part in parts:
            if self._is_even[part] is not False:
                self._find_nearest(part)

    def _change_duals(self) -> bool:
        """Change the dual values until an edge or a blossom can be used; return whether one can."""
        steps = [
            self._duals[node] // 2 for node in self._parts
            if self._parent[node] < 0 and self._is_even[node] is False
        ]
        nodes = self._nodes()
        noted = [node for node in nodes if self._nearest[node] is not None]
        steps += [self._slacks[node] // (2 if self._is_even[node] else 1) for node in noted]
        if not steps:
            return False
        step = min(steps)
        for vertex, node in enumerate(self._outer):
            if (is_even := self._is_even[node]) is not None:
                self._duals[vertex] += step if is_even else -step
        for node in nodes:
            if node >= self._size and (is_even := self._is_even[node]) is not None:
                self._duals[node] += 2 * step if is_even else -2 * step
        for node in noted:
            self._slacks[node] -= 2 * step if self._is_even[node] else step
        return True
