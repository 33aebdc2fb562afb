"""Engines, settings, games, plans and journals for the tournament's tests."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from merels.engine.game.notation import START
from merels.protocol.client.engine_spec import EngineSpec
from merels.tournament.journal.journal import Journal
from merels.tournament.journal.open import (
    check_changes,
    continue_run,
    is_new,
    open_journal,
    open_run,
    read_journal,
)
from merels.tournament.journal.rows import Row
from merels.tournament.records.games import (
    Adjudication,
    Entrant,
    GameResult,
    GameSpec,
    MoveRecord,
    Opening,
    TimeControl,
)
from merels.tournament.records.settings import Settings
from merels.tournament.run.plan import Plan

MERELS = (sys.executable, "-P", "-m", "merels.protocol")
"""Command of the built-in engine."""
NOTES = {"id": "x", "arguments": "[]"}
"""Notes of a journal: the tournament's id, and an empty command line."""


def engine_words(name: str, *words: str, command: Sequence[str] = MERELS) -> list[str]:
    """Return the flags of an engine; merels unless ``command`` is given."""
    more = [f"args={shlex.join(command[1:])}"] if command[1:] else []
    return ["-engine", f"cmd={command[0]}", *more, f"name={name}", *words]


def match(*more: str, nodes: tuple[int, int] = (20, 40)) -> list[str]:
    """Return the flags of a match between A and B, which search ``nodes`` per move."""
    engines = (engine_words(name, f"nodes={count}") for name, count in zip("AB", nodes))
    return [*(word for words in engines for word in words), "-srand", "5", *more]


def parallel(games: int) -> list[str]:
    """Return the flags for ``games`` games at once, on any number of processors."""
    return ["-concurrency", str(games), "-force-concurrency"]


def engine(name: str, nodes: int = 30, command: tuple[str, ...] = MERELS) -> Entrant:
    """Return an engine that searches ``nodes`` per move; merels unless ``command`` is given."""
    spec = EngineSpec(command, name)
    return Entrant(spec, TimeControl(nodes=nodes), start_timeout=20.0, ping_timeout=20.0)


def changed(entrant: Entrant, **fields: object) -> Entrant:
    """Return the entrant with some fields of its engine changed."""
    engine = replace(entrant.engine, **fields)  # type: ignore[arg-type]
    return replace(entrant, engine=engine)


def game(
    white: Entrant, black: Entrant, rules: str = "mill", opening: Opening = Opening(START),
    adjudication: Adjudication = Adjudication(),
) -> GameSpec:
    """Return a game between two engines."""
    return GameSpec(1, 1, 1, white, black, opening, rules, adjudication)


def settings(count: int = 2, **fields: object) -> Settings:
    """Return a tournament of ``count`` engines A, B and so on."""
    engines = tuple(engine(chr(ord("A") + index), 20 + 10 * index) for index in range(count))
    return replace(Settings(engines, seed=7), **fields)  # type: ignore[arg-type]


def result(number: int = 1, outcome: str = "1-0", **fields: object) -> GameResult:
    """Return a short finished game of A against B; games 1 and 2 are a pair, 3 and 4, and so on."""
    spec = GameSpec(
        number, 1, (number + 1) // 2, engine("A"), engine("B"), Opening(START, ("d6", "f4"), "o"),
        "mill", seed=5,
    )
    moves = (
        MoveRecord("d2", 79, None, 6, 1234, 1_000_000, 59_000_000_000, 7_000, 120_000),
        MoveRecord("b4", None, -4, 3, 99, 2_500_000, None, 300_000, None),
        MoveRecord("a1", None, None, 0, 0, 5, None),
    )
    game = GameResult(spec, outcome, "normal", "White wins, Black is blocked", moves,
                      "2026-01-02T03:04:05.678+00:00", 3_500_000_000, cause="blocked")
    return replace(game, **fields)  # type: ignore[arg-type]


def planned_games(plan: Plan) -> Iterator[GameSpec]:
    """Yield the games of a plan, up to a round that waits for results."""
    while (task := plan.next()) is not None:
        yield from task.games


def rows_of(path: Path | str) -> list[Row]:
    """Return the games of a journal."""
    with read_journal(str(path)) as journal:
        return list(journal.rows())


def resumed_journal(path: str | None, chosen: Settings, notes: dict[str, str]) -> Journal:
    """Open the journal at ``path`` as -resume does, or create it if there is none."""
    if path is None or is_new(path):
        return open_journal(path, chosen, notes)
    stored = open_run(path)
    try:
        check_changes(stored, chosen)
        continue_run(stored, chosen, notes)
    except BaseException:
        stored.journal.close()
        raise
    return stored.journal
