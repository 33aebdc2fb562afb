"""Times that engines used for their moves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import gt
from typing import Any

from merels.engine.common.errors import InputError
from merels.engine.game.notation import SIDES, join_steps
from merels.tournament.journal.rows import Row
from merels.tournament.records.games import TimeControl
from merels.tournament.report.svg import interval
from merels.tournament.report.table import Column, Table
from merels.tournament.statistics.times import Sample, Spread

SHORTEST_TIME = 10_000
"""Left end of the axis of times, in nanoseconds; shorter times are drawn there."""


@dataclass(slots=True)
class MoveTimes:
    """Times of one engine's moves in nanoseconds, including moves that lost on time."""

    used: Sample = field(default_factory=Sample)
    """From ``go`` to ``bestmove``."""
    overrun: Sample = field(default_factory=Sample)
    """Excess of each move that exceeded the clock or the time per move, forgiven or not."""

    def spreads(self) -> dict[str, Spread]:
        """Return the distribution of each kind of time that was measured."""
        kinds = {"used": self.used, "overrun": self.overrun}
        return {name: sample.spread() for name, sample in kinds.items() if sample.count}


def add_times(
    times: dict[str, MoveTimes], row: Row, limits: Mapping[str, TimeControl],
    keys: tuple[str, str] | None = None,
) -> None:
    """Add the times of a game's moves; ``limits`` are the engines' time controls by name.

    ``keys`` are the keys of White and Black in ``times``, by default their names. Raises
    `InputError` if the row is damaged.
    """
    first = _first_side(row)
    names = row.white, row.black
    allowances = limits[row.white], limits[row.black]
    engines = []
    for key in keys or names:
        if key not in times:
            times[key] = MoveTimes()
        engines.append(times[key])
    used, lost, count = row.measures(row.times), row.lost_move(), len(times)
    # Without a margin, the first overrun loses the game, and ``lost`` holds it.
    has_overruns = any(limit.per_move or limit.time and limit.margin for limit in allowances)
    clocks = _clocks(row) if has_overruns else []
    try:
        for side, (engine, limit) in enumerate(zip(engines, allowances)):
            own = slice(side != first, None, 2)
            elapsed = used[own]
            engine.used.extend(elapsed, count)
            if has_overruns:
                engine.overrun.extend(_overruns(elapsed, clocks[own], limit), count)
        if lost is not None:
            loser = engines[row.result == "1-0"]
            loser.used.extend([lost.elapsed], count)
            loser.overrun.extend([lost.overrun], count)
    except (OverflowError, ValueError):
        raise row.damaged("its moves") from None


def _clocks(row: Row) -> Sequence[int | None]:
    """Return the time left after each move, in nanoseconds; None without a clock."""
    return row.numbers(row.clocks) if "-" in row.clocks else row.measures(row.clocks)


def _overruns(
    elapsed: Sequence[int], clocks: Sequence[int | None], limit: TimeControl
) -> list[int]:
    """Return the excess of each move that exceeded its limit; ``clocks``: time left after moves."""
    clocks_before = [limit.time, *clocks] if limit.time is not None else [None] * len(elapsed)
    known = [clock for clock in clocks_before if clock is not None]
    if limit.per_move is None and known == clocks_before and not any(map(gt, elapsed, known)):
        return []  # The usual case.
    overruns = []
    for time, clock in zip(elapsed, clocks_before):
        allowed = [bound for bound in (clock, limit.per_move) if bound is not None]
        if allowed and time > min(allowed):
            overruns.append(time - min(allowed))
    return overruns


def _first_side(row: Row) -> int:
    """Return the side that played the first move after the opening."""
    first = _side_after(row.position, row.opening)
    if first is None:
        place = f"game {row.number}"
        raise InputError(place, "expected a start position; the journal is damaged")
    return first


@lru_cache(maxsize=4096)
def _side_after(position: str, opening: str) -> int | None:
    """Return the side to move after an opening; None if ``position`` is invalid."""
    side = position.partition(" ")[2][:1]
    if not side or side not in SIDES:
        return None
    return (SIDES.index(side) + len(list(join_steps(opening.split())))) % 2


def times_table(times: Mapping[str, MoveTimes]) -> Table:
    """Return a table with a row for each engine and kind of time, in milliseconds.

    On a page, a column draws the times on a logarithmic scale: thick from the median to the 90th
    percentile, thin to the 99th, and a point for the longest.
    """
    spreads = [
        (name, kind, spread)
        for name, engine in times.items() for kind, spread in engine.spreads().items()
    ]
    rows = [
        [name, kind, spread.moves, *(value / 1e6 for value in spread[1:]), spread]
        for name, kind, spread in spreads
    ]
    longest = max((spread.longest for *_, spread in spreads), default=0)
    decades = max(1, math.ceil(math.log10(max(longest, SHORTEST_TIME) / SHORTEST_TIME)))

    def draw(spread: Spread) -> str:
        median, p90, p99, last = (
            math.log10(max(time, SHORTEST_TIME) / SHORTEST_TIME) / decades for time in spread[1:]
        )
        text = "median, 90 %, 99 % and longest time, on a logarithmic scale"
        return interval([("grid", p90, p99), ("error", median, p90)], last, text)

    head = [
        Column("Name", left=True), Column("Time of a move"), Column("Moves", form="{:,}"),
        *(Column(name, form="{:.2f}") for name in ("Median", "90 %", "99 %", "Longest")),
        Column("Distribution", html=draw, page_only=True),
    ]
    return Table("Milliseconds a move", head, rows, "times")


def as_dict(times: Mapping[str, MoveTimes]) -> dict[str, Any]:
    """Return the distributions in nanoseconds as JSON values."""
    return {
        name: {kind: spread._asdict() for kind, spread in engine.spreads().items()}
        for name, engine in times.items()
    }
