"""Sectors: the positions with given numbers of men on the board and in hand.

A place is the index of a position in a table (FORMAT.md).
"""

from __future__ import annotations

from typing import NamedTuple

from merels.engine.core import core
from merels.engine.core.convert import core_rules
from merels.engine.game.rules import MEN_PER_SIDE, MINIMUM_MEN, Rules

MIN_MEN, MAX_MEN = 2 * MINIMUM_MEN, 2 * MEN_PER_SIDE
"""Least and greatest number of men of both sides together."""

Table = tuple[int, int, int]
"""Men on the board of the side to move and of its opponent, men in hand of both together."""


class Sector(NamedTuple):
    """The positions with ``own`` men of the side to move and ``opponent`` others on the board.

    ``hand`` is the number of men in hand of both sides together, 0 to 18. The side to move has half
    of them, rounded up, because White and Black place in turn. Without men in hand, ``own`` is not
    the smaller number, and the sector has two tables: either side to move. If both sides have the
    same number of men, or men are in hand, it has one table.
    """

    own: int
    opponent: int
    hand: int = 0

    @property
    def hands(self) -> tuple[int, int]:
        """The men in hand of the side to move and of its opponent."""
        return (self.hand + 1) // 2, self.hand // 2

    @property
    def tables(self) -> list[Table]:
        """The sector's tables."""
        if self.hand or self.own == self.opponent:
            return [(*self,)]
        return [(*self,), (self.opponent, self.own, 0)]

    @property
    def table_places(self) -> int:
        """Number of places in each table."""
        return core.table_places(*self)

    @property
    def places(self) -> int:
        """Number of places in all tables."""
        return self.table_places * len(self.tables)

    @property
    def men(self) -> int:
        """Number of men of both sides, those in hand included."""
        return sum(self)

    def occurs(self, each_mill: bool) -> bool:
        """Return whether an unfinished game can have these numbers of men.

        ``each_mill``: a move that closes two mills removes two men.
        """
        if not self.hand:
            return MINIMUM_MEN <= self.opponent <= self.own <= MEN_PER_SIDE
        if not (min(self) >= 0 and self.hand <= MAX_MEN):
            return False
        own_hand, opponent_hand = self.hands
        own_lost = MEN_PER_SIDE - own_hand - self.own
        opponent_lost = MEN_PER_SIDE - opponent_hand - self.opponent
        limit = MEN_PER_SIDE - MINIMUM_MEN
        return (
            0 <= own_lost <= min(limit, _most_removals(MEN_PER_SIDE - opponent_hand, each_mill))
            and 0 <= opponent_lost <= min(limit, _most_removals(MEN_PER_SIDE - own_hand, each_mill))
        )

    def plies_limit(self, rules: Rules) -> int:
        """Return the plies without a removal that draw the game in this sector; 0: no limit."""
        return 0 if self.hand else core.table_limit(core_rules(rules), self.own, self.opponent)

    def followers(self, rules: Rules) -> list[Sector]:
        """Return the sectors that a placement leads to, unless the placement ends the game."""
        placed = self.own + 1
        removals = 0 if placed < 3 else 2 if rules.double_mill == "each" and placed >= 5 else 1
        remaining = range(max(0, self.opponent - removals), self.opponent + 1)
        return [
            Sector(opponent, placed, self.hand - 1) if self.hand > 1
            else Sector(max(opponent, placed), min(opponent, placed))
            for opponent in remaining if opponent + self.hands[1] >= MINIMUM_MEN
        ]

    def __str__(self) -> str:
        return table_name(*self)


def _most_removals(placed: int, each_mill: bool) -> int:
    """Return the greatest number of removals by a side that has placed ``placed`` men.

    Each man from the third on may close a mill, each from the fifth on may close two.
    """
    return max(0, placed - 2) + (max(0, placed - 4) if each_mill else 0)


def sectors(men: int = MAX_MEN) -> list[Sector]:
    """Return all sectors of the moving phase up to ``men`` men.

    Each sector comes after the sectors that its removals lead to.
    """
    return [
        Sector(total - smaller, smaller)
        for total in range(MIN_MEN, men + 1)
        for smaller in range(MINIMUM_MEN, total // 2 + 1)
        if total - smaller <= MEN_PER_SIDE
    ]


def placing_sectors(rules: Rules, men: int = MAX_MEN) -> list[Sector]:
    """Return all sectors of the placing phase up to ``men`` men, those in hand included.

    They are ordered by the men in hand, the own men and the opponent's men, so that each sector
    comes after its followers.
    """
    counts = range(MEN_PER_SIDE + 1)
    candidates = (
        Sector(own, opponent, hand)
        for hand in range(1, MAX_MEN + 1)
        for own in counts
        for opponent in counts
    )
    each_mill = rules.double_mill == "each"
    return [sector for sector in candidates if sector.men <= men and sector.occurs(each_mill)]


def kept_placing_sectors(rules: Rules, men: int = MAX_MEN) -> list[Sector]:
    """Return the sectors of the placing phase up to ``men`` men whose tables are stored.

    Values with an odd number of men in hand are not stored: a search of one ply finds them.
    """
    return [sector for sector in placing_sectors(rules, men) if sector.hand % 2 == 0]


def stored_sectors(rules: Rules, men: int = MAX_MEN) -> list[Sector]:
    """Return the sectors of both phases up to ``men`` men whose tables are stored."""
    return [*sectors(men), *kept_placing_sectors(rules, men)]


def table_name(own: int, opponent: int, hand: int = 0) -> str:
    """Return a table's name, for example ``8-7`` or ``8-7+2``; ``own`` is the side to move."""
    return f"{own}-{opponent}" + (f"+{hand}" if hand else "")
