"""The engine's cache of open tables, also while small tables are being built."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from threading import Barrier

import pytest

from merels.engine.game.rules import PRESETS, Rules, make_rules
from merels.engine.tablebase import cache as cache_module
from merels.engine.tablebase.cache import MAX_BUILDS, TableCache
from merels.engine.tablebase.files import rules_folder
from merels.engine.tablebase.small import has_small_tables
from merels.engine.tablebase.storage import prepared
from tests.commands import output, run_process
from tests.kit.tables import copy_tables
from tests.kit.waiting import wait
from tests.protocol.gui import PATIENCE, Gui

DRAWN = "O*O*****/****O***/@*@****@ w 0 0 0 30"
"""A drawn position in which a shallow search expects White to lose four men."""
LOST = "O*O*****/*****O**/@**@***@ w 0 0 0 30"
"""A position that White loses."""
EARLY_EXIT_SCRIPT = """
import atexit, sys, time
from pathlib import Path
from merels.engine.game.rules import DEFAULT_RULES
from merels.engine.tablebase.small import build_in_background

root = Path(sys.argv[1])
builder = build_in_background(DEFAULT_RULES, root, lambda built: None)
while not list(root.glob("*/*")):
    time.sleep(0.001)
atexit.register(builder.join)
"""


def test_a_program_may_end_while_its_small_tables_are_built(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", EARLY_EXIT_SCRIPT, str(tmp_path)],
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_threads_get_the_tables_of_the_rules_that_they_request(tmp_path: Path) -> None:
    rule_sets = PRESETS["mill"], PRESETS["multi"]
    for rules in rule_sets:
        copy_tables(tmp_path, rules, 6)
    cache, gate = TableCache(), Barrier(3)

    def fetch(rules: Rules) -> str:
        gate.wait(PATIENCE)
        tables, _ = cache.fetch(rules, str(tmp_path))
        assert tables is not None
        return rules_folder(tables.rules)

    with ThreadPoolExecutor(3) as pool:
        for number in range(40):
            rules = rule_sets[number % 2]
            assert set(pool.map(fetch, [rules] * 3, timeout=PATIENCE)) == {rules_folder(rules)}


def test_a_later_request_waits_for_a_build_that_an_earlier_request_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rules change while their tables are being built, and change back."""
    monkeypatch.setenv("MERELS_TABLES", str(tmp_path))
    monkeypatch.setattr(cache_module, "MAX_WAIT", PATIENCE)
    cache = TableCache()
    cache.fetch(PRESETS["roman"])
    cache.fetch(PRESETS["mill"])
    for rules in (PRESETS["roman"], PRESETS["mill"]):
        tables, _ = cache.fetch(rules, wait=True)
        assert tables is not None and tables.men == 7


def test_analyse_and_play_use_the_tables_of_the_engine(tmp_path: Path) -> None:
    with Gui(environment={"MERELS_TABLES": str(tmp_path)}) as gui:
        gui.go("go movetime 1")  # The engine begins to build the tables.
        wait(lambda: has_small_tables(PRESETS["mill"], tmp_path), PATIENCE, "small tables")
        lines = gui.go("go depth 3", f"position fen {DRAWN}")
    assert "score cp 0 " in lines[-2]
    best = lines[-1].split()[1]
    analysed = output("analyse", DRAWN, "-depth", "3", tables=tmp_path)
    assert analysed.splitlines()[-1] == f"White's best move: {best} (+0.00)"
    played = output("play", "-position", DRAWN, typed="hint\n", tables=tmp_path)
    assert "looks best (+0.00 for you)" in played


def test_a_loss_in_the_tables_is_reported_as_a_loss(tmp_path: Path) -> None:
    copy_tables(tmp_path, PRESETS["mill"], 7, depths=True)
    analysed = output("analyse", LOST, "-depth", "1", tables=tmp_path)
    assert re.fullmatch(r"White's best move: \S+ \(loses\)", analysed.splitlines()[-1])


def test_a_table_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    copy_tables(tmp_path, PRESETS["mill"], 6)
    [table] = tmp_path.glob("*/3-3.wdl")
    table.write_bytes(b"MMTB")
    done = run_process("analyse", "-movetime", "1", tables=tmp_path)
    assert done.returncode == 0 and str(table) in done.stderr


def test_at_most_two_of_the_requested_rule_sets_are_built_at_the_same_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MERELS_TABLES", str(tmp_path))
    monkeypatch.setattr(cache_module, "MAX_WAIT", PATIENCE)
    cache, others = TableCache(), set(threading.enumerate())
    rule_sets = [make_rules("mill", [f"NoRemovalPlies={plies}"]) for plies in range(100, 107)]
    with ExitStack() as stack:
        for rules in rule_sets:
            # No build can end before this process unlocks the folder.
            stack.enter_context(prepared(tmp_path / rules_folder(rules)))
            cache.fetch(rules)
        started = set(threading.enumerate()) - others
        builders = [thread for thread in started if thread.name == "small tables"]
        assert len(builders) == MAX_BUILDS
    tables, _ = cache.fetch(rules, wait=True)
    assert tables is not None and tables.men == 7
    for builder in builders:
        builder.join(PATIENCE)
    built = [has_small_tables(rules, tmp_path) for rules in rule_sets]
    assert built == [True, True, False, False, False, False, True]


def test_small_tables_that_were_removed_are_built_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MERELS_TABLES", str(tmp_path))
    monkeypatch.setattr(cache_module, "MAX_WAIT", PATIENCE)
    cache = TableCache()
    for _ in range(2):
        tables, _ = cache.fetch(PRESETS["mill"], wait=True)
        assert tables is not None and tables.men == 7
        shutil.rmtree(tmp_path / rules_folder(PRESETS["mill"]))
        cache.fetch(PRESETS["loc"], str(tmp_path))


def test_a_failed_build_of_small_tables_is_not_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("MERELS_TABLES", str(tmp_path / "file"))
    started: list[str] = []
    start = threading.Thread.start

    def count(thread: threading.Thread) -> None:
        started.append(thread.name)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", count)
    cache = TableCache()
    for _ in range(20):
        assert cache.fetch(PRESETS["mill"], wait=True)[0] is None
    assert started.count("small tables") == 1
