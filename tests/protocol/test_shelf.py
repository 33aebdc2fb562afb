"""The tables that an engine plays by: whose they are, whoever asks, and while they are built."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from merels.engine.rules import PRESETS, Rules
from merels.engine.tables.build import Builder
from merels.engine.tables.files import rules_folder
from merels.protocol.shelf import Shelf
from tests.protocol.gui import PATIENCE

LEAVE_EARLY = """
import atexit, sys, time
from pathlib import Path
from merels.engine.rules import DEFAULT_RULES
from merels.engine.tables.small import build_in_background

root = Path(sys.argv[1])
builder = build_in_background(DEFAULT_RULES, root, lambda: None)
while not list(root.glob("*/lock")):
    time.sleep(0.001)
atexit.register(builder.join)
"""


def test_leaving_while_the_small_tables_are_built_is_no_error(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LEAVE_EARLY, str(tmp_path)],
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_threads_that_ask_for_other_rules_get_the_tables_of_their_own(tmp_path: Path) -> None:
    two = PRESETS["mill"], PRESETS["multi"]
    for rules in two:
        Builder(tmp_path, rules).build(6)
    shelf, together = Shelf(), Barrier(3)

    def fetch(rules: Rules) -> str:
        together.wait(PATIENCE)
        tables, _ = shelf.fetch(rules, str(tmp_path))
        assert tables is not None
        return rules_folder(tables.rules)

    with ThreadPoolExecutor(3) as pool:
        for number in range(100):
            rules = two[number % 2]
            assert set(pool.map(fetch, [rules] * 3, timeout=PATIENCE)) == {rules_folder(rules)}


def test_tables_that_are_built_meanwhile_are_waited_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rules are left while their tables are built, and come back to."""
    monkeypatch.setenv("MERELS_TABLES", str(tmp_path))
    shelf = Shelf()
    shelf.fetch(PRESETS["roman"])
    shelf.fetch(PRESETS["mill"])
    for rules in (PRESETS["roman"], PRESETS["mill"]):
        tables, _ = shelf.settled(rules)
        assert tables is not None and tables.men == 7
