"""``kill -9`` at any moment, then ``-resume``: the tournament ends like an uninterrupted one."""

from __future__ import annotations

import random
import re
import signal
import time
from pathlib import Path

import pytest

from merels.protocol.formats.pgn.reader import parse_records
from merels.tournament.journal.open import read_journal
from tests.processes import needs_proc
from tests.tournament.processes import Marked
from tests.tournament.specs import engine_words, parallel

pytestmark = pytest.mark.thorough

Game = tuple[int, int, str, str, str, str]
"""The part of a game that kills must not change: number, pair, opening, White, Black, moves."""


def flags(tmp_path: Path, rounds: int, concurrency: int, style: str = "roundrobin") -> list[str]:
    engines = []
    for index, nodes in enumerate((1, 10, 40, 100)):
        engines += engine_words(f"E{index}", f"nodes={nodes}")
    return [*engines, "-rounds", str(rounds), *parallel(concurrency), "-srand", "3",
            "-tournament", style,
            "-journal", f"file={tmp_path / 'journal.db'}", "-resume",
            "-pgnout", f"file={tmp_path / 'games.pgn'}"]


def games_of(path: Path) -> list[Game]:
    with read_journal(str(path)) as journal:
        return [(r.number, r.pair, r.opening, r.white, r.black, r.moves) for r in journal.rows()]


def numbers_in(path: Path) -> list[int]:
    """Return the numbers of the complete games in a PGN file, in the order of the file."""
    text = path.read_text() if path.exists() else ""
    pattern = r'^\[GameId "[0-9a-f]+-(\d+)"\]$(?:\n.+)*\n\n(?:.+\n)*.*(?:1-0|0-1|1/2)\n\n'
    return [int(number) for number in re.findall(pattern, text, re.M)]


def kill_and_resume(
    tmp_path: Path, rounds: int, concurrency: int, kills: int, lines: int, style: str = "roundrobin"
) -> tuple[list[int], list[Game], str]:
    """Play a tournament with ``kills`` kills; check that the result equals an uninterrupted run.

    Each kill comes at random after 0 to ``lines`` printed lines. Some kills are interrupts, after
    which the file may have games with higher numbers than missing ones. Return the number of
    finished games at each kill, the games, and the output of the last run.
    """
    rng = random.Random(20)
    steps = []
    in_file: list[int] = []
    for _ in range(kills):
        run = Marked(*flags(tmp_path, rounds, concurrency, style))
        for _ in range(rng.randint(0, lines)):
            run.process.stdout.readline()
        time.sleep(rng.uniform(0, 0.1))
        run.process.send_signal(rng.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGINT]))
        run.process.communicate()
        assert run.survivors() == []
        before, in_file = in_file, numbers_in(tmp_path / "games.pgn")
        assert len(in_file) == len(set(in_file)) and set(in_file) >= set(before), "no game is lost"
        if (tmp_path / "journal.db").exists():
            try:
                steps.append(len(games_of(tmp_path / "journal.db")))
            except ValueError:
                steps.append(0)  # killed before the tables of the journal were created
    run = Marked(*flags(tmp_path, rounds, concurrency, style))
    status, out, err = run.wait(300)
    assert status == 0, err
    assert run.survivors() == []
    uninterrupted = tmp_path / "whole"
    uninterrupted.mkdir()
    run = Marked(*flags(uninterrupted, rounds, concurrency, style))
    assert run.wait(300)[0] == 0
    expected = games_of(uninterrupted / "journal.db")
    assert games_of(tmp_path / "journal.db") == expected
    assert steps == sorted(steps)
    records = list(parse_records((tmp_path / "games.pgn").read_text()))
    numbers = [int(record.tags["GameId"].rpartition("-")[2]) for record in records]
    assert numbers == list(range(1, len(expected) + 1)), "each game once, in order"
    names = [(record.tags["White"], record.tags["Black"]) for record in records]
    assert names == [(white, black) for _, _, _, white, black, _ in expected]
    return steps, expected, out


def check_counts(out: str, total: int) -> None:
    """Check that the statistics of a round robin include all its games."""
    for name in ("E0", "E1", "E2", "E3"):
        row = next(line for line in out.splitlines() if line.split()[1:2] == [name])
        assert row.split()[4] == str(total // 2)


@needs_proc
def test_a_run_is_killed_and_resumed(tmp_path: Path) -> None:
    steps, games, out = kill_and_resume(tmp_path, rounds=4, concurrency=2, kills=6, lines=15)
    assert 0 < steps[-1], "the kills came while games were played"
    assert len(games) == 48
    check_counts(out, 48)


@needs_proc
@pytest.mark.slow
def test_a_run_is_killed_and_resumed_fifty_times(tmp_path: Path) -> None:
    _, games, out = kill_and_resume(tmp_path, rounds=25, concurrency=4, kills=50, lines=16)
    assert len(games) == 300
    check_counts(out, 300)


@needs_proc
@pytest.mark.slow
@pytest.mark.parametrize(("style", "rounds"), [("swiss", 3), ("knockout", 4)])
def test_a_run_with_rounds_paired_by_results_is_killed_and_resumed(
    tmp_path: Path, style: str, rounds: int
) -> None:
    _, games, _ = kill_and_resume(tmp_path, rounds, concurrency=2, kills=6, lines=8, style=style)
    assert len(games) >= 12
