"""Sectors: the positions of the moving phase with given numbers of men."""

from __future__ import annotations

from typing import NamedTuple

from merels.engine.core import core
from merels.engine.core.convert import core_rules
from merels.engine.game.rules import MEN_PER_SIDE, MINIMUM_MEN, Rules

MIN_MEN, MAX_MEN = 2 * MINIMUM_MEN, 2 * MEN_PER_SIDE
"""Men of both sides together."""


class Sector(NamedTuple):
    """The positions with ``larger`` men on one side and ``smaller`` on the other, no man in hand.

    It has a table for each side to move, the larger one first, or one where both are equal.
    """

    larger: int
    smaller: int

    @property
    def sides(self) -> list[tuple[int, int]]:
        """The men of the side to move and of its opponent, for each table."""
        return list(dict.fromkeys(((self.larger, self.smaller), (self.smaller, self.larger))))

    @property
    def table_places(self) -> int:
        """The places in each of its tables."""
        return core.table_places(self.larger, self.smaller)

    @property
    def places(self) -> int:
        """The places in its tables together."""
        return self.table_places * len(self.sides)

    def memory(self, depths: bool) -> int:
        """Bytes that solving it takes, the mapped files of other sectors left out."""
        return core.sector_memory(self.larger, self.smaller, depths)

    def plies_limit(self, rules: Rules) -> int:
        """The plies without a removal that make a draw here; 0: no limit."""
        return core.table_limit(core_rules(rules), self.larger, self.smaller)

    def __str__(self) -> str:
        return f"{self.larger}-{self.smaller}"


def sectors(men: int = MAX_MEN) -> list[Sector]:
    """All sectors of up to ``men`` men, each after those that a removal leads to."""
    return [
        Sector(total - smaller, smaller)
        for total in range(MIN_MEN, men + 1)
        for smaller in range(MINIMUM_MEN, total // 2 + 1)
        if total - smaller <= MEN_PER_SIDE
    ]
