"""``kill -9`` at any moment, then ``-resume``: the tournament ends like an uninterrupted one."""

from __future__ import annotations

import random
import re
import signal
import time
from pathlib import Path

import pytest

from merels.protocol.formats.pgn.reader import parse_records
from tests.processes import needs_proc
from tests.tournament.processes import Marked, play
from tests.tournament.specs import engine_words, parallel, rows_of

pytestmark = pytest.mark.thorough

Game = tuple[int, int, str, str, str, str]
"""The part of a game that kills must not change: number, pair, opening, White, Black, moves."""


def flags(folder: Path, rounds: int, concurrency: int, style: str) -> list[str]:
    engines = []
    for index, nodes in enumerate((1, 10, 40, 100)):
        engines += engine_words(f"E{index}", f"nodes={nodes}")
    return [*engines, "-rounds", str(rounds), *parallel(concurrency), "-srand", "3",
            "-tournament", style,
            "-journal", f"file={folder / 'journal.db'}", "-resume",
            "-pgnout", f"file={folder / 'games.pgn'}"]


def games_of(folder: Path) -> list[Game]:
    rows = rows_of(folder / "journal.db")
    return [(r.number, r.pair, r.opening, r.white, r.black, r.moves) for r in rows]


def numbers_in(path: Path) -> list[int]:
    """Return the numbers of the complete games in a PGN file, in the order of the file."""
    text = path.read_text() if path.exists() else ""
    pattern = r'^\[GameId "[0-9a-f]+-(\d+)"\]$(?:\n.+)*\n\n(?:.+\n)*.*(?:1-0|0-1|1/2)\n\n'
    return [int(number) for number in re.findall(pattern, text, re.M)]


@needs_proc
@pytest.mark.parametrize(
    ("style", "rounds", "concurrency", "kills", "lines"),
    [
        ("roundrobin", 4, 2, 6, 15),
        pytest.param("roundrobin", 25, 4, 50, 16, marks=pytest.mark.slow),
        pytest.param("swiss", 3, 2, 6, 8, marks=pytest.mark.slow),
        pytest.param("knockout", 4, 2, 6, 8, marks=pytest.mark.slow),
    ],
)
def test_a_killed_and_resumed_run_ends_like_an_uninterrupted_run(
    tmp_path: Path, style: str, rounds: int, concurrency: int, kills: int, lines: int
) -> None:
    """Each kill comes at random after 0 to ``lines`` printed lines; some kills are interrupts.

    After an interrupt, the PGN file may have games with higher numbers than missing games.
    """
    rng = random.Random(20)
    finished_at_kills = []
    in_file: list[int] = []
    for _ in range(kills):
        run = Marked(*flags(tmp_path, rounds, concurrency, style))
        for _ in range(rng.randint(0, lines)):
            run.process.stdout.readline()
        time.sleep(rng.uniform(0, 0.1))
        run.process.send_signal(rng.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGINT]))
        run.process.communicate()
        assert run.survivors() == []
        earlier, in_file = in_file, numbers_in(tmp_path / "games.pgn")
        assert len(in_file) == len(set(in_file)), "a game is twice in the file"
        assert set(in_file) >= set(earlier), "a game of the file is lost"
        if (tmp_path / "journal.db").exists():
            try:
                finished_at_kills.append(len(games_of(tmp_path)))
            except ValueError:
                finished_at_kills.append(0)  # The kill came before the journal had tables.
    run = Marked(*flags(tmp_path, rounds, concurrency, style))
    status, out, err = run.wait(300)
    assert status == 0, err
    assert run.survivors() == []
    uninterrupted = tmp_path / "uninterrupted"
    uninterrupted.mkdir()
    play(*flags(uninterrupted, rounds, concurrency, style))
    expected = games_of(uninterrupted)
    assert games_of(tmp_path) == expected
    assert finished_at_kills == sorted(finished_at_kills)
    records = list(parse_records((tmp_path / "games.pgn").read_text()))
    numbers = [int(record.tags["GameId"].rpartition("-")[2]) for record in records]
    assert numbers == list(range(1, len(expected) + 1)), "the file has each game once, in order"
    names = [(record.tags["White"], record.tags["Black"]) for record in records]
    assert names == [(white, black) for _, _, _, white, black, _ in expected]
    if style == "roundrobin":
        assert finished_at_kills[-1] > 0, "all kills came before the first game was finished"
        assert len(expected) == 12 * rounds
        for name in ("E0", "E1", "E2", "E3"):
            row = next(line for line in out.splitlines() if line.split()[1:2] == [name])
            assert row.split()[4] == str(6 * rounds), "the statistics include all games"
    else:
        assert len(expected) >= 12
