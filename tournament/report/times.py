"""The time of moves: what engines used, what the runner was late, and who lost on time for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from merels.engine.game.errors import InputError
from merels.engine.game.notation import SIDES, join_steps
from merels.engine.game.numbers import counted
from merels.tournament.journal.rows import Row
from merels.tournament.records.games import Overtime, TimeControl
from merels.tournament.report.text_table import grid, percent, shorten
from merels.tournament.statistics.times import Spread, spread


@dataclass(slots=True)
class MoveTimes:
    """The moves of one engine, in nanoseconds; a move that lost on time is one of them."""

    used: list[int] = field(default_factory=list)
    """From go to bestmove."""
    late: list[int] = field(default_factory=list)
    """What the runner was late, of the moves of which that was measured."""
    waited: list[int] = field(default_factory=list)
    """What the engine waited for a processor, of the moves of which that was measured."""
    overrun: list[int] = field(default_factory=list)
    """What moves took longer than their clock allowed, whether or not it was forgiven."""

    def spreads(self) -> dict[str, Spread]:
        """The spread of each of these that there is anything of."""
        kinds = {"used": self.used, "late": self.late, "waited": self.waited,
                 "overrun": self.overrun}
        return {name: spread(values) for name, values in kinds.items() if values}


WORDS = {
    "used": "used", "late": "runner late", "waited": "engine waited", "overrun": "overrun"
}
"""The kinds of time as tables name them."""


def add_times(times: dict[str, MoveTimes], row: Row, limits: Mapping[str, TimeControl]) -> None:
    """Add the moves of a game; ``limits`` are those of the engines by name."""
    first = _first_side(row)
    columns = [row.numbers(text) for text in (row.times, row.clocks, row.late, row.waited)]
    for side, name in enumerate((row.white, row.black)):
        one = times.setdefault(name, MoveTimes())
        used, clocks, late, waited = (column[side != first :: 2] for column in columns)
        _add(one.used, used)
        _add(one.late, late)
        _add(one.waited, waited)
        limit = limits[name]
        for elapsed, clock in zip(used, [limit.time, *clocks]):
            allowed = [most for most in (clock, limit.per_move) if most is not None]
            if allowed and elapsed is not None and elapsed > min(allowed):
                one.overrun.append(elapsed - min(allowed))
    lost = row.lost_move()
    if lost is not None:
        one = times[row.black if row.result == "1-0" else row.white]
        _add(one.used, [lost.elapsed])
        _add(one.overrun, [lost.overrun])
        _add(one.late, [lost.late])
        _add(one.waited, [lost.waited])


def _first_side(row: Row) -> int:
    """The side that played the first move that was not of the opening."""
    side = row.position.partition(" ")[2][:1]
    if not side or side not in SIDES:
        place = f"game {row.number}"
        raise InputError(place, "expected a position to start from; the journal is damaged")
    return (SIDES.index(side) + len(list(join_steps(row.opening.split())))) % 2


def _add(known: list[int], measured: Iterable[int | None]) -> None:
    known.extend(value for value in measured if value is not None)


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
    """The same as text, under a line that says what the figures are."""
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
