"""Tables of the opening: the package's files, how they are made, and how the searcher uses them."""

from __future__ import annotations

import os
import random
import shutil
import sys
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from merels.engine.common.errors import InputError
from merels.engine.game.position import Position
from merels.engine.game.rules import PRESETS, Rules, make_rules, preset
from merels.engine.search.levels import LEVELS
from merels.engine.search.limits import Limit
from merels.engine.search.searcher import Searcher
from merels.engine.tablebase import opening
from merels.engine.tablebase.build import Builder, steps
from merels.engine.tablebase.files import PACKED, VALUES, file_name, rules_folder
from merels.engine.tablebase.opening import (
    LEAST_HAND,
    ROOT,
    main,
    make,
    opening_sectors,
    opening_tables,
)
from merels.engine.tablebase.packed import open_packed
from merels.engine.tablebase.probe import Tables
from merels.engine.tablebase.storage import write_table
from tests.engine.tablebase.test_results import rows
from tests.kit.tables import built_tables
from tests.protocol.gui import Gui

MILL = PRESETS["mill"]
NAMES = ("mill", "morris", "loc", "multi")
"""Rule sets of the tests; `morris`, like `roman`, uses the files of `mill`."""
STORED = ("mill", "loc", "multi")
"""Rule sets with files of their own."""


def positions(rules: Rules, number: int) -> Iterator[Position]:
    """Yield random positions after at most seven placements, the start among them."""
    chance = random.Random(7)
    while number:
        position = Position(rules)
        for _ in range(chance.randrange(8)):
            position = position.play(chance.choice(position.legal_moves()))
        number -= 1
        yield position


def tables_of(position: Position) -> Tables:
    """Return the package's tables, which must have the values of a position's moves."""
    tables = opening_tables(position)
    assert tables is not None
    return tables


def test_the_package_has_all_sectors_of_the_opening_in_two_megabytes() -> None:
    for rules in map(preset, NAMES):
        assert tables_of(Position(rules)).headers.keys() == set(opening_sectors(rules))
    files = [path for path in ROOT.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".wdp"}
    assert len(files) == sum(len(opening_sectors(PRESETS[name])) for name in STORED)
    assert sum(path.stat().st_size for path in files) < 2_000_000


@pytest.mark.parametrize("name", NAMES)
def test_the_values_are_those_of_the_published_results(name: str) -> None:
    published = {
        (int(row["own"]), int(row["opponent"]), int(row["in_hand"])): row["crc32"]
        for row in rows(name)
    }
    for sector, header in tables_of(Position(PRESETS[name])).headers.items():
        assert f"{header.values_checksum:08x}" == published[tuple(sector)]


@pytest.mark.parametrize("name", [
    "mill", *(pytest.param(name, marks=pytest.mark.thorough) for name in STORED[1:])
])
def test_files_solved_again_are_equal_to_the_byte(tmp_path: Path, name: str) -> None:
    """Tables with twelve and more men in hand follow from those with ten."""
    rules = PRESETS[name]
    builder = Builder(tmp_path, rules)
    builder.folder.mkdir()
    for sector in opening_sectors(rules):
        if sector.hand == LEAST_HAND:
            path = ROOT / rules_folder(rules) / file_name(sector, PACKED)
            header, [table] = open_packed(path, rules, True, [])
            header = replace(header, kind=VALUES, checksum=header.values_checksum)
            write_table(
                builder.folder / file_name(sector, VALUES), [header.pack(), *table.blocks()]
            )
            builder.tables.load(builder.folder, sector, check=True)
    with ThreadPoolExecutor(1) as pool:
        for step in steps(rules):
            if step.sectors[0].hand > LEAST_HAND:
                builder._solve(step, pool)
    files = make(tmp_path, tmp_path / "packed", rules)
    assert len(files) == len(opening_sectors(rules))
    for path in files:
        shipped = ROOT / path.parent.name / path.name
        made, expected = (open_packed(each, rules, True, []) for each in (path, shipped))
        assert made[0].values_checksum == expected[0].values_checksum
        # Other implementations of zlib compress to other bytes.
        if "ng" not in zlib.ZLIB_RUNTIME_VERSION:
            assert path.read_bytes() == shipped.read_bytes()


