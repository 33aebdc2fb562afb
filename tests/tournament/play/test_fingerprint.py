"""Fingerprints and announced names of programs, in the row of each game."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from merels.engine import full_version
from merels.protocol import examples
from merels.protocol.client.engine_spec import MERELS, EngineSpec
from merels.tournament.journal.rows import make_row
from merels.tournament.play.engine_cache import EngineCache
from merels.tournament.play.fingerprint import DIGITS, fingerprint
from merels.tournament.play.game import play_game
from merels.tournament.records.games import Adjudication
from tests.tournament.processes import play
from tests.tournament.specs import changed, engine, game, rows_of

MINIMAL = Path(examples.__path__[0]) / "minimal_engine.py"


def script(folder: Path, version: str, more: str = "") -> str:
    """Write a small engine that announces ``version``; return its path."""
    path = folder / "engine.py"
    source = MINIMAL.read_text(encoding="utf-8").replace("id name Minimal", f"id name {version}")
    path.write_text(f"{source}\n{more}\n")
    return str(path)


def names_in(journal: Path) -> set[str]:
    """Return the names of the engines that have played."""
    return {name for row in rows_of(journal) for name in (row.white, row.black)}


def test_a_fingerprint_covers_the_program_and_the_files_among_its_arguments(tmp_path: Path) -> None:
    path = script(tmp_path, "Foo 1")
    python = EngineSpec((sys.executable, path, "-fast"))
    before = fingerprint(python)
    assert len(before) == DIGITS and before == fingerprint(python)
    relative = EngineSpec((sys.executable, "engine.py", "-slow"), directory=str(tmp_path))
    assert fingerprint(relative) == before, "a relative path and another flag change nothing"
    script(tmp_path, "Foo 1", "# rebuilt")
    assert fingerprint(python) != before
    assert fingerprint(EngineSpec((str(tmp_path / "gone"),))) == ""
    built_in = fingerprint(EngineSpec(MERELS))
    assert built_in == fingerprint(EngineSpec(("/another/python", *MERELS[1:]))) != ""


def test_a_row_states_its_machine_versions_and_programs(
    engines: EngineCache, tmp_path: Path
) -> None:
    path = script(tmp_path, "Foo 1")
    scripted = changed(engine("A", 1), command=(sys.executable, path))
    other, limit = engine("B", 1), Adjudication(max_moves=2)
    row = make_row(play_game(game(scripted, other, adjudication=limit), engines))
    assert (row.host, row.version) == (socket.gethostname(), full_version())
    assert (row.white_id, row.black_id) == ("Foo 1", f"merels {full_version()}")
    before = fingerprint(scripted.engine)
    assert (row.white_program, row.black_program) == (before, fingerprint(other.engine))
    # The running process is the old program, although its file has changed.
    script(tmp_path, "Foo 2")
    row = make_row(play_game(game(scripted, other, adjudication=limit), engines))
    assert (row.white_id, row.white_program) == ("Foo 1", before)


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix", reason="the words of a command line")
def test_engines_without_a_name_get_the_name_they_announce(tmp_path: Path) -> None:
    words = ["-engine", f"cmd={sys.executable}", f"args={script(tmp_path, 'Foo 1.0')}"]
    merels = ["-engine", f"cmd={MERELS[0]}", f"args={' '.join(MERELS[1:])}"]
    line = [*words, *words, *merels, *words, "name=Mine",
            "-each", "nodes=1", "-maxmoves", "4", "-srand", "1", "-journal", "j.db"]
    play(*line, "-rounds", "1", cwd=tmp_path)
    names = {"Foo 1.0", "Foo 1.0 2", f"merels {full_version()}", "Mine"}
    assert names_in(tmp_path / "j.db") == names
    # A rebuilt engine keeps its name; only the next run reports that its program has changed.
    script(tmp_path, "Foo 1.1")
    notice = "the program of Foo 1.0 2 has changed since it played (fingerprint now "
    for flags, rounds, changes in ((["-journal", "j.db"], "2", 3), (line, "3", 0)):
        _, err = play(*flags, "-resume", "-rounds", rounds, cwd=tmp_path)
        assert err.count("has changed since it played") == changes
        assert (notice in err) == (changes > 0)


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix", reason="the words of a command line")
def test_the_engine_of_a_tune_gets_the_name_it_announces(tmp_path: Path) -> None:
    words = ["-engine", f"cmd={MERELS[0]}", f"args={' '.join(MERELS[1:])}", "nodes=1",
             "-param", "Hash", "min=1", "max=4", "start=1", "-maxmoves", "2", "-srand", "1",
             "-journal", "t.db"]
    for more in (["-pairs", "2"], ["-pairs", "2", "-resume"]):
        play(*words, *more, command="tune", cwd=tmp_path)
    assert names_in(tmp_path / "t.db") == {f"merels {full_version()}{side}" for side in "+-"}
