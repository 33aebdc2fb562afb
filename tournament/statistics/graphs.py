"""Graphs of the ratings: components, and Laplacians with a sparse solver and a dense inverse.

The Laplacian of a weighted graph is the matrix of the quadratic form that sums ``weight * (x[i] -
x[j]) ** 2`` over its edges (i, j). The graphs are connected, so its kernel consists of the constant
vectors. Solutions and the rows of the pseudo-inverse therefore have mean 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from heapq import heapify, heappop, heappush
from operator import itemgetter, mul, neg, sub
from statistics import fmean
from typing import Any

Matrix = list[list[float]]
Edges = Sequence[tuple[int, int]]

_Step = tuple[int, float, list[tuple[int, float]]]
"""A node that is eliminated, its total weight, and its neighbours with their weights."""
MAX_ELIMINATED = 4
"""Largest number of neighbours of a node that is eliminated."""
MAX_ROUNDS = 20
"""Limit of conjugate gradient iterations per unknown; with exact arithmetic, one would do."""


class Laplacian:
    """Laplacian of a connected graph with fixed edges and replaceable weights."""

    def __init__(self, size: int, edges: Edges) -> None:
        self.size = size
        self.edges = edges
        neighbours: list[list[int]] = [[] for _ in range(size)]
        numbers: list[list[int]] = [[] for _ in range(size)]
        signed: list[list[int]] = [[] for _ in range(size)]
        for number, (i, j) in enumerate(edges):
            neighbours[i].append(j)
            neighbours[j].append(i)
            numbers[i].append(number)
            numbers[j].append(number)
            signed[i].append(number)
            signed[j].append(number + len(edges))
        self._pick_neighbours = [_picker(places) for places in neighbours]
        self._pick_weights = [_picker(places) for places in numbers]
        self._pick_signed = [_picker(places) for places in signed]
        self._pick_ends = [_picker(places) for places in zip(*edges)]
        self._reduced: tuple[list[_Step], list[int], Laplacian] | None = None
        """The result of `_eliminate` for the current weights, or None."""
        self._rows: list[tuple[float, ...]] = []
        self.diagonal: list[float] = []

    def differences(self, x: Sequence[float]) -> list[float]:
        """Return ``x[i] - x[j]`` for each edge (i, j)."""
        return list(map(sub, *(pick(x) for pick in self._pick_ends)))

    def gather(self, values: Sequence[float]) -> list[float]:
        """Return the vector to which each edge (i, j) adds its value at i and subtracts it at j."""
        signed = [*values, *map(neg, values)]
        return [sum(pick(signed)) for pick in self._pick_signed]

    def weigh(self, weights: Sequence[float]) -> None:
        """Set the weights of all edges; they must be positive."""
        self._reduced = None
        self._rows = [pick(weights) for pick in self._pick_weights]
        self.diagonal = [sum(row) for row in self._rows]

    def times(self, x: Sequence[float]) -> list[float]:
        """Return the product with a vector."""
        return [
            own * degree - sum(map(mul, row, pick(x)))
            for own, degree, row, pick in zip(x, self.diagonal, self._rows, self._pick_neighbours)
        ]

    def solve(self, right: Sequence[float], tolerance: float) -> list[float]:
        """Return the solution for a right-hand side of sum 0.

        Nodes with few neighbours are eliminated exactly, because conjugate gradients are slow in
        long chains. The others are solved with ``tolerance``, as in `_iterate`.
        """
        if self._reduced is None:
            self._reduced = self._eliminate()
        steps, nodes, rest = self._reduced
        if not steps:
            return self._iterate(right, tolerance)
        values = list(right)
        for node, total, row in steps:
            share = values[node] / total
            for other, weight in row:
                values[other] += weight * share
        x = [0.0] * self.size
        for node, value in zip(nodes, rest._iterate([values[node] for node in nodes], tolerance)):
            x[node] = value
        for node, total, row in reversed(steps):
            x[node] = (values[node] + sum(weight * x[other] for other, weight in row)) / total
        mean = sum(x) / self.size
        return [a - mean for a in x]

    def _eliminate(self) -> tuple[list[_Step], list[int], Laplacian]:
        """Return the steps of Gaussian elimination, and the nodes left with their Laplacian.

        Each step eliminates a node with the fewest neighbours, at most `MAX_ELIMINATED`.
        """
        rows: list[dict[int, float]] = [{} for _ in range(self.size)]
        for row, pick, edges in zip(rows, self._pick_neighbours, self._rows):
            for other, weight in zip(pick(range(self.size)), edges):
                row[other] = row.get(other, 0.0) + weight
        steps: list[_Step] = []
        queue = [(len(row), node) for node, row in enumerate(rows) if len(row) <= MAX_ELIMINATED]
        heapify(queue)
        while queue and len(steps) < self.size - 1:
            degree, node = heappop(queue)
            row = rows[node]
            if degree != len(row) or not row:
                continue
            total = sum(row.values())
            steps.append((node, total, list(row.items())))
            for other, weight in row.items():
                neighbours = rows[other]
                del neighbours[node]
                for third, factor in row.items():
                    if third != other:
                        added = weight * factor / total
                        neighbours[third] = neighbours.get(third, 0.0) + added
                if len(neighbours) <= MAX_ELIMINATED:
                    heappush(queue, (len(neighbours), other))
            rows[node] = {}
        gone = {node for node, *_ in steps}
        nodes = [node for node in range(self.size) if node not in gone]
        place = {node: index for index, node in enumerate(nodes)}
        weights = {
            (place[node], place[other]): weight
            for node in nodes for other, weight in rows[node].items() if node < other
        }
        rest = Laplacian(len(nodes), list(weights))
        rest.weigh(list(weights.values()))
        return steps, nodes, rest

    def _iterate(self, right: Sequence[float], tolerance: float) -> list[float]:
        """Return the solution for a right-hand side of sum 0, by conjugate gradients.

        The preconditioner is the diagonal. The iteration ends when the residual is at most
        ``tolerance`` times the right-hand side, both in the norm of the preconditioner.
        """
        if self.size == 1:
            return [0.0]
        diagonal = self.diagonal
        x = [0.0] * self.size
        residual = list(right)
        scaled = [r / d for r, d in zip(residual, diagonal)]
        direction = scaled
        energy = sum(map(mul, residual, scaled))
        goal = energy * tolerance * tolerance
        for _ in range(MAX_ROUNDS * self.size):
            if energy <= goal:
                break
            image = self.times(direction)
            curvature = sum(map(mul, direction, image))
            if curvature <= 0:
                break  # Only rounding errors are left.
            step = energy / curvature
            x = [a + step * d for a, d in zip(x, direction)]
            residual = [r - step * i for r, i in zip(residual, image)]
            scaled = [r / d for r, d in zip(residual, diagonal)]
            energy, previous = sum(map(mul, residual, scaled)), energy
            factor = energy / previous
            direction = [s + factor * d for s, d in zip(scaled, direction)]
        mean = sum(x) / self.size
        return [a - mean for a in x]

    def inverse(self) -> Matrix:
        """Return the dense pseudo-inverse; the time is cubic in the size."""
        size = self.size
        matrix = [[1 / size] * size for _ in range(size)]
        for i, (degree, row, pick) in enumerate(
            zip(self.diagonal, self._rows, self._pick_neighbours)
        ):
            matrix[i][i] += degree
            for j, weight in zip(pick(range(size)), row):
                matrix[i][j] -= weight
        columns = _inverse_of_triangle(_cholesky(matrix))
        full = [[0.0] * size for _ in range(size)]
        for i in range(size):
            for j in range(i, size):
                full[i][j] = full[j][i] = sum(map(mul, columns[i][j - i:], columns[j])) - 1 / size
        return full


def sandwich(bread: Matrix, edges: Edges, weights: Sequence[float]) -> Matrix:
    """Return ``bread * M * bread``, where M is the Laplacian of the edges with these weights."""
    size = len(bread)
    meat = Laplacian(size, edges)
    meat.weigh(weights)
    product = [meat.times(row) for row in bread]
    result = [[0.0] * size for _ in range(size)]
    for i, row in enumerate(bread):
        for j in range(i, size):
            result[i][j] = result[j][i] = sum(map(mul, row, product[j]))
    return result


def about(covariance: Matrix, origins: Sequence[int]) -> Matrix:
    """Return the covariance of the differences from the mean of the nodes ``origins``.

    Without origins, return ``covariance`` itself.
    """
    if not origins:
        return covariance
    means = [fmean(row[origin] for origin in origins) for row in covariance]
    own = fmean(means[origin] for origin in origins)
    return [
        [cell - mean - other + own for cell, other in zip(row, means)]
        for row, mean in zip(covariance, means)
    ]


def _picker(places: Sequence[int]) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """Return a function that picks the items at the indices ``places`` of a sequence."""
    if len(places) > 1:
        return itemgetter(*places)
    return lambda items: tuple(items[place] for place in places)


def _cholesky(matrix: Matrix) -> Matrix:
    """Return the lower triangle ``L`` with ``L L' = matrix``; row i has i + 1 cells."""
    lower: Matrix = []
    for i, row in enumerate(matrix):
        cells: list[float] = []
        for cell, other in zip(row, lower):
            cells.append((cell - sum(map(mul, cells, other))) / other[-1])
        pivot = row[i] - sum(map(mul, cells, cells))
        if pivot <= 0:
            raise ArithmeticError("the matrix is not positive definite")
        cells.append(math.sqrt(pivot))
        lower.append(cells)
    return lower


def _inverse_of_triangle(lower: Matrix) -> Matrix:
    """Return the inverse of a lower triangle by columns, each from the diagonal down."""
    columns: Matrix = []
    for i, row in enumerate(lower):
        for j, column in enumerate(columns):
            column.append(-sum(map(mul, row[j:], column)) / row[i])
        columns.append([1 / row[i]])
    return columns


def components(size: int, edges: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return the strongly connected components of the nodes 0 to size - 1.

    They are sorted by their first node.
    """
    ahead, behind = [0] * size, [0] * size
    for a, b in edges:
        ahead[a] |= 1 << b
        behind[b] |= 1 << a
    groups: list[list[int]] = []
    placed = 0
    for root in range(size):
        if not placed >> root & 1:
            mutual = _reached(root, ahead) & _reached(root, behind)
            placed |= mutual
            groups.append([i for i in range(size) if mutual >> i & 1])
    return groups


def _reached(root: int, edges: Sequence[int]) -> int:
    """Return the nodes reachable from ``root``, itself included, as a bit set."""
    reached = fresh = 1 << root
    while fresh:
        node = fresh.bit_length() - 1
        fresh ^= 1 << node
        new = edges[node] & ~reached
        reached |= new
        fresh |= new
    return reached
