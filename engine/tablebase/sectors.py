"""Sectors: the positions with given numbers of men on the board and in hand."""

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
    def hand(self) -> int:
        """The men in hand of both sides together."""
        return 0

    @property
    def hands(self) -> tuple[int, int]:
        """The men in hand of the side to move and of its opponent."""
        return 0, 0

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

    @property
    def men(self) -> int:
        """All men, those in hand included."""
        return self.larger + self.smaller

    def plies_limit(self, rules: Rules) -> int:
        """The plies without a removal that make a draw here; 0: no limit."""
        return core.table_limit(core_rules(rules), self.larger, self.smaller)

    def __str__(self) -> str:
        return f"{self.larger}-{self.smaller}"


class PlacingSector(NamedTuple):
    """The positions with ``own`` men of the side to move on the board and ``opponent`` others.

    ``hand`` is the men in hand of both sides together, 1 to 18: as White and Black take turns, the
    side to move has half of them, and one more where they are odd. It has one table.
    """

    own: int
    opponent: int
    hand: int

    @property
    def hands(self) -> tuple[int, int]:
        """The men in hand of the side to move and of its opponent."""
        return (self.hand + 1) // 2, self.hand // 2

    @property
    def sides(self) -> list[tuple[int, int]]:
        """The men of the side to move and of its opponent, for its one table."""
        return [(self.own, self.opponent)]

    @property
    def table_places(self) -> int:
        """The places in its table."""
        return core.table_places(self.own, self.opponent, self.hand)

    @property
    def places(self) -> int:
        """The same, as a `Sector` has it."""
        return self.table_places

    @property
    def men(self) -> int:
        """All men, those in hand included."""
        return self.own + self.opponent + self.hand

    def occurs(self, each_mill: bool) -> bool:
        """Whether play may lead there, as far as numbers of men tell, and the game goes on.

        ``each_mill``: a move that closes two mills removes two men.
        """
        if not (min(self) >= 0 and 1 <= self.hand <= MAX_MEN):
            return False
        own_hand, opponent_hand = self.hands
        own_lost = MEN_PER_SIDE - own_hand - self.own
        opponent_lost = MEN_PER_SIDE - opponent_hand - self.opponent
        most = MEN_PER_SIDE - MINIMUM_MEN
        return (
            0 <= own_lost <= min(most, _most_removals(MEN_PER_SIDE - opponent_hand, each_mill))
            and 0 <= opponent_lost <= min(most, _most_removals(MEN_PER_SIDE - own_hand, each_mill))
        )

    def plies_limit(self, rules: Rules) -> int:
        """No count of plies makes a draw while men are in hand."""
        return 0

    def followers(self, rules: Rules) -> list[AnySector]:
        """The sectors that its placements lead to while the game goes on."""
        placed = self.own + 1
        most = 0 if placed < 3 else 2 if rules.double_mill == "each" and placed >= 5 else 1
        left = range(max(0, self.opponent - most), self.opponent + 1)
        found: list[AnySector] = []
        for opponent in left:
            if opponent + self.hands[1] >= MINIMUM_MEN:
                if self.hand == 1:
                    found.append(Sector(max(opponent, placed), min(opponent, placed)))
                else:
                    found.append(PlacingSector(opponent, placed, self.hand - 1))
        return found

    def __str__(self) -> str:
        return table_name(*self)


AnySector = Sector | PlacingSector
"""A sector of either phase."""


def _most_removals(placed: int, each_mill: bool) -> int:
    """Return the most men that a side can have removed by placing that many.

    From its third man on each may close a mill, from its fifth man on each may close two.
    """
    return max(0, placed - 2) + (max(0, placed - 4) if each_mill else 0)


def sectors(men: int = MAX_MEN) -> list[Sector]:
    """All sectors of up to ``men`` men, each after those that a removal leads to."""
    return [
        Sector(total - smaller, smaller)
        for total in range(MIN_MEN, men + 1)
        for smaller in range(MINIMUM_MEN, total // 2 + 1)
        if total - smaller <= MEN_PER_SIDE
    ]


def placing_sectors(rules: Rules, men: int = MAX_MEN) -> list[PlacingSector]:
    """All sectors of the placing phase of up to ``men`` men, each after those that follow it.

    They come by the men in hand, then by the side to move's men, then by the opponent's.
    """
    counts = range(MEN_PER_SIDE + 1)
    found = (
        PlacingSector(own, opponent, hand)
        for hand in range(1, MAX_MEN + 1)
        for own in counts
        for opponent in counts
    )
    each_mill = rules.double_mill == "each"
    return [sector for sector in found if sector.men <= men and sector.occurs(each_mill)]


def kept_placing_sectors(rules: Rules, men: int = MAX_MEN) -> list[PlacingSector]:
    """The sectors of the placing phase of up to ``men`` men whose tables are kept.

    Those with an odd number of men in hand are not: a look one ply ahead tells their values.
    """
    return [sector for sector in placing_sectors(rules, men) if sector.hand % 2 == 0]


def table_name(own: int, opponent: int, hand: int = 0) -> str:
    """The name of the table of ``own`` men to move against ``opponent``, ``hand`` men in hand."""
    return f"{own}-{opponent}" + (f"+{hand}" if hand else "")
