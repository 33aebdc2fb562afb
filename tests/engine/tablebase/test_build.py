"""Building tables under failures: finished files are kept, and one error names the cause."""

from __future__ import annotations

import errno
import multiprocessing
import os
import shutil
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from merels.engine.common.errors import InputError
from merels.engine.game.rules import make_rules
from merels.engine.tablebase import storage
from merels.engine.tablebase.build import Builder
from merels.engine.tablebase.cache import TableCache
from merels.engine.tablebase.files import DEPTHS, VALUES, file_name, rules_folder
from merels.engine.tablebase.probe import default_root, open_tables
from merels.engine.tablebase.sectors import Sector
from merels.engine.tablebase.storage import locked, write_table
from tests.processes import wait_for_file

RULES = make_rules("morris")


def built(root: Path, depths: bool = False, men: int = 7) -> Path:
    """Build tables; return their folder."""
    Builder(root, RULES, threads=2, depths=depths).build(men)
    return root / rules_folder(RULES)


def test_depths_are_kept_when_their_values_are_built_again(tmp_path: Path) -> None:
    values = built(tmp_path, depths=True) / file_name(Sector(4, 3), VALUES)
    sound = values.read_bytes()
    values.write_bytes(sound[:1000] + bytes([sound[1000] ^ 255]) + sound[1001:])
    built(tmp_path)
    assert values.read_bytes() == sound
    tables = open_tables(tmp_path, RULES)
    assert not tables.problems and tables.has_depths(4, 3)


@pytest.mark.parametrize("name", ["lock", "x.wdl.part"])
def test_a_folder_in_place_of_a_file_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / rules_folder(RULES) / name).mkdir(parents=True)
    with pytest.raises(InputError, match=name):
        built(tmp_path, men=6)


def hold_lock(folder: str, started: str, finish: str) -> None:
    """Lock a folder and write a draft there; rename the draft once the file ``finish`` exists."""
    with locked(Path(folder)):
        (Path(folder) / "half.wdl.part").write_bytes(b"half")
        Path(started).touch()
        while not Path(finish).exists():
            time.sleep(0.01)
        (Path(folder) / "half.wdl.part").rename(Path(folder) / "half")


def test_a_second_build_in_a_locked_folder_is_refused(tmp_path: Path) -> None:
    """The refused build does not remove the draft of the running build."""
    folder = built(tmp_path)
    started, finish = tmp_path / "started", tmp_path / "finish"
    other = multiprocessing.get_context("spawn").Process(
        target=hold_lock, args=(str(folder), str(started), str(finish))
    )
    other.start()
    try:
        wait_for_file(started)
        with pytest.raises(InputError, match="another program writes to this folder"):
            built(tmp_path)
        finish.touch()
        wait_for_file(folder / "half")
    finally:
        other.kill()
        other.join()


def test_a_sector_that_does_not_fit_on_the_disk_is_not_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage(NamedTuple):
        total: int
        used: int
        free: int

    monkeypatch.setattr(shutil, "disk_usage", lambda folder: Usage(1, 1, 1000))
    with pytest.raises(InputError, match="3-3 needs 0.1 MB, but only 0.0 MB are free"):
        Builder(tmp_path, RULES).build(6)
    assert not list(tmp_path.glob("*/*.wdl"))


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.ENOSPC, "it needs 1.5 MB. All finished files are kept: free some space and repeat"),
        (errno.EDQUOT, "it needs 1.5 MB. All finished files are kept: free some space and repeat"),
        (errno.EACCES, "All finished files are kept: repeat the command once the cause is removed"),
        (errno.EIO, "All finished files are kept: repeat the command once the cause is removed"),
    ],
)
def test_only_an_error_of_a_full_disk_advises_to_free_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, advice: str
) -> None:
    def fail(path: Path, parts: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(storage, "write_whole", fail)
    with pytest.raises(InputError) as caught:
        write_table(tmp_path / "3-3.wdl", [bytes(1_500_000)])
    message = str(caught.value)
    assert os.strerror(number) in message and advice in message
    assert ("space" in advice) == ("free some space" in message) == ("MB" in message)


@pytest.mark.parametrize("missing", [Sector(4, 3), Sector(3, 3)], ids=str)
def test_depths_need_the_values_of_their_table_and_of_tables_after_a_removal(
    tmp_path: Path, missing: Sector
) -> None:
    folder = built(tmp_path, depths=True)
    assert open_tables(tmp_path, RULES).has_depths(4, 3)
    (folder / file_name(missing, VALUES)).unlink()
    tables = open_tables(tmp_path, RULES)
    assert tables.core.has(4, 3) == (missing != Sector(4, 3)) and not tables.has_depths(4, 3)
    assert (folder / file_name(Sector(4, 3), DEPTHS)).exists()


@pytest.fixture
def homeless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user without a home folder: `Path.home` raises, as for a user unknown to the system."""

    def home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("MERELS_TABLES", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", home)


@pytest.mark.skipif(sys.platform != "linux", reason="the XDG standard applies to Linux")
def test_a_relative_xdg_cache_home_is_ignored(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("MERELS_TABLES", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert default_root() == tmp_path / ".cache" / "merels" / "tables"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert default_root() == tmp_path / "x" / "merels" / "tables"


@pytest.mark.usefixtures("homeless")
def test_without_a_home_there_are_no_tables_and_the_problem_is_reported_once() -> None:
    with pytest.raises(InputError, match="set MERELS_TABLES"):
        default_root()
    cache = TableCache()
    tables, problems = cache.fetch(RULES, wait=True)
    assert tables is None and "set MERELS_TABLES" in problems[0]
    assert cache.fetch(RULES) == (None, [])
