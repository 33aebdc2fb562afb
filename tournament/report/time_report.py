"""The time of moves: what engines used, what the runner was late, and who lost on time for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import gt
from typing import Any

from merels.engine.common.errors import InputError
from merels.engine.common.numbers import counted
from merels.engine.game.notation import SIDES, join_steps
from merels.tournament.journal.rows import Row
from merels.tournament.records.games import Overtime, TimeControl
from merels.tournament.report.text_table import grid, percent, shorten
from merels.tournament.statistics.times import Sample, SampleOfLots, Spread


@dataclass(slots=True)
class MoveTimes:
    """The moves of one engine, in nanoseconds; a move that lost on time is one of them."""

    used: Sample = field(default_factory=Sample)
    """From go to bestmove."""
    late: SampleOfLots = field(default_factory=SampleOfLots)
    """The runner's lateness on each measured move, game by game."""
    waited: SampleOfLots = field(default_factory=SampleOfLots)
    """The engine's wait for a processor on each measured move."""
    overrun: Sample = field(default_factory=Sample)
    """Overrun of each move beyond its clock, forgiven or not."""

    def spreads(self) -> dict[str, Spread]:
        """The spread of each of these that there is anything of."""
        kinds = {"used": self.used, "late": self.late, "waited": self.waited,
                 "overrun": self.overrun}
        return {name: sample.spread() for name, sample in kinds.items() if sample.count}

    def merge(self, other: MoveTimes, engines: int) -> None:
        """Add the moves of another engine; ``engines`` is their number."""
        self.used.merge(other.used, engines)
        self.late.merge(other.late, engines)
        self.waited.merge(other.waited, engines)
        self.overrun.merge(other.overrun, engines)


WORDS = {
    "used": "used", "late": "runner late", "waited": "engine waited", "overrun": "overrun"
}
"""The kinds of time as tables name them."""


def add_times(
    times: dict[str, MoveTimes], row: Row, limits: Mapping[str, TimeControl],
    keys: tuple[str, str] | None = None,
) -> None:
    """Add the moves of a game; ``limits`` are those of the engines by name.

    ``keys`` are White's and Black's in ``times``, unless those are their names.
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
    # Moves are forgiven an overrun only within a margin: without one, the last of them is lost.
    has_overruns = any(limit.per_move or limit.time and limit.margin for limit in allowances)
    clocks = _clocks(row) if has_overruns else []
    try:
        for side, (one, limit) in enumerate(zip(engines, allowances)):
            own = slice(side != first, None, 2)
            elapsed = used[own]
            one.used.extend(elapsed, count)
            for sample, column in ((one.late, row.late), (one.waited, row.waited)):
                if column and sample.is_due():
                    words = column.split()[own]
                    sample.extend([int(word) for word in words if word != "-"], count)
            if has_overruns:
                one.overrun.extend(_overruns(elapsed, clocks[own], limit), count)
        if lost is not None:
            one = engines[row.result == "1-0"]
            one.used.extend([lost.elapsed], count)
            one.overrun.extend([lost.overrun], count)
            for sample, delay in ((one.late, lost.late), (one.waited, lost.waited)):
                sample.extend([] if delay is None else [delay], count)
    except (OverflowError, ValueError):
        raise row.damaged("its moves") from None


def _clocks(row: Row) -> Sequence[int | None]:
    """Time left on the clock after each move."""
    return row.numbers(row.clocks) if "-" in row.clocks else row.measures(row.clocks)


def _overruns(
    elapsed: Sequence[int], clocks: Sequence[int | None], limit: TimeControl
) -> list[int]:
    """By how much an engine's moves exceeded what it had; ``clocks``: what each move left."""
    before = [limit.time, *clocks] if limit.time is not None else [None] * len(elapsed)
    known = [clock for clock in before if clock is not None]
    if limit.per_move is None and known == before and not any(map(gt, elapsed, known)):
        return []  # As nearly always.
    overruns = []
    for time, clock in zip(elapsed, before):
        allowed = [bound for bound in (clock, limit.per_move) if bound is not None]
        if allowed and time > min(allowed):
            overruns.append(time - min(allowed))
    return overruns


def _first_side(row: Row) -> int:
    """The side that played the first move that was not of the opening."""
    first = _side_after(row.position, row.opening)
    if first is None:
        place = f"game {row.number}"
        raise InputError(place, "expected a position to start from; the journal is damaged")
    return first


@lru_cache(maxsize=4096)
def _side_after(position: str, opening: str) -> int | None:
    """The side to move after an opening from a position; None where that is none."""
    side = position.partition(" ")[2][:1]
    if not side or side not in SIDES:
        return None
    return (SIDES.index(side) + len(list(join_steps(opening.split())))) % 2


def times_rows(
    times: Mapping[str, MoveTimes], show_name: Callable[[str], str]
) -> list[list[str]]:
    """A head, and a row for each engine and kind of time, in milliseconds."""
    rows = [["Name", "Time of a move", "Moves", "Median", "90 %", "99 %", "Longest"]]
    for name, one in times.items():
        for kind, (moves, *figures) in one.spreads().items():
            milliseconds = (f"{value / 1e6:.2f}" for value in figures)
            rows.append([show_name(name), WORDS[kind], f"{moves:,}", *milliseconds])
    return rows


def times_table(times: Mapping[str, MoveTimes]) -> str:
    """The same as text, under a line that explains the figures."""
    return "Milliseconds a move:\n" + grid(times_rows(times, shorten), left=0)


def as_dict(times: Mapping[str, MoveTimes]) -> dict[str, Any]:
    """The same in nanoseconds as plain values for JSON."""
    return {
        name: {kind: found._asdict() for kind, found in one.spreads().items()}
        for name, one in times.items()
    }


@dataclass(slots=True)
class TimeLosses:
    """How many games were lost on time, and how many of them through no fault of the engine."""

    games: int
    """All games, however they ended."""
    caused: int = 0
    """Games lost at least once through delays by the runner or the machine."""
    standing: int = 0
    """Those of them whose last attempt, which counts, was lost in that way too."""
    others: int = 0
    """Games lost on time otherwise, as far as it was measured."""

    def add(self, lost: Overtime | None, attempts_voided: int) -> None:
        """Count a game by the move that lost it on time and the attempts that were void."""
        excused = lost is not None and lost.excused
        self.caused += excused or attempts_voided > 0
        self.standing += excused
        self.others += lost is not None and not excused

    def lines(self) -> list[str]:
        """These counts in words; nothing where no game was lost on time."""
        if not self.caused + self.others:
            return []

        def part(games: int) -> str:
            return f"{games} of {counted(self.games, 'game')} ({percent(games, self.games)})"

        stand = {0: "", 1: "; 1 stands"}.get(self.standing, f"; {self.standing} stand")
        remedies = (
            "Against such losses: a lower -concurrency, timemargin=MS, -use-affinity; -replays N "
            "plays such games again"
        )
        return [
            f"Time losses through delays by the runner or the machine: {part(self.caused)}{stand}",
            *([remedies] if self.standing else []),
            f"Other time losses: {part(self.others)}",
        ]
