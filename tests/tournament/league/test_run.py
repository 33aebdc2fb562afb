"""Runs of leagues with real workers and engines: players that fail, and the end of the time."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from merels.tournament.journal.rows import Row
from merels.tournament.league.league import Member, Terms, create_league, open_league
from merels.tournament.league.plan import Goal, LeaguePlan
from merels.tournament.play.fingerprint import fingerprint
from merels.tournament.records.games import Adjudication, Entrant, GameSpec, PairTask
from merels.tournament.records.settings import LEAGUE, Settings
from merels.tournament.run import tasks
from merels.tournament.run.runner import End, Runner
from merels.tournament.run.scoreboard import Scoreboard, View
from merels.tournament.run.local import LocalWorkers
from tests.tournament.specs import MERELS, engine

MANY = 300
"""More pairs than any of these runs needs."""


class Plan(LeaguePlan):
    """A plan that fails if it is asked for too many pairs."""

    asked = 0

    def next(self, excluding: AbstractSet[str] = frozenset()) -> PairTask | None:
        self.asked += 1
        assert self.asked < MANY, "the plan is asked for pairs without end"
        return super().next(excluding)


class Events(View):
    """Records notices and the pairs of started games; calls functions at starts and ends."""

    def __init__(self) -> None:
        self.notices: list[str] = []
        self.started: list[int] = []
        self.at_start: Callable[[], object] = int
        self.at_end: Callable[[Row], object] = bool

    def notice(self, text: str) -> None:
        self.notices.append(text)

    def game_started(self, spec: GameSpec, time: str) -> None:
        self.started.append(spec.pair)
        self.at_start()

    def game_ended(self, row: Row, time: str) -> None:
        self.at_end(row)


class Run:
    """A run of a league: its plan, its events, its end and its games."""

    def __init__(self, plan: LeaguePlan, workers: int, ahead: int) -> None:
        self.plan, self.events = plan, Events()
        self.board = Scoreboard(plan, plan._league.journal, [self.events])
        self.runner = Runner(self.board)
        self._pool = partial(LocalWorkers, workers, ahead=ahead)

    def play(self) -> End:
        return self.runner.run(self._pool)

    @property
    def rows(self) -> list[Row]:
        return list(self.board.journal.rows())


@contextmanager
def league_run(
    folder: Path, players: list[Entrant], goal: Goal, *, floor: int = 2, workers: int = 2,
    ahead: int = 1, programs: Mapping[str, str] = {},
) -> Iterator[Run]:  # fmt: skip
    """Provide a run of a new league, whose games end after four moves.

    ``programs``: fingerprints of players when they were added.
    """
    short = Adjudication(max_moves=4)
    settings = Settings((), 1, format=LEAGUE, rounds=1, adjudication=short)
    create_league(str(folder), settings, Terms(floor=floor), ())
    with open_league(str(folder)) as league:
        members = [
            Member("2026-01-01", program=programs.get(player.name, "")) for player in players
        ]
        league = league.with_new(players, members)
        league.save()
        yield Run(Plan(league, goal), workers, ahead)


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the pauses before retries, and estimate after each result."""
    monkeypatch.setattr(tasks, "PAUSE_SECONDS", 0.02)
    monkeypatch.setattr("merels.tournament.league.plan.ESTIMATION_SHARE", math.inf)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_league_does_not_hang_when_a_player_does_not_start(tmp_path: Path, workers: int) -> None:
    """In a former version, the plan chose this player again and again, without end."""
    players = [engine("A"), engine("B"), engine("C", command=("/no/such",))]
    with league_run(tmp_path / "league", players, Goal(400), floor=8, workers=workers) as run:
        assert run.play() == "stuck"
        assert {row.white for row in run.rows} == {"A", "B"} and len(run.rows) >= 8
        assert run.plan.least_certain()[1] <= 400
        first, last = run.events.notices
        assert first.startswith("engine C does not start") and "is tried again" in first
        assert last.startswith("engine C does not start") and "left unplayed" in last


@pytest.mark.parametrize("workers", [1, 2])
def test_no_pair_starts_after_the_time_of_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    """In a former version, the queued pairs, as many as there are players, were still played."""
    now = [0.0]
    monkeypatch.setattr("merels.tournament.league.plan.monotonic", lambda: now[0])
    players = [engine(name) for name in "ABCDEF"]
    goal = Goal(25, seconds=60.0)
    with league_run(tmp_path / "league", players, goal, workers=workers, ahead=6) as run:
        run.events.at_start = lambda: now.__setitem__(0, now[0] + 40.0)
        assert run.play() == "finished"
        started_pairs = set(run.events.started)
        assert 1 <= len(started_pairs) <= 2 + workers
        assert len(run.rows) == 2 * len(started_pairs), "the pairs in progress were finished"


@pytest.mark.parametrize("breaks", [False, True])
def test_games_of_a_program_that_is_rebuilt_during_a_run_do_not_count(
    tmp_path: Path, breaks: bool
) -> None:
    """In a former version, they counted as games of the program that was added.

    ``breaks``: for a while, the program does not start, so that its games wait.
    """
    program = tmp_path / "engine"

    def build(line: str) -> None:
        new = tmp_path / "new"
        new.write_text(f"#!/bin/sh\n{line}\nexec {shlex.join(MERELS)}\n")
        new.chmod(0o755)
        new.replace(program)

    def rebuild(row: Row) -> None:
        if "C" in (row.white, row.black):
            build("exit 1" if breaks else "# 2")
        elif run.events.notices:
            build("# 2")

    build("# 1")
    rebuilt = replace(engine("C", command=(str(program),)), restart=True)
    added = fingerprint(rebuilt.engine)
    with league_run(
        tmp_path / "league", [engine("A"), engine("B"), rebuilt], Goal(400), floor=10,
        programs={"C": added}, workers=1,
    ) as run:
        run.events.at_end = rebuild
        assert run.play() == "stuck"
        stored = [
            program for row in run.rows
            for name, program in ((row.white, row.white_program), (row.black, row.black_program))
            if name == "C"
        ]
        assert stored == [added] or stored == [added] * 2
        assert 10 <= sum("C" not in (row.white, row.black) for row in run.rows) < 100
        is_waiting, *_, last = run.events.notices
        assert ("its games wait" in is_waiting) == breaks
        assert sum(text.endswith("plays no more in this run") for text in run.events.notices) == 1
        assert last.startswith("engine C has another program on ") and added in last
        assert "left unplayed" in last
