"""Flags and output formats of fastchess and cutechess-cli."""

from __future__ import annotations

import gzip
import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from merels.engine.game.notation import format_position
from merels.engine.game.rules import make_rules
from merels.protocol.formats.pgn.reader import parse_records
from merels.tournament.journal.open import read_journal
from merels.tournament.journal.rows import Standings
from merels.tournament.statistics.sprt import Sprt
from merels.tournament.views.runner_formats import last_lines
from tests.commands import refusal
from tests.kit.tables import copy_tables
from tests.tournament.processes import play
from tests.tournament.specs import engine_words, match, rows_of, settings

pytestmark = pytest.mark.thorough

ELO = r"-?\d+\.\d\d \+/- \d+\.\d\d"
RESULTS_OF = "Results of A vs B (20 nodes - 40 nodes, NULL, 4MB, book):"
SHORT = ("-rounds", "1", "-maxmoves", "8")
LOST = "O*******/**O*****/*@**@@O*"
"""A position in which White, to move, loses."""
DRAWN = ("*O@*O***/**O@@***/********", "**@*O***/**O*@***/***O@***", "********/***O@O@*/*****O@*")


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with tables of up to six men."""
    folder = tmp_path_factory.mktemp("tables")
    copy_tables(folder, make_rules("morris", ["NoRemovalPlies=0"]), 6)
    return folder


@pytest.mark.quick
def test_output_in_the_form_of_fastchess() -> None:
    words = (*match(*SHORT), "-each", "option.Hash=4", "-openings", "book", "-output")
    out = play(*words, "format=fastchess", "-ratinginterval", "1", "-sprt", "elo0=0", "elo1=5")[0]
    games, *blocks = re.split(r"(?<=\n)-{50}\n", out)
    assert re.fullmatch(
        r"Started game 1 of 2 \(A vs B\)\nFinished game 1 \(A vs B\): \S+ \{.*\}\n", games
    )
    assert RESULTS_OF == blocks[0].splitlines()[0]
    assert re.fullmatch(
        re.escape(RESULTS_OF) + rf"\nElo: {ELO}, nElo: {ELO}\n"
        r"LOS: \d+\.\d\d %, DrawRatio: \d+\.\d\d %, PairsRatio: \S+\n"
        r"Games: 2, Wins: \d, Losses: \d, Draws: \d, Points: \d\.\d \(\d+\.\d\d %\)\n"
        r"Ptnml\(0-2\): \[\d, \d, \d, \d, \d\], WL/DD Ratio: \S+\n"
        r"LLR: -?\d\.\d\d \(-?\d+\.\d%\) \(-2\.94, 2\.94\) \[0\.00, 5\.00\]\n", blocks[-2],
    )
    assert blocks[-1] == "Tournament finished\n"


def test_output_in_the_form_of_fastchess_for_single_games_and_a_decided_sprt() -> None:
    words = (*match(), "-rounds", "60", "-maxmoves", "8", "-output", "fastchess", "-report")
    out = play(*words, "penta=false", "-sprt", "elo0=-600", "elo1=-300")[0]
    assert "Ptnml" not in out and "PairsRatio" not in out and "Score of" not in out
    assert out.endswith("\nSPRT ([-600.00, -300.00]) completed - H1 was accepted\n")


def test_output_in_the_form_of_cutechess() -> None:
    words = (*match(*SHORT), "-output", "format=cutechess", "-sprt", "elo0=0", "elo1=5")
    lines = play(*words)[0].splitlines()
    assert [line.split(" (")[0] for line in lines if " game " in line] == [
        "Started game 1 of 2", "Finished game 1", "Started game 2 of 2", "Finished game 2"
    ]
    scores = [line for line in lines if line.startswith("Score of A vs B: ")]
    assert len(scores) == 2 and re.search(r": \d - \d - \d  \[\d\.\d{3}\] 2$", scores[1])
    elo = r"-?\d+\.\d \+/- \d+\.\d"
    assert re.fullmatch(
        rf"Elo difference: {elo}, LOS: \d+\.\d %, DrawRatio: \d+\.\d %", lines[-3]
    )
    assert re.fullmatch(
        r"SPRT: llr \S+ \(-?\d+\.\d%\), lbound -2\.94, ubound 2\.94", lines[-2]
    )
    assert lines[-1] == "Finished match"


@pytest.mark.quick
def test_the_interval_of_scores_holds_in_the_form_of_cutechess() -> None:
    out = play(*match(*SHORT), "-rounds", "2", "-output", "cutechess", "-scoreinterval", "3")[0]
    assert re.findall(r"^Score of A vs B: .* (\d+)$", out, re.M) == ["3"]


def test_cutechess_output_has_a_verdict_from_which_later_games_moved_away() -> None:
    test = settings(sprt=Sprt(0, 5))
    lines = last_lines("cutechess", test, Standings(("A", "B")), "H1", True)
    assert lines[-2].startswith("SPRT: llr 0 ") and lines[-2].endswith(" - H1 was accepted")


@pytest.mark.parametrize(("form", "heads", "end"), [
    ("fastchess", "Elo +/- nElo +/- Games Score Draw Ptnml(0-2)", "Tournament finished"),
    ("cutechess", "Elo +/- Games Score Draw", "Finished match"),
])
def test_the_table_of_three_engines(form: str, heads: str, end: str) -> None:
    words = (*match(*SHORT), *engine_words("C", "nodes=9"), "-output", form)
    lines = [line for line in play(*words)[0].splitlines() if not line.startswith("---")]
    assert lines[-1] == end and lines[-5].split() == ["Rank", "Name", *heads.split()]
    rows = [line.split() for line in lines[-4:-1]]
    assert [row[0] for row in rows] == ["1", "2", "3"]
    assert sorted(row[1] for row in rows) == ["A", "B", "C"]
    assert all("4" in row for row in rows), "each engine plays four games"


def test_wait_makes_a_pause_between_games(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    play(*match(*SHORT), "-rounds", "2", "-wait", "250", "-journal", str(path))
    rows = rows_of(path)
    starts = [datetime.fromisoformat(row.started) for row in rows]
    ends = [start + timedelta(microseconds=row.elapsed / 1000) for start, row in zip(starts, rows)]
    assert len(rows) == 4
    # The journal stores the time of a start in milliseconds, rounded down.
    assert all(start - end >= timedelta(milliseconds=249) for end, start in zip(ends, starts[1:]))


def test_epdout_has_the_last_position_of_each_game(tmp_path: Path) -> None:
    epd, pgn, journal = (str(tmp_path / name) for name in ("x.epd", "x.pgn", "x.db"))
    words = (*match(*SHORT), "-epdout", epd, "-pgnout", pgn, "-journal", journal)
    play(*words)
    play(*words, "-rounds", "2", "-resume")
    records = list(parse_records(Path(pgn).read_text()))
    expected = [format_position(record.final()) for record in records]
    assert len(expected) == 4
    assert Path(epd).read_text().splitlines() == expected
    play(*match(*SHORT), "-epdout", f"file={epd}", "append=false")
    assert Path(epd).read_text().splitlines() == expected[:2]


@pytest.mark.parametrize(
    ("results", "won", "drawn"),
    [("BOTH", True, True), ("WIN_LOSS", True, False), ("draw", False, True)],
)
def test_tbadjudicate_selects_the_results_that_tables_decide(
    tables: Path, tmp_path: Path, results: str, won: bool, drawn: bool
) -> None:
    book = tmp_path / "book.pos"
    book.write_text("".join(f"{position} w 0 0 3 40\n" for position in (LOST, *DRAWN)))
    out = play(
        *match("-rounds", "4", "-games", "1", "-maxmoves", "8", nodes=(200, 200)), "-variant",
        "morris", "-set", "NoRemovalPlies=0", "-openings", str(book), "-tb", str(tables),
        "-tbadjudicate", results,
    )[0]
    assert ("wins by adjudication: tables" in out) == won
    assert ("Draw by adjudication: tables" in out) == drawn


def test_other_flags_override_those_of_quick(tmp_path: Path) -> None:
    journal = tmp_path / "j.db"
    quick = ("-quick", "cmd=merels", "cmd=merels", "book=book")
    out = play("-rounds", "1", "-maxmoves", "8", "-each", "nodes=20", "-journal", str(journal),
              "-concurrency", "1", *quick)[0]
    assert "Started game 2 of 2 (" in out and out.endswith("Finished match\n")
    with read_journal(str(journal)) as opened:
        arguments = opened.meta()["arguments"]
    for words in ('"-each", "tc=10+0.1"', '"-rounds", "25000"', '"order=random"', '"-games", "2"',
                  '"movenumber=30", "movecount=8", "score=8"', '"-concurrency"'):
        assert words in arguments
    error = refusal("tournament", "-quick", "cmd=merels", "book=book")
    assert "expected two programs and a book: -quick cmd=A cmd=B book=FILE" in error


@pytest.mark.quick
def test_pgn_shows_the_search_info_of_engines(tmp_path: Path) -> None:
    later, path, journal = (str(tmp_path / name) for name in ("a.pgn", "b.pgn", "j.db"))
    keys = ("timeleft", "latency", "nodes", "seldepth", "nps", "hashfull", "pv")
    words = (*match(*SHORT), "-each", "tc=60", "-journal", journal, "-resume", "-pgnout")
    play(*words, f"file={path}", *(f"{key}=true" for key in keys))
    record = next(iter(parse_records(Path(path).read_text())))
    comment = re.compile(
        r"\S+/\d+ \d+\.\d{3}s, tl=\d+\.\d{3}s, latency=\d+\.\d{3}s, n=\d+, sd=\d+, nps=\d+, "
        r'hashfull=\d+, pv="(\S+)[^"]*".*'
    )
    played = [
        (str(node.move), parts[1]) for node in record.line()
        if node.comment and (parts := comment.fullmatch(node.comment))
    ]
    assert len(played) > 4 and all(move == first_of_pv for move, first_of_pv in played)
    # The journal stores the info lines, so that a file written later has them as well.
    play(*words, f"file={later}", "pv=true", "seldepth=true")
    text = " ".join(Path(later).read_text().split())
    assert "sd=" in text and 'pv="' in text and "nps=" not in text


def test_a_log_is_compressed_at_the_end(tmp_path: Path) -> None:
    path, packed = tmp_path / "log.txt", tmp_path / "log.txt.gz"
    words = (*match(*SHORT), "-log", str(path), "level=info", "engine=true", "compress=true")
    play(*words)
    assert not path.exists()
    first = gzip.decompress(packed.read_bytes()).decode()
    assert "game 2: B vs A started" in first and " trace game 1: A > uci\n" in first
    play(*words)
    both = gzip.decompress(packed.read_bytes()).decode()
    assert both.startswith(first) and both.count("game 2: B vs A started") == 2
    play(*words, "append=false")
    assert gzip.decompress(packed.read_bytes()).decode().count("game 2: B vs A started") == 1
