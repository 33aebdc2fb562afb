"""Continued runs after a change of the folder, of a program, or of the path of a program."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from merels.protocol import examples
from tests.tournament.processes import Marked, play

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(os.name != "posix", reason="starts a script by its first line"),
]

ENGINE = Path(examples.__path__[0]) / "minimal_engine.py"
SHORT = ["-each", "nodes=1", "-maxmoves", "6", "-srand", "3", "-journal", "j.db"]


def begin(folder: Path, *words: str) -> None:
    """Play a tournament in a folder; its engines are a script, and python with that script."""
    folder.mkdir(parents=True)
    script = folder / "mini.py"
    script.write_text(f"#!{sys.executable}\n{ENGINE.read_text(encoding='utf-8')}")
    script.chmod(0o755)
    play(*engines("./mini.py", "mini.py"), *SHORT, *words, cwd=folder)


def engines(program: str, argument: str) -> list[str]:
    """Return the flags of two engines: a program, and python with an argument."""
    return ["-engine", f"cmd={program}", "name=A",
            "-engine", f"cmd={sys.executable}", f"args={argument}", "name=B"]


def run(folder: Path, *words: str, command: str = "tournament") -> tuple[int, str, str]:
    """Run a command in a folder; return its status, output and errors."""
    return Marked(*words, command=command, cwd=folder).wait()


def test_a_resumed_run_continues_in_its_folder(tmp_path: Path) -> None:
    begin(tmp_path / "first", "-rounds", "1", "-pgnout", "g.pgn")
    (tmp_path / "other").mkdir()
    status, out, err = run(tmp_path / "other", "-journal", "../first/j.db", "-resume",
                           "-rounds", "2", "-log", "log", "level=info")
    assert status == 0 and "Finished game 4 (B vs A): 1/2-1/2" in out, err
    assert f"the run was started in {tmp_path}/first and continues there" in err
    assert (tmp_path / "first" / "g.pgn").read_text().count("[GameId ") == 4
    assert [path.name for path in (tmp_path / "other").iterdir()] == ["log"]


def test_a_run_continues_in_a_renamed_folder(tmp_path: Path) -> None:
    begin(tmp_path / "first", "-rounds", "1")
    (tmp_path / "first").rename(tmp_path / "second")
    status, out, err = run(tmp_path / "second", "-journal", "j.db", "-resume", "-rounds", "2")
    assert status == 0 and "Finished game 4 (B vs A): 1/2-1/2" in out, err
    assert (
        f"the run was started in {tmp_path}/first, which does not exist; "
        f"it continues in {tmp_path}/sec" in err
    )
    status, _, err = run(tmp_path / "second", "-journal", "j.db", "-resume", "-rounds", "3")
    assert status == 0 and "started in" not in err, "the journal stores the new folder"


def test_a_moved_program_is_accepted_and_a_different_one_refused(tmp_path: Path) -> None:
    begin(tmp_path / "first", "-rounds", "1")
    begin(tmp_path / "other", "-rounds", "1")
    there = ["-journal", "../first/j.db", "-resume", "-rounds", "2"]
    same = engines("../first/mini.py", f"{tmp_path}/first/mini.py")
    assert run(tmp_path / "other", *same, *SHORT, *there)[0] == 0
    mixed = engines("./mini.py", "../first/mini.py")
    status, _, err = run(tmp_path / "other", *mixed, *SHORT, *there, "-maxmoves", "7")
    assert status == 2 and len(err.splitlines()) == 1
    assert (f"another tournament; -engine A cmd: now {tmp_path}/other/mini.py, in the journal "
            f"{tmp_path}/first/mini.py; -maxmoves: now 7, in the journal 6") in err


def test_an_error_in_another_folder_names_the_folder_of_the_run(tmp_path: Path) -> None:
    begin(tmp_path / "first", "-rounds", "1")
    same = engines(f"{tmp_path}/first/mini.py", f"{tmp_path}/first/mini.py")
    words = [*same, *SHORT, "-each", "tc=1+0.01", "-journal", "first/j.db", "-resume"]
    status, _, err = run(tmp_path, *words)
    assert status == 2
    assert "-each tc: now 1+0.01, in the journal not given; " in err
    assert f"; the run was started in {tmp_path}/first\n" in err
    words = [*same, *SHORT, "-openings", "a.pos", "-journal", "first/j.db", "-resume"]
    status, _, err = run(tmp_path, *words)
    assert status == 2 and "a.pos': cannot read this file" in err
    assert f"; the run was started in {tmp_path}/first\n" in err
