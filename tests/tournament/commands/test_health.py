"""Faults of engines: counts and warnings in the final report, and ``-maxfaults``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from merels.tournament.journal.standings import Health
from tests.commands import output
from tests.kit.fakes import fake
from tests.tournament.processes import Marked
from tests.tournament.specs import engine_words

pytestmark = pytest.mark.thorough



def play(tmp_path: Path, mode: str, *more: str, limit: str = "nodes=20") -> tuple[int, str, str]:
    """Play four games between a sound engine and an engine that works only in its trial."""
    command = fake(mode, once=tmp_path / "tried")
    words = [*engine_words("Odd", *limit.split(), command=command), *engine_words("Sound")]
    run = Marked(*words, "-each", "nodes=20", "starttimeout=300", "-rounds", "2", "-srand", "1",
                 "-maxmoves", "12", "-journal", f"file={tmp_path}/j", *more)
    return run.wait()


def health(out: str) -> dict[str, list[int]]:
    """Return the numbers of the health table by engine."""
    head, *rows = out[out.index("Health ") :].splitlines()[:3]
    assert head.split() == [
        "Health", "Games", "Crashes", "Stalls", "Time", "Illegal", "Late", "Junk"
    ]
    return {row.split()[0]: list(map(int, row.split()[1:])) for row in rows}


def test_an_engine_that_crashes_in_every_game_fails_the_run(tmp_path: Path) -> None:
    """The engine plays some moves in each game; a former version ended with exit status 0."""
    status, out, _ = play(tmp_path, "die-after 3")
    assert status == 1
    assert health(out) == {"Odd": [4, 4, 0, 0, 0, 0, 0], "Sound": [4, 0, 0, 0, 0, 0, 0]}
    assert out.splitlines()[-1] == "WARNING: Odd failed in 4 of 4 games (100.0%): 4 crashes"
    report = json.loads(output("ratings", f"{tmp_path}/j", "-format", "json"))
    assert report["health"]["Odd"] == {
        "games": 4, "crashes": 4, "stalls": 0, "time_forfeits": 0, "illegal_moves": 0,
        "late_answers": 0, "junk_lines": 0,
    }
    assert report["warnings"] == ["Odd failed in 4 of 4 games (100.0%): 4 crashes"]


def test_harmless_faults_are_counted_and_fail_no_run(tmp_path: Path) -> None:
    status, out, _ = play(tmp_path, "double")
    assert status == 0 and "WARNING" not in out
    *faults, late, junk = health(out)["Odd"][1:]
    assert faults == [0] * 4 and late > 4 and junk == 0, out
    (tmp_path / "second").mkdir()
    status, out, _ = play(tmp_path / "second", "junk")
    *faults, late, junk = health(out)["Odd"][1:]
    assert status == 0 and faults == [0] * 4 and late == 0 and junk > 100
    assert health(out)["Sound"][1:] == [0] * 6


def test_late_answers_within_the_margin_are_counted(tmp_path: Path) -> None:
    status, out, _ = play(tmp_path, "late 0.5", limit="st=0.2 timemargin=60000")
    assert status == 0 and health(out)["Odd"][5] >= 1


def test_maxfaults_ends_the_run_early_and_it_can_be_resumed(tmp_path: Path) -> None:
    status, out, err = play(tmp_path, "die-after 3", "-rounds", "20", "-maxfaults", "3")
    assert status == 1
    assert "Odd lost 3 games by its own fault (-maxfaults); finishing the games in progress" in err
    games, faults, *_ = health(out)["Odd"]
    assert 3 <= games == faults <= 4, "one game was in progress"
    assert f"stopped; {games} games are finished; continue with: -journal" in err


def test_an_engine_is_failing_from_two_faults_and_a_share_of_a_twentieth_on() -> None:
    assert not Health(0).is_failing and not Health(100).is_failing
    health = Health(40)
    health.faults.update(crash=1, stall=1)
    assert health.is_failing
    health.games = 41
    assert not health.is_failing
    assert str(health) == "failed in 2 of 41 games (4.9%): 1 crash, 1 stall"
    health.games, health.faults["crash"] = 1, 0
    assert not health.is_failing, "one fault is not enough"
