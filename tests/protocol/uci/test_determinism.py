"""A search with a node limit writes the same lines in each process and after clearing the hash."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from merels.engine.game.rules import make_rules
from merels.engine.tablebase.small import small_tables
from tests.protocol.gui import Gui

pytestmark = pytest.mark.thorough

POSITIONS = {
    "start": "position startpos",
    "placing": "position startpos moves d6 f4 d2 b4 a1",
    "moving": "position fen O**@O*@*/@O*O*@**/*O@**O*@ w 0 0 3 25",
    "few men": "position fen O*O*****/*@***@**/**O**@O* w 0 0 0 40",
}
GO = "go nodes 30000"
OPTIONS = (
    "setoption name Hash value 4",
    "setoption name Threads value 1",
    "setoption name MultiPV value 2",
    "setoption name UCI_Variant value mill",
    "setoption name Move Overhead value 50",
    "setoption name UCI_ShowWDL value true",
)
CLOCK_FIELDS = re.compile(r" (time|nps) \d+")
"""The fields of an info line that depend on the clock."""


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return an environment in which every engine finds the same small tables."""
    root = tmp_path_factory.mktemp("tables")
    assert small_tables(make_rules("mill"), root) is not None
    return {"MERELS_TABLES": str(root)}


def search(gui: Gui, position: str) -> list[str]:
    """Return the lines of a search, without the fields that depend on the clock."""
    return [CLOCK_FIELDS.sub("", line) for line in gui.go(GO, position)]


def search_in_a_new_process(environment: dict[str, str], position: str, *options: str) -> list[str]:
    """Return the lines of a search in a new process that was sent ``options`` first."""
    with Gui(environment=environment) as gui:
        gui.ask("uci", *options)
        return search(gui, position)


@pytest.mark.parametrize("position", POSITIONS.values(), ids=POSITIONS)
def test_separate_processes_write_the_same_lines(tables: dict[str, str], position: str) -> None:
    first = search_in_a_new_process(tables, position)
    assert any(" nodes " in line and " pv " in line for line in first)
    assert first[-1].startswith("bestmove ")
    for seed in ("0", "1", "4242"):
        assert search_in_a_new_process({**tables, "PYTHONHASHSEED": seed}, position) == first


def test_the_first_search_with_an_empty_table_cache_writes_the_same_lines(tmp_path: Path) -> None:
    """A search with a node limit waits until the small tables are built.

    The engine of the first search waits for as long as a busy machine needs to build them.
    """
    patient = (
        "from merels.engine.tablebase import cache; cache.MAX_WAIT = 300.0;"
        "from merels.protocol.uci.loop import main; main()"
    )
    cache = {"MERELS_TABLES": str(tmp_path)}
    position = POSITIONS["few men"]
    with Gui(environment=cache, command=(sys.executable, "-c", patient)) as gui:
        gui.ask("uci")
        first = search(gui, position)
    assert any(" tbhits 0 " not in line for line in first if " nodes " in line)
    assert search_in_a_new_process(cache, position) == first


@pytest.mark.parametrize("shift", range(1, len(OPTIONS), 2))
def test_the_order_of_options_has_no_effect(tables: dict[str, str], shift: int) -> None:
    position = POSITIONS["placing"]
    first = search_in_a_new_process(tables, position, *OPTIONS)
    assert sum(" multipv 2 " in line for line in first) > 1
    assert search_in_a_new_process(tables, position, *OPTIONS[shift:], *OPTIONS[:shift]) == first
    assert search_in_a_new_process(tables, position, *OPTIONS[::-1]) == first


EARLIER_COMMANDS = {
    "other searches": [
        line for position in POSITIONS.values() for line in (position, "go nodes 50000")
    ],
    "a stopped search": [POSITIONS["moving"], "go infinite"],
    "other rules": [
        "setoption name UCI_Variant value loc", "setoption name ThreeThreePlies value 0",
        "go nodes 20000", "setoption name UCI_Variant value mill",
    ],
    "another hash size": [
        "setoption name Hash value 2", "go nodes 20000", "setoption name Hash value 16"
    ],
    "more variations": [
        "setoption name MultiPV value 4", "go nodes 20000", "setoption name MultiPV value 1"
    ],
    "more threads": [
        "setoption name Threads value 2", "go nodes 20000", "setoption name Threads value 1"
    ],
    "a level": [
        "setoption name UCI_LimitStrength value true", "setoption name UCI_Elo value 1000",
        "go nodes 2000", "setoption name UCI_LimitStrength value false",
    ],
}
"""Lines that a process receives between a search and the command that clears its hash."""


def send_earlier(gui: Gui, lines: list[str]) -> None:
    """Send lines, and wait for each search; stop an infinite search at depth 5."""
    for line in lines:
        gui.send(line)
        if line == "go infinite":
            gui.until("info depth 5 ")
            gui.send("stop")
        if line.startswith("go "):
            gui.until("bestmove")


@pytest.mark.parametrize("clear", ["ucinewgame", "setoption name Clear Hash"])
@pytest.mark.parametrize("earlier", EARLIER_COMMANDS)
def test_earlier_commands_have_no_effect_after_clearing(
    tables: dict[str, str], earlier: str, clear: str
) -> None:
    position = POSITIONS["placing"]
    with Gui(environment=tables) as gui:
        gui.ask("uci")
        first = search(gui, position)
        send_earlier(gui, EARLIER_COMMANDS[earlier])
        gui.ask(clear)
        assert search(gui, position) == first
        gui.ask(clear)
        assert search(gui, position) == first


def test_a_level_with_a_seed_writes_the_same_lines(tables: dict[str, str]) -> None:
    """A different seed gives different lines."""
    seed = "setoption name LevelSeed value 6"
    words = (
        "setoption name UCI_LimitStrength value true", "setoption name UCI_Elo value 1000", seed
    )
    first = search_in_a_new_process(tables, POSITIONS["moving"], *words)
    assert search_in_a_new_process(tables, POSITIONS["moving"], *words[::-1]) == first
    seeded = (*words[:2], "setoption name LevelSeed value 7")
    other = search_in_a_new_process(tables, POSITIONS["moving"], *seeded)
    assert other != first and search_in_a_new_process(tables, POSITIONS["moving"], *seeded) == other


def test_a_level_without_a_seed_varies_its_first_move() -> None:
    with Gui() as gui:
        gui.ask("setoption name UCI_LimitStrength value true", "setoption name UCI_Elo value 900")
        moves = set()
        for _ in range(12):
            gui.ask("ucinewgame")
            moves.add(gui.go("go nodes 1000000", "position startpos")[-1])
    assert len(moves) > 3
