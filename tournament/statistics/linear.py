"""The little linear algebra of the ratings: dense symmetric positive definite systems."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

Matrix = list[list[float]]


def laplacian(size: int, weights: Mapping[tuple[int, int], float]) -> Matrix:
    """The matrix of the form that sums ``weight * (x[i] - x[j]) ** 2`` over the edges (i, j)."""
    matrix = [[0.0] * size for _ in range(size)]
    for (i, j), weight in weights.items():
        matrix[i][i] += weight
        matrix[j][j] += weight
        matrix[i][j] -= weight
        matrix[j][i] -= weight
    return matrix


def cholesky(matrix: Matrix) -> Matrix:
    """The lower triangle ``L`` with ``L L' = matrix``, row i having i + 1 cells."""
    lower: Matrix = []
    for i, row in enumerate(matrix):
        cells: list[float] = []
        for j, other in enumerate(lower):
            rest = row[j] - sum(a * b for a, b in zip(cells, other))
            cells.append(rest / other[j])
        pivot = row[i] - sum(a * a for a in cells)
        if pivot <= 0:
            raise ArithmeticError("the matrix is not positive definite")
        cells.append(math.sqrt(pivot))
        lower.append(cells)
    return lower


def solve(lower: Matrix, right: Sequence[float]) -> list[float]:
    """The solution ``x`` of ``L L' x = right``."""
    x: list[float] = []
    for row, value in zip(lower, right):
        x.append((value - sum(a * b for a, b in zip(row, x))) / row[-1])
    for i in range(len(x) - 1, -1, -1):
        x[i] /= lower[i][i]
        for j in range(i):
            x[j] -= lower[i][j] * x[i]
    return x


def inverse(lower: Matrix) -> Matrix:
    """The inverse of ``L L'``."""
    size = len(lower)
    return [solve(lower, [float(i == j) for j in range(size)]) for i in range(size)]


def product(left: Matrix, right: Matrix) -> Matrix:
    """The matrix product."""
    columns = list(zip(*right))
    return [[sum(a * b for a, b in zip(row, column)) for column in columns] for row in left]
