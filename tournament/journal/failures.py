"""Faults of the engines in a journal: their counts, and the engines that keep failing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from merels.engine.common.errors import printable
from merels.engine.common.numbers import counted
from merels.tournament.journal.journal import Journal
from merels.tournament.journal.rows import Row
from merels.tournament.statistics.terminations import BLAMELESS, FAULTS

FAILING_SHARE = 0.05
"""Least share of its games that a failing engine has lost by its own faults."""
LEAST_FAULTS = 2
"""Number of own faults, or of games without a legal move, from which an engine may be failing."""
_QUERY = (
    "SELECT number, white, black, result, termination, reason, moves <> '', instr(moves, ' ') > 0 "
    "FROM games ORDER BY number"
)
_SHORT_QUERY = "SELECT 1 FROM games WHERE instr(moves, ' ') = 0 LIMIT 1"
"""Finds a game with fewer than two moves; `failing_engines` returns no engine without one."""


@dataclass(frozen=True, slots=True)
class Failing:
    """An engine that lost its last ``games`` games without a legal move, from game ``first`` on.

    ``reason`` is the reason of the last loss.
    """

    name: str
    games: int
    first: int
    reason: str

    def __str__(self) -> str:
        games = "its last game" if self.games == 1 else f"its last {self.games} games"
        return (
            f"{self.name} played no legal move in {games}, from game {self.first} on; "
            f"the reason was: {self.reason}"
        )


def failing_engines(journal: Journal) -> list[Failing]:
    """Return the engines that lost their last games by a fault before their first legal move.

    An engine must have lost at least `LEAST_FAULTS` games in this way, or have made no move in any
    game. Games without a move that a worker broke off, or that the opponent lost by its own fault,
    are ignored.
    """
    if not list(journal.query(_SHORT_QUERY)):
        return []
    failing: dict[str, Failing] = {}
    moved: set[str] = set()
    for game in journal.query(_QUERY):
        number, white, black, result, termination, reason, has_moves, both_moved = game
        losers = {"1-0": (black,), "0-1": (white,), "*": (white, black)}.get(result, ())
        culprits = () if termination in (*BLAMELESS, "unterminated") else losers
        for name in (white, black):
            # The engine at fault was to move, so after at most one move it had not moved yet.
            if name in culprits and not both_moved:
                earlier = failing.get(name, Failing(name, 0, number, reason))
                failing[name] = Failing(name, earlier.games + 1, earlier.first, reason)
            elif has_moves:
                failing.pop(name, None)
                moved.add(name)
    return [
        engine for engine in failing.values()
        if engine.games >= LEAST_FAULTS or engine.name not in moved
    ]


@dataclass(slots=True)
class Health:
    """Faults of one engine; ``late`` and ``junk`` as in `Oddities`."""

    games: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    """Lost games by fault, see `FAULTS`."""
    late: int = 0
    junk: int = 0

    @property
    def is_failing(self) -> bool:
        """Whether its faults reach both `FAILING_SHARE` and `LEAST_FAULTS`."""
        return self.faults.total() >= max(LEAST_FAULTS, FAILING_SHARE * self.games)

    def as_dict(self) -> dict[str, int]:
        """Return the counts by their names in JSON."""
        faults = {
            plural.replace(" ", "_"): self.faults[name] for name, (_, plural) in FAULTS.items()
        }
        return {
            "games": self.games, **faults, "late_answers": self.late, "junk_lines": self.junk
        }

    def __str__(self) -> str:
        faults = ", ".join(
            f"{self.faults[name]} {words[self.faults[name] > 1]}"
            for name, words in FAULTS.items() if self.faults[name]
        )
        total, games = self.faults.total(), counted(self.games, "game")
        return f"failed in {total} of {games} ({total / self.games:.1%}): {faults}"


class HealthCounter:
    """Counts faults game by game."""

    def __init__(self) -> None:
        self.engines: dict[str, Health] = {}

    def add(self, row: Row, keys: tuple[str, str] | None = None) -> None:
        """Count a game; ``keys`` are the players' keys, by default their names."""
        keys = keys or (row.white, row.black)
        culprit, fault = row.culprit, row.cause
        for key, name, oddities in zip(keys, (row.white, row.black), row.both_oddities()):
            health = self.engines.setdefault(key, Health())
            health.games += 1
            health.late += oddities.late
            health.junk += oddities.junk
            if name == culprit:
                health.faults[fault] += 1


def health_of(journal: Journal) -> dict[str, Health]:
    """Return the faults of each engine of a journal."""
    counter = HealthCounter()
    for row in journal.results():
        counter.add(row)
    return counter.engines


def warnings(healths: Mapping[str, Health], without_move: Iterable[Failing]) -> list[str]:
    """Return a sentence for each failing engine; ``without_move`` is from `failing_engines`."""
    sentences = {name: f"{name} {health}" for name, health in healths.items() if health.is_failing}
    sentences |= {failing.name: str(failing) for failing in without_move}
    return [printable(sentence) for sentence in sentences.values()]
