"""Which players are connected: strong components of a small directed graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def components(size: int, edges: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Split 0..size-1 into sets whose members all reach each other, in order of first member."""
    ahead, behind = [0] * size, [0] * size
    for a, b in edges:
        ahead[a] |= 1 << b
        behind[b] |= 1 << a
    found: list[list[int]] = []
    placed = 0
    for root in range(size):
        if not placed >> root & 1:
            mutual = _reached(root, ahead) & _reached(root, behind)
            placed |= mutual
            found.append([i for i in range(size) if mutual >> i & 1])
    return found


def _reached(root: int, edges: Sequence[int]) -> int:
    """The bit set of everything that can be reached from ``root``, itself included."""
    reached = fresh = 1 << root
    while fresh:
        node = fresh.bit_length() - 1
        fresh ^= 1 << node
        new = edges[node] & ~reached
        reached |= new
        fresh |= new
    return reached
