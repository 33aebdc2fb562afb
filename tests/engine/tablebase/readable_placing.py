"""A solver of the placing phase in readable Python, from tables of the moving phase."""

from __future__ import annotations

from collections.abc import Iterator

from merels.engine.core import core
from merels.engine.game.board import SYMMETRIES
from merels.engine.game.position import WHITE, Position
from merels.engine.tablebase.probe import Tables
from merels.engine.tablebase.sectors import Sector

_BYTE_IMAGES = [
    [
        [sum(1 << s[8 * ring + i] for i in range(8) if byte >> i & 1) for byte in range(256)]
        for ring in range(3)
    ]
    for s in SYMMETRIES
]
"""Image of each byte of a mask, by symmetry and ring."""


def least_image(own: int, opponent: int) -> tuple[int, int]:
    """Return the least of a board's mirror images, a key that all of them share."""
    return min(
        (
            a[own & 255] | b[own >> 8 & 255] | c[own >> 16],
            a[opponent & 255] | b[opponent >> 8 & 255] | c[opponent >> 16],
        )
        for a, b, c in _BYTE_IMAGES
    )


class ReadableSolver:
    """Computes values by minimax with the referee's move generation, and caches them."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self._values: dict[tuple[int, ...], int] = {}

    def value(self, position: Position) -> int:
        """Return a position's value for the side to move: 1, 0 or -1."""
        outcome = position.outcome()
        if outcome is not None:
            return outcome.value(position.side)
        if position.hands == (0, 0):
            stored = self.tables.probe(position)
            assert stored is not None
            return stored.value
        own = position.side
        image = least_image(position.men[own], position.men[1 - own])
        key = (*image, position.hands[own], position.hands[1 - own])
        if key not in self._values:
            best = -1
            for move in position.legal_moves():
                best = max(best, -self.value(position.play(move)))
                if best > 0:
                    break
            self._values[key] = best
        return self._values[key]


def positions_of(sector: Sector, tables: Tables) -> Iterator[tuple[int, Position]]:
    """Yield every place of a sector with its position, White to move."""
    for place in range(sector.places):
        men = core.table_board(sector.own, sector.opponent, place, sector.hand)
        yield place, Position.of(tables.rules, men, sector.hands, WHITE)
