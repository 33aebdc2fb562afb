"""``-out FILE`` of all commands: a failed run keeps the old file and creates no other."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from tests.commands import output
from tests.kit import full_disk

posix = pytest.mark.skipif(os.name != "posix", reason="needs links, modes and pipes of POSIX")
GAMES = "".join(
    f'[White "A{number % 3}"]\n[Black "B"]\n\n1. d6 f4 2. d2 1-0\n\n' for number in range(40)
)
COMMANDS = [["ratings"], ["convert", "-to", "pgn"]]


@pytest.fixture
def games(tmp_path: Path) -> str:
    """Return the path of a PGN file in a separate folder."""
    (tmp_path / "games").mkdir()
    path = tmp_path / "games" / "games.pgn"
    path.write_text(GAMES)
    return str(path)


@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files")
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: str(words[0]))
def test_a_full_disk_keeps_the_old_report(tmp_path: Path, games: str, words: list[str]) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "report").write_text("the old report")
    report = f"{folder}/report"
    done = full_disk.run_command(100, *words, games, "-out", report)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1 and "cannot write this file: File too large" in done.stderr
    assert [path.name for path in folder.iterdir()] == ["report"]
    assert (folder / "report").read_text() == "the old report"


@posix
def test_a_report_keeps_links_and_permissions(tmp_path: Path, games: str) -> None:
    report, link = tmp_path / "report", tmp_path / "link"
    report.write_text("the old report")
    report.chmod(0o640)
    link.symlink_to(report)
    output("ratings", games, "-out", str(link))
    assert link.is_symlink() and report.read_text().startswith("#  Name")
    assert stat.S_IMODE(report.stat().st_mode) == 0o640
