"""Runs with a journal and a record of their events, for the tests of the runner."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from functools import partial
from pathlib import Path

from merels.tournament.journal.rows import Row
from merels.tournament.journal.standings import Standings
from merels.tournament.records.games import GameSpec
from merels.tournament.records.settings import Settings
from merels.tournament.run.executor import ExecutorPool
from merels.tournament.run.local import LocalWorkers
from merels.tournament.run.plan import Plan
from merels.tournament.run.runner import End, Runner
from merels.tournament.run.scoreboard import Scoreboard, View
from merels.tournament.run.tasks import Played
from tests.kit.executor import Script
from tests.tournament.specs import NOTES, planned_games, resumed_journal


class Record(View):
    """Records the events that a view receives."""

    def __init__(self) -> None:
        self.started_games: list[int] = []
        self.ended: list[int] = []
        self.found_games: list[int] = []
        self.notices: list[str] = []
        self.progress: list[Played] = []

    def game_continued(self, played: Played) -> None:
        self.progress.append(played)

    def game_started(self, spec: GameSpec, time: str) -> None:
        self.started_games.append(spec.number)

    def finished_in_order(self, row: Row, standings: Standings) -> None:
        assert row.number not in self.ended and standings.finished > 0
        self.ended.append(row.number)

    def found_in_journal(self, row: Row, standings: Standings) -> None:
        self.found_games.append(row.number)

    def notice(self, text: str) -> None:
        self.notices.append(text)


class Run:
    """A runner with a journal and a record of its events; it resumes the journal at ``path``."""

    def __init__(
        self, chosen: Settings, path: Path | None = None, workers: int = 2,
        part: tuple[int, int] = (1, 1),
    ) -> None:
        self.journal = resumed_journal(None if path is None else str(path), chosen, NOTES)
        self.record, self.workers = Record(), workers
        self.board = Scoreboard(Plan(chosen, part), self.journal, [self.record])
        self.runner = Runner(self.board)
        self.pool = partial(LocalWorkers, workers)

    def play(self, make_executor: Callable[[], Executor] | None = None, wait: float = 120.0) -> End:
        """Play on local workers, or on executors; for ``wait``, see `ExecutorPool`."""
        if make_executor is None:
            return self.runner.run(self.pool)
        return self.runner.run(partial(ExecutorPool, make_executor, self.workers, wait))

    def invent(self) -> End:
        """Invent the games on executors of the kit, as many at once as there are workers."""
        return self.play(Script(workers=self.workers))

    @property
    def rows(self) -> list[Row]:
        return list(self.journal.rows())


def as_planned(rows: Iterable[Row], chosen: Settings) -> bool:
    """Return whether these are exactly the planned games, each with a result."""
    rows = list(rows)
    planned = [
        (game.number, game.pair, game.white.name, game.black.name, " ".join(game.opening.moves))
        for game in planned_games(Plan(chosen))
    ]
    played = [(row.number, row.pair, row.white, row.black, row.opening) for row in rows]
    return played == planned and all(row.white_score is not None for row in rows)


def script(tmp_path: Path, body: str) -> tuple[str, ...]:
    """Return the command of an engine that runs ``body`` and then plays normally.

    ``body`` may use ``flag``, the path of a file that does not exist at first.
    """
    path = tmp_path / "fake.py"
    loop = "\nfrom merels.protocol.uci.loop import main\nsys.exit(main())\n"
    path.write_text(f"import os, signal, sys\nflag = sys.argv[1]\n{body}{loop}")
    return (sys.executable, "-P", str(path), str(tmp_path / "flag"))


class Interrupting(View):
    """Interrupts the run at the end of the game with number ``after``."""

    def __init__(self, runner: Runner, after: int) -> None:
        self.runner, self.after = runner, after

    def finished_in_order(self, row: Row, standings: Standings) -> None:
        if row.number == self.after:
            self.runner.interrupt()


class Stopping(View):
    """Stops the run, also the games in progress, when ``after`` games are in the journal."""

    def __init__(self, runner: Runner, after: int) -> None:
        self.runner, self.after = runner, after

    def tick(self, standings: Standings, playing: Mapping[int, GameSpec]) -> None:
        if len(self.runner.board.played) >= self.after:
            self.runner.interrupt(now=True)
