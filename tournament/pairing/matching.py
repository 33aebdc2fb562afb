"""Maximum matchings by Edmonds' blossom algorithm."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Set


class Matching:
    """A maximum matching of a graph without loops, given by the neighbours of each vertex.

    Its edges join *mates*; an *exposed* vertex has no mate.
    """

    def __init__(self, neighbours: Mapping[int, Set[int]]) -> None:
        self._neighbours = neighbours
        self._left = set(neighbours)
        """The vertices that were not taken."""
        self._mates: dict[int, int] = {}
        for vertex in neighbours:
            if vertex not in self._mates:
                self._augment(vertex)

    @property
    def exposed(self) -> int:
        """Number of exposed vertices, the least of all matchings."""
        return len(self._left) - len(self._mates)

    def take(self, first: int, second: int, exposed: int) -> bool:
        """Remove two vertices if a matching of the others exposes at most ``exposed`` vertices.

        Return whether they were removed.
        """
        earlier = dict(self._mates)
        # One after the other: the first one's mate must not get the second one's mate.
        for vertex in (first, second):
            self._left.remove(vertex)
            widowed = self._mates.pop(vertex, None)
            if widowed is not None:
                del self._mates[widowed]
                self._augment(widowed)
        if self.exposed <= exposed:
            return True
        self._left |= {first, second}
        self._mates = earlier
        return False

    def _augment(self, root: int) -> bool:
        """Give the exposed vertex ``root`` a mate by an augmenting path, if there is one."""
        mates, left = self._mates, self._left
        base = {vertex: vertex for vertex in left}
        """Vertex -> base of the outermost contracted blossom that contains it, or itself."""
        parents: dict[int, int] = {}
        """Vertex at odd distance from the root -> vertex before it; also within blossoms."""
        reached, to_scan = set[int](), deque[int]()
        """Vertices at even distance from the root, and those of them whose edges were not tried."""
        ends = left - mates.keys() - {root}

        def stem(vertex: int) -> list[int]:
            """Return the bases at even distance on the path to the root."""
            path = [base[vertex]]
            while path[-1] in mates:
                path.append(base[parents[mates[path[-1]]]])
            return path

        def mark(vertex: int, end: int, child: int) -> set[int]:
            """Point the parents on the path to ``end`` at the blossom; return the path's bases."""
            bases = set()
            while base[vertex] != end:
                mate = mates[vertex]
                bases |= {base[vertex], base[mate]}
                parents[vertex] = child
                child, vertex = mate, parents[mate]
            return bases

        def reach(vertex: int) -> bool:
            """Add a vertex at even distance; return whether it completed an augmenting path."""
            reached.add(vertex)
            to_scan.append(vertex)
            end = next(iter(ends & self._neighbours[vertex]), None)
            if end is not None:
                parents[end] = vertex
                self._flip(end, parents)
            return end is not None

        if not ends or reach(root):
            return bool(ends)
        while to_scan:
            vertex = to_scan.popleft()
            for other in self._neighbours[vertex]:
                if other not in left or base[vertex] == base[other] or mates.get(vertex) == other:
                    continue
                if other in reached:
                    ours = set(stem(vertex))
                    end = next(common for common in stem(other) if common in ours)
                    blossom = mark(vertex, end, other) | mark(other, end, vertex)
                    for inner in left:
                        if base[inner] in blossom:
                            base[inner] = end
                            if inner not in reached and reach(inner):
                                return True
                elif other not in parents:
                    parents[other] = vertex
                    if reach(mates[other]):
                        return True
        return False

    def _flip(self, end: int, parents: Mapping[int, int]) -> None:
        """Exchange the matching's edges with the others on the path from ``end`` to its root."""
        vertex: int | None = end
        while vertex is not None:
            before = parents[vertex]
            following = self._mates.get(before)
            self._mates[vertex], self._mates[before] = before, vertex
            vertex = following
