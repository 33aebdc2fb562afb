"""Output files of a run: full disks, kills, continued runs, devices and links."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.commands import refusal
from tests.kit.executor import INVENTED
from tests.tournament.processes import play
from tests.tournament.specs import match

posix = pytest.mark.skipif(os.name != "posix", reason="needs links and pipes of POSIX")
SHORT = ("-rounds", "1", *INVENTED)


def test_a_resumed_run_appends_to_its_files_in_spite_of_append_false(tmp_path: Path) -> None:
    """``append=false`` replaces a file only at the start of a new run."""
    paths = [tmp_path / name for name in ("log", "pgn")]
    flags = ["-journal", f"{tmp_path}/j", "-log", str(paths[0]), "append=false", "level=info"]
    flags += ["-pgnout", str(paths[1]), "append=false"]
    for path in paths:
        path.write_text("of another run\n")
    play(*match(*SHORT), *flags)
    play(*match(*SHORT), *flags, "-rounds", "2", "-resume")
    log, pgn = (path.read_text() for path in paths)
    assert "of another run" not in log + pgn and pgn.count("[GameId ") == 4
    assert all(f"game {number}: " in log for number in range(1, 5))


def test_a_refused_run_empties_no_file(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("of another run\n")
    error = refusal(
        "tournament", *match(*SHORT), "-log", str(path), "append=false",
        "-pgnout", f"{tmp_path}/none/pgn", "append=false",
    )
    assert "'pgn': cannot write this file: there is no such folder" in error
    assert path.read_text() == "of another run\n"


@posix
@pytest.mark.parametrize("flag", ["-pgnout", "-log"])
def test_a_pipe_that_no_program_reads_is_refused(tmp_path: Path, flag: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    words = (*match(*SHORT), "-journal", f"{tmp_path}/j", flag, f"{tmp_path}/pipe")
    error = refusal("tournament", *words)
    assert "cannot write this file: no program reads this pipe; start its reader first" in error
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]