def test_missing_tables_are_named_with_the_command_that_makes_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in ([], ["mill"]):
        with pytest.raises(SystemExit):
            main([str(tmp_path), *words])
        error = capsys.readouterr().err
        assert "no tables to pack; make them with merels tables build -all -placing" in error


@pytest.mark.parametrize("name", NAMES)
def test_a_search_of_one_node_keeps_the_value_in_the_first_eight_placements(name: str) -> None:
    searcher, blunders = Searcher(1), 0
    for position in positions(PRESETS[name], 60):
        values = {
            move: stored.value for move, stored in tables_of(position).moves(position) if stored
        }
        assert len(values) == len(position.legal_moves())
        for uses_tables in (True, False):
            searcher.opening = uses_tables
            searcher.clear()
            result = searcher.search(position, Limit(nodes=1))
            assert result.move is not None and bool(result.info.tbhits) == uses_tables
            held = values[result.move] == max(values.values())
            assert held or not uses_tables
            blunders += not held
    assert blunders, "a search without the tables makes no mistake in these positions"


def test_small_tables_are_used_beside_those_of_the_opening() -> None:
    searcher = Searcher(1)
    searcher.tables = built_tables(MILL, 6)
    for position in positions(MILL, 5):
        assert searcher.search(position, Limit(nodes=1)).info.tbhits


def test_only_rules_with_these_values_use_the_tables() -> None:
    assert opening_tables(Position(make_rules("mill", ["Repetition=0"]))) is not None
    for fields in (["NoRemovalPlies=100"], ["Flying=never"], ["Blocked=draws"]):
        assert opening_tables(Position(make_rules("mill", fields))) is None
    # The values of all moves are known only with more than ten men in hand.
    assert opening_tables(Position.of(MILL, (0b1111, 0b1111 << 8), (5, 5))) is None
    assert opening_tables(Position.of(MILL, (0b1111, 0b111 << 8), (5, 6), 1)) is not None


def test_levels_play_without_the_tables() -> None:
    for level in LEVELS:
        for position in positions(MILL, 4):
            moves = []
            for with_tables in (True, False):
                searcher = Searcher(1)
                searcher.opening = with_tables
                result = searcher.search(position, Limit(nodes=1_000), level=level)
                moves.append((result.move, result.nodes, result.info.tbhits))
            assert moves[0] == moves[1]


def test_a_damaged_file_is_named_with_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / rules_folder(MILL)
    shutil.copytree(ROOT / folder.name, folder)
    path = next(folder.iterdir())
    path.write_bytes(path.read_bytes()[:-3])
    monkeypatch.setattr(opening, "ROOT", tmp_path)
    opening._open.cache_clear()
    try:
        with pytest.raises(InputError, match="missing or damaged table; reinstall merels"):
            Searcher(1).search(Position(MILL), Limit(depth=1))
    finally:
        opening._open.cache_clear()


@pytest.mark.skipif(sys.platform == "win32", reason="limits the number of open files")
def test_a_file_that_cannot_be_opened_is_not_called_damaged() -> None:
    """In a former version, too few file descriptors led to the advice to reinstall merels."""
    import resource

    opening._open.cache_clear()
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    with open(os.devnull) as file:
        resource.setrlimit(resource.RLIMIT_NOFILE, (file.fileno() + 1, limits[1]))
        try:
            with pytest.raises(InputError, match="cannot read this table: Too many open files"):
                opening_tables(Position(MILL))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
            opening._open.cache_clear()


def test_an_option_switches_the_tables_off(tmp_path: Path) -> None:
    with Gui(environment={"MERELS_TABLES": str(tmp_path)}) as gui:
        for value, hits in (("true", 24), ("false", 0)):
            gui.send(f"setoption name OpeningTables value {value}")
            lines = gui.go("go depth 1", "position startpos")
            assert f" tbhits {hits} " in lines[-2]
