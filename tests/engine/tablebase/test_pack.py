"""Packed tables have the values of their sources; damage is reported."""

from __future__ import annotations

import random
import threading
from pathlib import Path

import pytest

from merels.engine.common.errors import InputError
from merels.engine.core.convert import core_moves
from merels.engine.game.position import WHITE, Position
from merels.engine.game.rules import PRESETS, Rules, make_rules
from merels.engine.tablebase.build import Progress
from merels.engine.tablebase.files import (
    DEPTHS,
    PACKED,
    SUFFIX,
    TableError,
    file_name,
    open_table,
    rules_folder,
)
from merels.engine.tablebase.pack import Packer
from merels.engine.tablebase.packed import open_packed
from merels.engine.tablebase.probe import Tables, open_tables
from merels.engine.tablebase.root_ranking import rank_moves
from merels.engine.tablebase.sectors import Sector, placing_sectors, sectors
from merels.engine.tablebase.verify import Verifier
from merels.engine.training.samples import random_position
from tests.kit.tables import built_folder, built_tables, copy_tables

UNLIMITED = make_rules("morris", ["Repetition=0", "NoRemovalPlies=0"])
RULE_SETS = (UNLIMITED, PRESETS["loc"], PRESETS["multi"])
FOLDER = rules_folder(UNLIMITED)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tables of up to seven men of each rule set."""
    root = tmp_path_factory.mktemp("built")
    for rules in RULE_SETS:
        copy_tables(root, rules, 7)
    return root


def packed(root: Path, target: Path, rules: Rules, men: int = 7) -> Tables:
    """Pack tables; return them, opened with every check."""
    packer = Packer(root, target, rules, threads=2)
    packer.pack()
    assert not packer.problems and not packer.rebuilt
    tables = open_tables(target, rules, check=True)
    assert not tables.problems and tables.men == men
    return tables


@pytest.mark.parametrize("rules", RULE_SETS, ids=str)
def test_every_value_is_unpacked(built: Path, tmp_path: Path, rules: Rules) -> None:
    packed(built, tmp_path, rules)
    folder = rules_folder(rules)
    for sector in sectors(7):
        header, tables = open_table(built / folder / f"{sector}.wdl", rules, check=True)
        path = tmp_path / folder / file_name(sector, PACKED)
        packed_header, parts = open_packed(path, rules, True, [])
        assert packed_header.tallies == header.tallies
        assert packed_header.values_checksum == header.checksum
        for table, part in zip(tables, parts, strict=True):
            assert b"".join(part.blocks()) == table


@pytest.mark.parametrize("rules", RULE_SETS, ids=str)
def test_probes_of_packed_and_unpacked_tables_agree(
    built: Path, tmp_path: Path, rules: Rules
) -> None:
    tables, unpacked = packed(built, tmp_path, rules), open_tables(built, rules)
    chance = random.Random(str(rules))
    for own, opponent in ((3, 3), (4, 3), (3, 4)):
        for _ in range(300):
            position = random_position(rules, own, opponent, chance)
            assert tables.probe(position) == unpacked.probe(position), position
            assert tables.bounds(position) == unpacked.bounds(position), position
        moves = [list(each.moves(position)) for each in (tables, unpacked)]
        assert moves[0] == moves[1]
        assert rank_moves(tables, position, core_moves(position)) == rank_moves(
            unpacked, position, core_moves(position)
        )


def test_packed_values_with_men_in_hand_agree(tmp_path: Path) -> None:
    """Stored values agree, and so do searched values with an odd number of men in hand."""
    rules = PRESETS["multi"]
    unpacked = built_tables(rules, 6, depths=True, placing=True)
    tables = packed(built_folder(rules, 6, depths=True, placing=True), tmp_path, rules, 6)
    chance = random.Random(str(rules))
    placed = [sector for sector in placing_sectors(rules, 6) if sector.own + sector.opponent]
    assert {sector.hand for sector in placed} >= {1, 2, 3}
    for sector in placed:
        for _ in range(40):
            points = chance.sample(range(24), sector.own + sector.opponent)
            own, opponent = points[: sector.own], points[sector.own :]
            men = sum(1 << point for point in own), sum(1 << point for point in opponent)
            position = Position.of(rules, men, sector.hands, WHITE)
            stored = unpacked.probe(position)
            assert stored is not None
            assert tables.probe(position) == stored, position


def test_several_threads_may_probe_the_same_packed_tables(built: Path, tmp_path: Path) -> None:
    tables, unpacked = packed(built, tmp_path, UNLIMITED), open_tables(built, UNLIMITED)
    wrong: list[Position] = []

    def probe(seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(2000):
            position = random_position(UNLIMITED, *chance.choice(((4, 3), (3, 4))), chance)
            if tables.probe(position) != unpacked.probe(position):
                wrong.append(position)

    threads = [threading.Thread(target=probe, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("at, message", (
    (20, "damaged header; pack the table again"),
    (130, "damaged"),
    (-100, "damaged data (checksum differs); pack the table again"),
))
def test_a_damaged_file_is_refused(built: Path, tmp_path: Path, at: int, message: str) -> None:
    """The other sectors stay usable, and packing again repairs the file."""
    packed(built, tmp_path, UNLIMITED)
    path = tmp_path / FOLDER / "4-3.wdp"
    sound = path.read_bytes()
    data = bytearray(sound)
    data[at] ^= 1
    path.write_bytes(data)
    tables = open_tables(tmp_path, UNLIMITED)
    assert list(tables.headers) == [Sector(3, 3)]
    assert len(tables.problems) == 1 and f"{path}: {message}" in tables.problems[0]
    packer = Packer(built, tmp_path, UNLIMITED)
    packer.pack()
    assert packer.rebuilt == tables.problems
    assert path.read_bytes() == sound


def test_a_file_cut_off_or_of_other_rules_is_refused(built: Path, tmp_path: Path) -> None:
    packed(built, tmp_path, UNLIMITED)
    path = tmp_path / FOLDER / "4-3.wdp"
    data = path.read_bytes()
    for size in (0, 60, 128, 150, len(data) - 1):
        path.write_bytes(data[:size])
        with pytest.raises(TableError, match="cut off|cannot be mapped"):
            open_packed(path, UNLIMITED, False, [])
    path.write_bytes(data)
    with pytest.raises(TableError, match="made for rules other than"):
        open_packed(path, PRESETS["mill"], False, [])
    path.rename(path.with_name("3-3.wdp"))
    with pytest.raises(TableError, match="contains the table 4-3.wdp"):
        open_packed(path.with_name("3-3.wdp"), UNLIMITED, False, [])


def test_a_block_damaged_after_opening_has_no_values(built: Path, tmp_path: Path) -> None:
    """No wrong value is returned, and the file is named once."""
    tables = packed(built, tmp_path, UNLIMITED)
    unpacked = open_tables(built, UNLIMITED)
    path = tmp_path / FOLDER / "4-3.wdp"
    size = path.stat().st_size
    with open(path, "r+b") as file:
        file.seek(size // 2)
        file.write(bytes(size - size // 2))
    chance = random.Random(1)
    unknown = 0
    for _ in range(1000):
        position = random_position(UNLIMITED, *chance.choice(((4, 3), (3, 4))), chance)
        stored = tables.probe(position)
        unknown += stored is None
        assert stored in (None, unpacked.probe(position))
    assert 0 < unknown < 1000
    assert len(tables.problems) == 1
    assert f"{path}: damaged data (block " in tables.problems[0]


def test_a_second_packing_keeps_the_packed_files(built: Path, tmp_path: Path) -> None:
    """Files are packed again only if their sources have changed."""
    packed(built, tmp_path, UNLIMITED)
    paths = sorted((tmp_path / FOLDER).glob("*.wdp"))
    times = [path.stat().st_mtime_ns for path in paths]
    seen: list[Progress] = []
    assert sorted(Packer(built, tmp_path, UNLIMITED, report=seen.append).pack()) == paths
    assert [path.stat().st_mtime_ns for path in paths] == times
    assert all(progress.done == 0 for progress in seen)


def test_progress_rises_to_all_places(built: Path, tmp_path: Path) -> None:
    seen: list[Progress] = []
    Packer(built, tmp_path, UNLIMITED, report=seen.append).pack()
    done = [progress.done for progress in seen]
    assert done == sorted(done) and done[0] == 0 and len({*done}) > 4
    assert {progress.total for progress in seen} == {done[-1]}


def test_depths_are_copied_with_packed_values(tmp_path: Path) -> None:
    root = built_folder(UNLIMITED, 7, depths=True)
    tables, unpacked = packed(root, tmp_path, UNLIMITED), open_tables(root, UNLIMITED)
    chance = random.Random(2)
    for own, opponent in ((3, 3), (4, 3), (3, 4)):
        for _ in range(200):
            position = random_position(UNLIMITED, own, opponent, chance)
            assert tables.probe(position) == unpacked.probe(position)
    assert tables.has_all_depths
    copied = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.*")}
    assert any(path.suffix == SUFFIX[DEPTHS] for path in copied)
    packed(root, tmp_path, UNLIMITED)
    assert {path: path.stat().st_mtime_ns for path in copied} == copied


def test_a_damaged_source_is_not_packed(built: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / FOLDER).mkdir(parents=True)
    for name in ("3-3.wdl", "4-3.wdl"):
        data = bytearray((built / FOLDER / name).read_bytes())
        data[5000] ^= name == "4-3.wdl"
        (root / FOLDER / name).write_bytes(data)
    packer = Packer(root, tmp_path, UNLIMITED)
    assert [path.name for path in packer.pack()] == ["3-3.wdp"]
    assert len(packer.problems) == 1 and "4-3.wdl: damaged data" in packer.problems[0]


def test_nothing_to_pack_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no tables to pack; make them with merels tables build"):
        Packer(tmp_path, tmp_path, UNLIMITED).pack()


def test_verification_accepts_packed_tables(built: Path, tmp_path: Path) -> None:
    tables = packed(built, tmp_path, UNLIMITED)
    for result in Verifier(tables).check(Sector(3, 3)):
        assert (result.errors, result.complete) == (0, True)
