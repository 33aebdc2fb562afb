"""Verification: checksums, and every stored value recomputed from its successors."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from merels.engine.core import core
from merels.engine.core.convert import core_rules
from merels.engine.game.position import WHITE, Position
from merels.engine.tablebase.probe import Tables
from merels.engine.tablebase.sectors import Sector

_CLASSES_AT_ONCE = 16


class Verified(NamedTuple):
    """The result for one table: ``errors`` of ``places`` contradict their successors.

    ``example`` is one of them. ``whole`` is False where values alone cannot settle everything:
    under a limit on plies a win may come too late, which only depths show.
    """

    own: int
    opponent: int
    places: int
    errors: int
    example: Position | None
    whole: bool


def verify(
    tables: Tables,
    sector: Sector,
    *,
    threads: int = 1,
    report: Callable[[float], None] | None = None,
) -> list[Verified]:
    """Check all tables of a sector; ``report`` gets the share done, from 0 to 1.

    The search's move generator makes the moves, and every successor is probed as in the search: no
    part of the retrograde analysis is used.
    """
    rules = core_rules(tables.rules)
    classes = core.table_classes(sector.larger)
    steps = range(0, classes, _CLASSES_AT_ONCE)
    results = []
    with ThreadPoolExecutor(threads) as pool:
        try:
            for index, (own, opponent) in enumerate(sector.sides):

                def check(first: int, own: int = own, opponent: int = opponent) -> tuple[int, int]:
                    last = min(first + _CLASSES_AT_ONCE, classes)
                    return core.verify_classes(tables.core, rules, own, opponent, first, last)

                errors, example = 0, None
                for done, (number, place) in enumerate(pool.map(check, steps)):
                    if number and example is None:
                        at = divmod(place, sector.table_places // classes)
                        men = core.table_board(own, opponent, *at)
                        example = Position(tables.rules, men, (0, 0), WHITE)
                    errors += number
                    if report:
                        report((index + (done + 1) / len(steps)) / len(sector.sides))
                whole = tables.has_depths(own, opponent) or not sector.plies_limit(tables.rules)
                results.append(
                    Verified(own, opponent, sector.table_places, errors, example, whole)
                )
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return results
