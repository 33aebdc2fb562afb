"""Verification of tables: every stored value is recomputed from the values of its successors."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple

from merels.engine.core import core, solver
from merels.engine.game.position import WHITE, Position
from merels.engine.tablebase.probe import Tables
from merels.engine.tablebase.sectors import Sector, Table

_CHUNK = 1 << 16
"""Number of places that a thread checks in one call."""


class Verified(NamedTuple):
    """Result for one table: number of ``places`` checked, and of ``errors`` among them.

    ``example`` is one of the errors. ``complete`` is False under a limit on plies if the
    table has no depths: the check then cannot notice a win that comes too late. Depths are not
    checked, only used.
    """

    table: Table
    places: int
    errors: int
    example: Position | None
    complete: bool


@dataclass
class Verifier:
    """Checks the tables of a rule set, one sector at a time.

    The moves are those of the search's move generator, not of the retrograde analysis. Check
    sectors of the placing phase in the order of `kept_placing_sectors`: the values with an odd
    number of men in hand, which are not stored, are then recomputed only once.

    ``sample`` is the number of places checked in each table that has more, chosen by ``seed``; 0:
    all. ``report`` is called with the share of the sector that is done, from 0 to 1.
    """

    tables: Tables
    threads: int = 1
    sample: int = 0
    seed: int = 1
    report: Callable[[float], None] | None = None
    _recomputed: dict[Sector, bytearray] = field(default_factory=dict)
    """Recomputed values of the followers of the last sector, which no file stores."""

    def check(self, sector: Sector) -> list[Verified]:
        """Check all tables of a sector; `ValueError` if a table that moves lead to is missing."""
        with ThreadPoolExecutor(self.threads) as pool:
            try:
                if sector.hand and not self._sampled(sector):
                    self._recompute(sector, pool)
                return [self._check_table(sector, table, pool) for table in sector.tables]
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def free(self) -> None:
        """Free the recomputed values."""
        for sector in self._recomputed:
            self.tables.core.remove(*sector)
        self._recomputed.clear()

    def _sampled(self, sector: Sector) -> bool:
        """Return whether only a sample of the sector's places is checked."""
        return 0 < self.sample < sector.table_places

    def _check_table(self, sector: Sector, table: Table, pool: ThreadPoolExecutor) -> Verified:
        """Check one table of a sector."""
        places: Sequence[int] = range(sector.table_places)
        index = sector.tables.index(table)
        if self._sampled(sector):
            chance = random.Random(f"{self.seed} {sector} {index}")
            places = [chance.randrange(sector.table_places) for _ in range(self.sample)]

        def check_chunk(start: int) -> tuple[int, int]:
            return self._check_places(table, places[start : start + _CHUNK])

        steps = range(0, len(places), _CHUNK)
        errors, example = 0, None
        for done, (number, place) in enumerate(pool.map(check_chunk, steps), 1):
            if number and example is None:
                example = self._position(sector, table, place)
            errors += number
            self._report((index + done / len(steps)) / len(sector.tables))
        complete = (
            self.tables.has_depths(*table[:2]) or not sector.plies_limit(self.tables.rules)
        )
        return Verified(table, len(places), errors, example, complete)

    def _check_places(self, table: Table, places: Sequence[int]) -> tuple[int, int]:
        """Return the number of wrong places among some of a table, and the first of them."""
        tables = self.tables.core
        if isinstance(places, range):
            return solver.verify_places(tables, *table, places.start, places.stop)
        wrong = [
            place for place in places if solver.verify_places(tables, *table, place, place + 1)[0]
        ]
        return len(wrong), wrong[0] if wrong else 0

    def _position(self, sector: Sector, table: Table, place: int) -> Position:
        """Return the position at a place of a table, with White to move."""
        own, opponent, hand = table
        men = core.table_board(own, opponent, place, hand)
        return Position.of(self.tables.rules, men, sector.hands, WHITE)

    def _recompute(self, sector: Sector, pool: ThreadPoolExecutor) -> None:
        """Recompute the values of a sector's followers, which are not stored."""
        tables = self.tables.core
        wanted = [s for s in sector.followers(self.tables.rules) if s.hand]
        for old in self._recomputed.keys() - set(wanted):
            tables.remove(*old)
            del self._recomputed[old]
        for follower in wanted:
            if follower in self._recomputed:
                continue
            values = bytearray((follower.places + 3) // 4)

            def fill(first: int) -> None:
                last = min(first + _CHUNK, follower.places)
                solver.recompute_places(tables, *follower, first, last, values)

            for _ in pool.map(fill, range(0, follower.places, _CHUNK)):
                self._report(0.0)
            tables.add([(*follower, values, None)])
            self._recomputed[follower] = values

    def _report(self, share: float) -> None:
        if self.report:
            self.report(share)
