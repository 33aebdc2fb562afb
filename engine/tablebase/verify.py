"""Verification: checksums, and every stored value recomputed from its successors."""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple

from merels.engine.core import core, solver
from merels.engine.game.position import WHITE, Position
from merels.engine.tablebase.probe import Tables
from merels.engine.tablebase.sectors import AnySector, PlacingSector

_AT_ONCE = 1 << 16
"""Places that a thread works on at a time."""


class Verified(NamedTuple):
    """The result for one table: ``errors`` of ``places`` contradict their successors.

    ``hand`` is the men in hand, ``example`` one of the errors. ``whole`` is False where values
    alone cannot settle everything: under a limit on plies a win may come too late, which only
    depths show.
    """

    own: int
    opponent: int
    hand: int
    places: int
    errors: int
    example: Position | None
    whole: bool


@dataclass
class Verifier:
    """Checks the tables of a rule set, a sector at a time; those of the placing phase in order.

    The search's move generator makes the moves, and every successor is probed as in the search: no
    part of the retrograde analysis is used. With an odd number of men in hand, where no table is
    kept, the values are recomputed first, once for all sectors that lead there.

    ``sample`` is the number of places checked in each table, chosen by ``seed``; 0: all.
    ``report`` gets the share of the sector that is done, from 0 to 1.
    """

    tables: Tables
    threads: int = 1
    sample: int = 0
    seed: int = 1
    report: Callable[[float], None] | None = None
    _between: dict[PlacingSector, bytearray] = field(default_factory=dict)

    def check(self, sector: AnySector) -> list[Verified]:
        """Check all tables of a sector; `ValueError` where one that moves lead to is missing."""
        with ThreadPoolExecutor(self.threads) as pool:
            try:
                if isinstance(sector, PlacingSector) and not self._sampled(sector):
                    self._recompute(sector, pool)
                return [self._check(sector, *sides, pool) for sides in sector.sides]
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def forget(self) -> None:
        """Free what was recomputed."""
        for sector in self._between:
            self.tables.core.remove(*sector)
        self._between.clear()

    def _sampled(self, sector: AnySector) -> bool:
        return 0 < self.sample < sector.table_places

    def _check(
        self, sector: AnySector, own: int, opponent: int, pool: ThreadPoolExecutor
    ) -> Verified:
        """Check one table of a sector."""
        tables, places = self.tables.core, sector.table_places
        index = sector.sides.index((own, opponent))
        if self._sampled(sector):
            chance = random.Random(f"{self.seed} {sector} {index}")
            chosen = array("Q", (chance.randrange(places) for _ in range(self.sample)))
            places = self.sample

            def check(first: int) -> tuple[int, int]:
                part = chosen[first : first + _AT_ONCE]
                return solver.verify_sample(tables, own, opponent, sector.hand, part)
        else:

            def check(first: int) -> tuple[int, int]:
                last = min(first + _AT_ONCE, places)
                return solver.verify_places(tables, own, opponent, sector.hand, first, last)

        steps = range(0, places, _AT_ONCE)
        errors, example = 0, None
        for done, (number, place) in enumerate(pool.map(check, steps), 1):
            if number and example is None:
                example = self._position(sector, own, opponent, place)
            errors += number
            self._tell((index + done / len(steps)) / len(sector.sides))
        whole = self.tables.has_depths(own, opponent) or not sector.plies_limit(self.tables.rules)
        return Verified(own, opponent, sector.hand, places, errors, example, whole)

    def _position(self, sector: AnySector, own: int, opponent: int, place: int) -> Position:
        """The position at a place, White to move."""
        classes = core.table_classes(own if sector.hand else max(own, opponent))
        size = sector.table_places // classes
        men = core.table_board(own, opponent, *divmod(place, size), sector.hand)
        return Position(self.tables.rules, men, sector.hands, WHITE)

    def _recompute(self, sector: PlacingSector, pool: ThreadPoolExecutor) -> None:
        """Make the tables of an odd number of men in hand that a sector leads to."""
        tables = self.tables.core
        wanted = [s for s in sector.followers(self.tables.rules) if isinstance(s, PlacingSector)]
        for old in self._between.keys() - set(wanted):
            tables.remove(*old)
            del self._between[old]
        for follower in wanted:
            if follower in self._between:
                continue
            values = bytearray((follower.places + 3) // 4)

            def fill(first: int) -> None:
                last = min(first + _AT_ONCE, follower.places)
                solver.recompute_places(tables, *follower, first, last, values)

            for _ in pool.map(fill, range(0, follower.places, _AT_ONCE)):
                self._tell(0.0)
            tables.add(follower.own, follower.opponent, memoryview(values), hand=follower.hand)
            self._between[follower] = values

    def _tell(self, share: float) -> None:
        if self.report:
            self.report(share)
