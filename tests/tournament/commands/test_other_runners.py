"""Flags and PGN comments of fastchess and cutechess-cli."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from merels.protocol.formats.pgn.reader import parse_records
from tests.commands import run
from tests.tournament.processes import play
from tests.tournament.specs import match, rows_of

pytestmark = pytest.mark.thorough

SHORT = ("-rounds", "1", "-maxmoves", "8")
DRAWN = ("*O@*O***/**O@@***/********", "**@*O***/**O*@***/***O@***", "********/***O@O@*/*****O@*")


def test_flags_of_other_runners_are_accepted_with_one_notice(
    capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run(capsys, [
        "tournament", *match(*SHORT), "-recover", "-output", "format=fastchess", "-site", "Here",
        "-epdout", "x", "-pgnout", "/dev/null", "notation=san", "-each", "restart=auto",
        "-openings", "policy=default", "-log", "/dev/null", "compress=true",
    ])
    assert status == 0 and "Finished game 2 " in out
    assert err.splitlines()[0] == (
        "merels tournament: accepted without effect, as flags of other runners: -recover, "
        "-output, -site, -epdout, -pgnout notation=san, -each restart=auto, "
        "-openings policy=default, -log compress=true"
    )
    words = match(*SHORT)
    words[1:1] = ["trust", "stderr=x"]
    status, _, err = run(capsys, [
        "tournament", *words, "-recover", "-resultformat", "wide", "-tbpieces", "5", "-debug",
        "all", "-crc32", "pgn=true", "-autosaveinterval", "5", "-pgnout", "/dev/null", "min", "fi",
        "tbhits=true",
    ])
    assert status == 0 and err.splitlines()[0] == (
        "merels tournament: accepted without effect, as flags of other runners: -engine trust, "
        "-engine stderr=x, -recover, -resultformat, -tbpieces, -debug, -crc32, "
        "-autosaveinterval, -pgnout fi, -pgnout tbhits=true"
    )
    status, _, err = run(capsys, ["tournament", "-quick", "cmd=a", "cmd=b", "book=c"])
    assert status == 2 and "'-quick': unknown flag" in err


def rows(heading: str) -> list[str]:
    """Return the first cells of the table below a heading of the page on other runners."""
    page = Path(__file__).parents[3] / "tournament" / "other-runners.md"
    section = page.read_text("utf-8").partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `([^`]+)`.* \|", section, re.M)


@pytest.mark.parametrize("line", [*rows("The differences"), *rows("Refused")])
def test_the_page_on_other_runners_is_true(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "book.pos").write_text(f"{DRAWN[1]} w 0 0 3 40\n")
    (tmp_path / "flags.txt").write_text("-rounds 1")
    words = ["-quiet", "-maxmoves", "4", *(["-rounds", "1"] if "-games" not in line else [])]
    is_refused = line in rows("Refused") or line == "-games 3"
    line = line.replace("fastchess ", "").replace("-resume", "")
    engine = [] if line.startswith("-") else ["-engine", "cmd=merels"]
    engines = match("-srand", "1")
    status, _, err = run(capsys, ["tournament", *engines, *words, *engine, *line.split()])
    assert (status == 2 and bool(err)) if is_refused else (status, err) == (0, ""), err


def test_a_saved_session_of_fastchess_is_refused_by_its_form(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"engines": [], "stats": {}}')
    status, _, err = run(capsys, [
        "tournament", "-config", f"file={path}", "outname=x.json", "discard=false",
    ])
    assert status == 2 and "a session that fastchess has saved" in err
    assert len(err.splitlines()) == 1


def test_config_with_only_a_name_for_the_session_of_fastchess_has_no_effect(
    capsys: pytest.CaptureFixture[str]
) -> None:
    """fastchess saves a session under ``outname=``, without ``file=``."""
    config = ["-config", "outname=x.json", "discard=true"]
    status, _, err = run(capsys, ["tournament", *match(*SHORT), "-rounds", "1", *config])
    assert status == 0
    assert ": accepted without effect, as flags of other runners: -config outname=" in err
    status, _, err = run(capsys, ["tournament", *match(*SHORT), "-config"])
    assert status == 2 and "expected file=, a text file of flags" in err


def test_wait_makes_a_pause_between_games(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    play(*match(*SHORT), "-rounds", "2", "-wait", "250", "-journal", str(path))
    rows = rows_of(path)
    starts = [datetime.fromisoformat(row.started) for row in rows]
    ends = [start + timedelta(microseconds=row.elapsed / 1000) for start, row in zip(starts, rows)]
    assert len(rows) == 4
    # The journal stores the time of a start in milliseconds, rounded down.
    assert all(start - end >= timedelta(milliseconds=249) for end, start in zip(ends, starts[1:]))


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
        (str(node.move), parts[1]) for node in record.mainline()
        if node.comment and (parts := comment.fullmatch(node.comment))
    ]
    assert len(played) > 4 and all(move == first_of_pv for move, first_of_pv in played)
    # The journal stores the info lines, so that a file written later has them as well.
    play(*words, f"file={later}", "pv=true", "seldepth=true")
    text = " ".join(Path(later).read_text().split())
    assert "sd=" in text and 'pv="' in text and "nps=" not in text
