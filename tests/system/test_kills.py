"""Kills at any step, then a resume: each run ends like an undisturbed one."""

from __future__ import annotations

import re
import signal
from collections import Counter, defaultdict
from contextlib import suppress
from pathlib import Path

import pytest

from merels.engine.common.errors import InputError
from merels.protocol.formats.pgn.reader import parse_records
from merels.tournament.league.league import JOURNAL
from merels.tournament.league.lots import LOT_SIZE
from merels.tournament.league.site import SITE
from tests.commands import output
from tests.kit.executor import INVENTED
from tests.kit.kills import Kill, compare, kill_and_resume, random_kills, run
from tests.tournament.league.leagues import make_league, random_games, site_files
from tests.tournament.specs import engine_words, parallel, rows_of

KILLS_AND_INTERRUPTS = (signal.SIGKILL, signal.SIGKILL, signal.SIGINT)
PGN_GAME = re.compile(
    r'^\[GameId "[0-9a-f]+-(\d+)"\]$(?:\n.+)*\n\n(?:.+\n)*.*(?:1-0|0-1|1/2)\n\n', re.M
)
"""A complete game in a PGN file, with its number."""


def games(journal: Path) -> set[tuple[int, int, str, str, str, str, str]]:
    """Return the stored games; none if the journal has no tables yet."""
    with suppress(InputError):
        if journal.exists():
            return {(row.number, row.pair, row.opening, row.white, row.black, row.moves, row.result)
                    for row in rows_of(journal)}
    return set()


def games_and_pgn(folder: Path) -> set[object]:
    """Return the stored games, and the numbers of the games in the PGN file, each once."""
    path = folder / "g.pgn"
    numbers = PGN_GAME.findall(path.read_text()) if path.exists() else []
    assert len(numbers) == len(set(numbers)), "a game is twice in the file"
    return {*games(folder / "j"), *numbers}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return an empty folder, in which runs begin."""
    (tmp_path / "start").mkdir()
    return tmp_path / "start"


@pytest.mark.parametrize(("style", "flags", "kills"), [
    ("roundrobin", (*parallel(2), "-maxmoves", "2"), 2),
    ("roundrobin", INVENTED, 5), ("swiss", INVENTED, 3), ("knockout", INVENTED, 3),
])
def test_a_tournament(folder: Path, style: str, flags: tuple[str, ...], kills: int) -> None:
    """The first run has workers and engines, of which no kill may leave any."""
    engines = [word for number in range(4) for word in engine_words(f"E{number}", "nodes=1")]
    words = ["tournament", *engines, "-rounds", "3", "-tournament", style, "-srand", "3", *flags,
             "-journal", "j", "-resume", "-pgnout", "g.pgn"]
    ends = random_kills(20, kills, 3 if style == "roundrobin" else 1, KILLS_AND_INTERRUPTS)
    compare(folder, words, ends, games_and_pgn)
    text = (folder.with_name("killed") / "g.pgn").read_text()
    numbers = [int(record.tags["GameId"].rpartition("-")[2]) for record in parse_records(text)]
    # A resumed run appends the games that a killed run could not write.
    assert sorted(numbers) == list(range(1, len(numbers) + 1)), "the file has each game once"


def test_a_tune(folder: Path) -> None:
    param = ("-param", "Alpha", "start=50", "min=0", "max=100")
    words = ["tune", *engine_words("E", "nodes=1"), *param, "-pairs", "20", "-interval", "5",
             "-srand", "7", *INVENTED, "-journal", "j", "-resume"]
    ends = random_kills(7, 3, signals=KILLS_AND_INTERRUPTS)
    expected, out = compare(folder, words, ends, lambda copy: games(copy / "j"))
    end = "After 20 of 20 pairs:"
    assert out.partition(end)[1:] == expected.partition(end)[1:]


def league(folder: Path, names: str, floor: int) -> list[str]:
    """Make a league in ``folder``; return the command line of a run."""
    make_league(folder / "league", names, (), floor=floor)
    return ["league", "league", "play", *INVENTED, "-error", "1000"]


def test_a_league_of_two(folder: Path) -> None:
    """In a former version, numbers of pairs of which a kill left no game stayed unused."""
    words = league(folder, "AB", 30)
    ends = random_kills(1, 4)
    expected, out = compare(folder, words, ends, lambda copy: games(copy / "league" / JOURNAL))
    assert out.splitlines()[-4:] == expected.splitlines()[-4:]


def test_a_league_of_three(folder: Path) -> None:
    """The order in which three players meet depends on the results known at the time."""
    words = league(folder, "ABC", 10)
    kill_and_resume(folder, words, random_kills(2, 3), int)
    rows = rows_of(folder / "league" / JOURNAL)
    assert set(Counter(frozenset((row.white, row.black)) for row in rows).values()) == {10}
    assert sorted(row.number for row in rows) == list(range(1, 31))
    pairs = defaultdict(list)
    for row in rows:
        pairs[row.pair].append(row)
    for first, second in pairs.values():
        assert (first.opening, first.white, first.black) == (
            second.opening, second.black, second.white
        )


def test_the_site_of_a_league(folder: Path) -> None:
    """A kill leaves no incomplete file, and the next command completes the site."""
    path = make_league(folder / "league", "ABCD", random_games("ABCD", LOT_SIZE + 50))
    output("league", path, "site")
    complete = site_files(path)
    for step in (30, 100, 300):
        for name in list(complete)[::2]:
            Path(path, SITE, name).unlink()
        done = run(folder, "league", "league", "site", kill=Kill(0, step))
        assert done.returncode == -signal.SIGKILL, "not killed"
        left = {name: data for name, data in site_files(path).items() if not name.endswith(".part")}
        assert left.items() < complete.items(), "a file is incomplete, or all were written"
        output("league", path, "site")
        assert site_files(path) == complete
