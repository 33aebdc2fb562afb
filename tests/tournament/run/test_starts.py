"""Engines that do not start: their games wait without a result until the engines start."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from merels.tournament.records.games import Adjudication, Entrant
from merels.tournament.run import tasks
from merels.tournament.run.plan import Plan
from merels.tournament.run.tasks import Place
from merels.tournament.statistics.sprt import Sprt
from tests.kit.executor import Script
from tests.tournament.run.runs import Run, as_planned, script
from tests.tournament.specs import engine, planned_games, settings

FAILING_STARTS = """
with open(flag, "a") as file:
    file.write("x")
if {first} <= os.path.getsize(flag) <= {last}:
    sys.exit("no net file")
"""
"""Python code that counts the starts of an engine and ends some of them with an error."""
SHORT = Adjudication(max_moves=2)
NO_NET = "does not start (ends before uciok, exit code 1: no net file)"


def failing(tmp_path: Path, first: int, last: int, name: str = "B") -> Entrant:
    """Return an engine that starts again for every game; the starts ``first`` to ``last`` fail."""
    command = script(tmp_path, FAILING_STARTS.format(first=first, last=last))
    return replace(engine(name, command=command), restart=True)


def test_games_whose_engine_does_not_start_are_played_after_a_repair(tmp_path: Path) -> None:
    """The engine starts for two games only; a former version counted its other games as losses."""
    engines = (engine("A"), failing(tmp_path, 3, 9999))
    chosen = settings(rounds=2, engines=engines, adjudication=SHORT)
    run = Run(chosen, tmp_path / "j", workers=1)
    assert run.play() == "stuck"
    assert len(run.rows) == 2
    assert run.record.notices == [
        f"engine B {NO_NET}; its games wait, and it is tried again",
        f"engine B {NO_NET}: its games are left unplayed",
    ]
    starts = (tmp_path / "flag").stat().st_size - 2
    assert starts - tasks.MAX_FAILURES in (0, 1), "one more start may have been in progress"
    run.journal.close()
    failing(tmp_path, 9999, 9999)
    resumed = Run(chosen, tmp_path / "j")
    assert resumed.play() == "finished" and as_planned(resumed.rows, chosen)


def fails_at(*starts: int, engine: str = "B") -> Script:
    """Return a script in which an engine does not start at some of its starts, counted from 1."""
    count = itertools.count(1)

    def fault(place: Place, name: str) -> str:
        return NO_NET if name == engine and next(count) in starts else ""

    return Script(fault=fault)


NEVER = range(2, 9999)


def test_a_failed_start_is_retried_in_the_same_run() -> None:
    chosen = settings(rounds=3)
    run = Run(chosen, workers=1)
    assert run.play(fails_at(2, 3, 4)) == "finished" and as_planned(run.rows, chosen)
    assert run.record.ended == list(range(1, 7))
    assert [notice.rpartition("; ")[2] for notice in run.record.notices] == [
        "this worker gets no games for now", "its games wait, and it is tried again",
        "node (process 1): engine B starts again",
    ]


def test_games_of_other_engines_are_played_and_shown_in_order() -> None:
    """The pairs of A that wait are more than the runner submits at once."""
    chosen = settings(3, rounds=12)
    run = Run(chosen)
    assert run.play(fails_at(*NEVER, engine="A")) == "stuck"
    others = {game.number for game in planned_games(Plan(chosen))
              if "A" not in (game.white.name, game.black.name)}
    assert others <= set(run.journal.numbers())
    assert len(run.rows) <= len(others) + 2, "only the first start of A succeeds"
    assert run.record.ended == sorted(run.record.ended)


@pytest.mark.parametrize(("form", "failing"), [("swiss", "D"), ("knockout", "C")])
def test_a_round_paired_by_results_waits_for_missing_games_and_can_be_resumed(
    tmp_path: Path, form: str, failing: str
) -> None:
    chosen = settings(4, rounds=2, format=form)
    run = Run(chosen, tmp_path / "j")
    assert run.play(fails_at(1, *NEVER, engine=failing)) == "stuck"
    assert failing not in {name for row in run.rows for name in (row.white, row.black)}
    assert {row.round for row in run.rows} == {1}
    run.journal.close()
    resumed = Run(chosen, tmp_path / "j")
    assert resumed.invent() == "finished"
    assert {row.termination for row in resumed.rows} == {"normal"}


def test_an_sprt_continues_when_its_engine_starts_again() -> None:
    sprt = Sprt(-500, 500, 1e-9, 1e-9, "logistic")
    run = Run(settings(rounds=5, sprt=sprt), workers=1)
    assert run.play(fails_at(2, 3, 4)) == "finished" and len(run.rows) == 10
