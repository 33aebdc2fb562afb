"""Table files: index, atomic writing, resuming, damaged and foreign files, small tables."""

from __future__ import annotations

import errno
import os
import random
import subprocess
import sys
import zlib
from collections.abc import Callable
from math import comb
from pathlib import Path

import pytest

from merels.engine.common import saving
from merels.engine.common.errors import InputError
from merels.engine.core import core, solver
from merels.engine.core.convert import core_rules
from merels.engine.game.board import SIZE, SYMMETRIES
from merels.engine.game.position import Position
from merels.engine.game.rules import PRESETS, make_rules
from merels.engine.tablebase import files
from merels.engine.tablebase.build import Builder, Progress
from merels.engine.tablebase.files import (
    DEPTHS,
    VALUES,
    copy_slice,
    file_name,
    parse_header,
    rules_folder,
)
from merels.engine.tablebase.probe import open_tables
from merels.engine.tablebase.sectors import Sector, placing_sectors, sectors
from merels.engine.tablebase.small import MAX_RULE_SETS, small_tables
from merels.engine.tablebase.storage import locked
from tests.kit.tables import copy_tables

posix = pytest.mark.skipif(os.name != "posix", reason="needs pipes and symbolic links")

RULES = make_rules("mill")
FOLDER = rules_folder(RULES)


def last_change(path: Path) -> int:
    """Return the time of a file's last change in nanoseconds."""
    return path.stat().st_mtime_ns


def orbits(men: int) -> int:
    """Return the number of classes of masks of ``men`` men, by Burnside's lemma."""
    fixed = 0
    for symmetry in SYMMETRIES:
        counts, seen = [1] + [0] * SIZE, set[int]()
        for point in range(SIZE):
            length = 0
            while point not in seen:
                seen.add(point)
                point, length = symmetry[point], length + 1
            if length:
                counts = [a + b for a, b in zip(counts, [0] * length + counts)]
        fixed += counts[men]
    return fixed // len(SYMMETRIES)


def test_the_size_of_the_index_agrees_with_burnsides_lemma() -> None:
    for men in range(3, 10):
        assert core.table_places(men, 0) == orbits(men)
    for sector in sectors():
        places = orbits(sector.own) * comb(SIZE - sector.own, sector.opponent)
        assert sector.table_places == places
    # This total is in Gasser, "Solving Nine Men's Morris" (1996).
    assert sum(sector.places for sector in sectors()) == 9_074_932_579


@pytest.mark.parametrize("own, opponent", ((3, 3), (9, 3), (3, 9), (7, 6), (6, 7), (8, 8)))
def test_the_index_round_trips(own: int, opponent: int) -> None:
    """The board at a place has the value at this place, in tables of random values."""
    places, chance = core.table_places(own, opponent), random.Random(own * opponent)
    values = [chance.randbytes((places + 3) // 4) for _ in range(2)]
    tables = [core.TableSet(core_rules(PRESETS["morris"])) for _ in values]
    for table, data in zip(tables, values):
        table.add([(own, opponent, 0, data, None)])
    for place in {*range(0, places, places // 3000 + 1), places - 1}:
        men = core.table_board(own, opponent, place)
        assert men[0] & men[1] == 0
        assert (men[0].bit_count(), men[1].bit_count()) == (own, opponent)
        for table, data in zip(tables, values):
            value = (0, 1, -1, None)[data[place >> 2] >> 2 * (place & 3) & 3]
            found = table.probe((*men, 0, 0, 0))
            assert (found and found[0]) == value


@pytest.mark.parametrize("double_mill", ("one", "each"))
def test_placements_lead_from_placing_sectors_only_to_placing_sectors(double_mill: str) -> None:
    """A placement may have any legal number of removals."""
    listed = placing_sectors(make_rules("morris", [f"DoubleMill={double_mill}"]))
    assert len(listed) == (305 if double_mill == "one" else 390)
    assert listed == sorted(listed, key=lambda sector: (sector.hand, sector.own, sector.opponent))
    reached = {Sector(0, 0, 18)}
    for hand in range(18, 1, -1):
        for own, opponent, _ in [sector for sector in reached if sector.hand == hand]:
            placed = 9 - (hand + 1) // 2 + 1
            removable = 0 if placed < 3 else 2 if double_mill == "each" and placed >= 5 else 1
            for removed in range(min(removable, opponent) + 1):
                after = Sector(opponent - removed, own + 1, hand - 1)
                if after.own + after.hands[0] >= 3:
                    reached.add(after)
    # The list depends only on numbers of men, so it has a few sectors that play does not reach.
    assert reached <= set(listed)
    assert {sector for sector in listed if sector.hand > 12} <= reached


@pytest.mark.parametrize(("start", "end"), [(0, 3), (2, 9), (3, 3), (4, 2), (7, 8), (0, 5)])
def test_copy_slice_equals_slicing(start: int, end: int) -> None:
    data = b"table"
    assert copy_slice(memoryview(data), start, end) == data[start:end]


def test_a_second_build_keeps_the_finished_files(tmp_path: Path) -> None:
    """Finished sectors are not solved again; a damaged one is solved again and named."""
    copy_tables(tmp_path, RULES, 8)
    folder = tmp_path / FOLDER
    changes = {path.name: last_change(path) for path in folder.glob("*.wdl")}
    assert set(changes) == {"3-3.wdl", "4-3.wdl", "5-3.wdl", "4-4.wdl"}
    damaged = folder / "4-3.wdl"
    sound = damaged.read_bytes()
    damaged.write_bytes(sound[:5000] + bytes([sound[5000] ^ 4]) + sound[5001:])
    builder = Builder(tmp_path, RULES)
    tables = builder.build(8)
    assert damaged.read_bytes() == sound
    changed = [name for name, when in changes.items() if last_change(folder / name) != when]
    assert changed == ["4-3.wdl"]
    assert len(builder.rebuilt) == 1 and not tables.problems
    assert "4-3.wdl: damaged data" in builder.rebuilt[0]


def test_depths_are_added_to_values(tmp_path: Path) -> None:
    """A build with depths completes tables that were built without; the values stay the same."""
    copy_tables(tmp_path, RULES, 7)
    values = (tmp_path / FOLDER / "4-3.wdl").read_bytes()
    tables = Builder(tmp_path, RULES, depths=True).build(7)
    assert tables.has_depths(3, 4)
    assert (tmp_path / FOLDER / "4-3.wdl").read_bytes() == values


@pytest.mark.parametrize(
    "change, message",
    (
        (lambda data: data[:60], "cut off within its header"),
        (lambda data: data[:-1], "cut off or damaged"),
        (lambda data: data + b"x", "cut off or damaged"),
        (lambda data: b"MERELSTC" + data[8:], "not a table"),
        (lambda data: data[:8] + b"\x09\x00" + data[10:], "format version 9"),
        (lambda data: data[:30] + bytes([data[30] ^ 1]) + data[31:], "damaged header"),
        (lambda data: data[:900] + bytes([data[900] ^ 1]) + data[901:], "damaged data"),
    ),
)
def test_bad_files_are_named_and_skipped(
    tmp_path: Path, change: Callable[[bytes], bytes], message: str
) -> None:
    copy_tables(tmp_path, RULES, 7)
    path = tmp_path / FOLDER / file_name(Sector(4, 3), VALUES)
    path.write_bytes(change(path.read_bytes()))
    tables = open_tables(tmp_path, RULES)
    assert len(tables.problems) == 1
    assert str(path) in tables.problems[0] and message in tables.problems[0]
    assert tables.men == 6
    assert tables.probe(Position.of(RULES, (0b111, 0b111000), (0, 0))) is not None
    assert tables.probe(Position.of(RULES, (0b111, 0b1111000), (0, 0))) is None


@posix
def test_a_pipe_in_the_folder_of_tables_does_not_block_and_is_named(tmp_path: Path) -> None:
    path = tmp_path / FOLDER / "3-3.wdl"
    path.parent.mkdir()
    os.mkfifo(path)
    program = (
        "import sys; from pathlib import Path; from merels.engine.game.rules import make_rules; "
        "from merels.engine.tablebase.probe import open_tables; "
        "print(*open_tables(Path(sys.argv[1]), make_rules('mill')).problems)"
    )
    words = [sys.executable, "-c", program, str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == f"{path}: not a regular file\n"


@posix
def test_a_table_may_be_a_symbolic_link(tmp_path: Path) -> None:
    copy_tables(tmp_path, RULES, 6)
    [path] = (tmp_path / FOLDER).glob("*.wdl")
    path.rename(tmp_path / "moved")
    path.symlink_to(tmp_path / "moved")
    tables = open_tables(tmp_path, RULES)
    assert (tables.problems, tables.men) == ([], 6)


@posix
def test_a_link_at_the_lock_of_the_tables_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "created")
    reason = os.strerror(errno.ELOOP)
    with pytest.raises(InputError, match=f"cannot create and lock this file: {reason};"):
        with locked(tmp_path):
            pass
    assert not (tmp_path / "created").exists()


def test_a_folder_without_locks_is_refused_with_the_reason_of_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(descriptor: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(saving, "lock", refuse)
    with pytest.raises(InputError, match=os.strerror(errno.ENOLCK)), locked(tmp_path):
        pass
    assert not list(tmp_path.iterdir())


def with_header(data: bytes, changes: dict[int, bytes]) -> bytes:
    """Return a file with some bytes of its header changed and the header's checksum corrected."""
    header = bytearray(data[: files.HEADER_SIZE - 4])
    for at, change in changes.items():
        header[at : at + len(change)] = change
    return bytes(header) + zlib.crc32(header).to_bytes(4, "little") + data[files.HEADER_SIZE :]


@pytest.mark.parametrize(
    "changes, message",
    (
        ({10: b"\x09"}, "no table has kind 9"),
        ({11: b"\xc8\xc8"}, "200 and 200 men"),
        ({11: b"\x03\x04"}, "3 and 4 men"),
        ({11: b"\x02\x02"}, "2 and 2 men"),
        ({11: b"\x03\x03", 18: b"\x13"}, "3 and 3 men, 19 in hand"),
        ({10: b"\x02", 13: b"\x01", 18: b"\x06"}, "kind 2, 3 and 3 men, 6 in hand"),
        ({13: b"\x01", 18: b"\x06"}, "contains the table 3-3+6.wdl; rename the file to that"),
        ({13: b"\x02", 18: b"\x06"}, "expected the number of tables 1, found 2"),
        ({13: b"\xff"}, "found 255"),
        ({13: b"\x00"}, "found 0"),
        ({14: b"\xff\xff\xff\xff"}, "made for rules other than"),
        ({40: (1 << 60).to_bytes(8, "little")}, "bytes instead of 288230376151711872"),
        ({40: b"\xff" * 8}, "bytes instead of"),
        ({40: bytes(8)}, "bytes instead of"),
    ),
)
def test_a_valid_checksum_does_not_make_a_wrong_header_valid(
    tmp_path: Path, changes: dict[int, bytes], message: str
) -> None:
    """The sizes in a header are checked before memory is allocated."""
    copy_tables(tmp_path, RULES, 6)
    path = tmp_path / FOLDER / file_name(Sector(3, 3), VALUES)
    path.write_bytes(with_header(path.read_bytes(), changes))
    tables = open_tables(tmp_path, RULES)
    assert len(tables.problems) == 1 and message in tables.problems[0]
    assert not tables.headers


def test_the_unused_value_3_is_unknown(tmp_path: Path) -> None:
    """A valid file with all bits set has no values."""
    copy_tables(tmp_path, RULES, 6)
    path = tmp_path / FOLDER / file_name(Sector(3, 3), VALUES)
    data = b"\xff" * (path.stat().st_size - files.HEADER_SIZE)
    sound = path.read_bytes()[: files.HEADER_SIZE]
    path.write_bytes(with_header(sound + data, {28: zlib.crc32(data).to_bytes(4, "little")}))
    tables = open_tables(tmp_path, RULES)
    assert not tables.problems
    assert tables.probe(Position.of(RULES, (0b111, 0b111000), (0, 0))) is None


def test_a_table_in_a_wrong_folder_or_with_a_wrong_name_is_refused(tmp_path: Path) -> None:
    copy_tables(tmp_path, RULES, 6)
    other = make_rules("morris")
    (tmp_path / rules_folder(other)).mkdir()
    data = (tmp_path / FOLDER / "3-3.wdl").read_bytes()
    (tmp_path / rules_folder(other) / "3-3.wdl").write_bytes(data)
    tables = open_tables(tmp_path, other)
    assert "made for rules other than" in tables.problems[0]
    assert not tables.headers
    (tmp_path / FOLDER / "4-3.wdl").write_bytes(data)
    assert "contains the table 3-3.wdl" in open_tables(tmp_path, RULES).problems[0]


def test_the_folder_of_one_rule_set_is_no_folder_of_tables(tmp_path: Path) -> None:
    """In a former version, the engine played without tables, and did not report why."""
    copy_tables(tmp_path, RULES, 6)
    tables = open_tables(tmp_path / FOLDER, RULES)
    assert not tables.headers and len(tables.problems) == 1
    assert "give the folder that contains this folder" in tables.problems[0]
    assert open_tables(tmp_path, RULES).problems == []
    assert open_tables(tmp_path / "missing", RULES).problems == []


def test_depths_of_other_values_are_refused(tmp_path: Path) -> None:
    """A file of depths is used only with the values of the same rules and the same build."""
    other_rules = make_rules("mill", ["ThreeThreePlies=3"])
    copy_tables(tmp_path, RULES, 6, depths=True)
    copy_tables(tmp_path, other_rules, 6, depths=True)
    path = tmp_path / FOLDER / file_name(Sector(3, 3), DEPTHS)
    values = parse_header((tmp_path / FOLDER / file_name(Sector(3, 3), VALUES)).read_bytes(), path)
    data = path.read_bytes()
    assert parse_header(data, path).values_checksum == values.checksum
    for foreign, message in (
        ((tmp_path / rules_folder(other_rules) / path.name).read_bytes(), "rules other than"),
        (with_header(data, {32: b"else"}), "made for another table of values"),
    ):
        path.write_bytes(foreign)
        tables = open_tables(tmp_path, RULES)
        assert len(tables.problems) == 1 and message in tables.problems[0]
        assert not tables.has_depths(3, 3)
    stored = tables.probe(Position.of(RULES, (0b111, 0b111000), (0, 0)))
    assert stored and stored.depth is None


def test_the_repetition_limit_does_not_change_the_tables() -> None:
    """The limit on repetition affects no value, so it is not in the folder's name."""
    assert rules_folder(make_rules("mill", ["Repetition=0"])) == FOLDER


def test_a_sector_that_exceeds_the_memory_limit_is_refused(tmp_path: Path) -> None:
    """Without a limit, every sector fits into 12 GiB."""
    with pytest.raises(InputError) as caught:
        Builder(tmp_path, RULES, memory=1 << 20).build(6)
    assert "GiB of memory; raise the limit" in str(caught.value)
    assert max(solver.sector_memory(*sector[:2], True) for sector in sectors()) < 12 * 2**30


def test_reported_progress_never_decreases(tmp_path: Path) -> None:
    reports: list[Progress] = []
    Builder(tmp_path, RULES, report=reports.append).build(8)
    assert reports
    assert all(0 <= report.done <= report.total for report in reports)
    assert [report.done for report in reports] == sorted(report.done for report in reports)


def test_small_tables_are_built_automatically(tmp_path: Path) -> None:
    """A second call uses the same files. Without a writable folder there are no tables."""
    tables = small_tables(RULES, tmp_path / "cache")
    assert tables is not None and tables.men == 7 and tables.has_depths(4, 3)
    when = last_change(tmp_path / "cache" / FOLDER / "3-3.wdl")
    again = small_tables(RULES, tmp_path / "cache")
    assert again is not None and last_change(tmp_path / "cache" / FOLDER / "3-3.wdl") == when
    (tmp_path / "file").write_text("in the way")
    assert small_tables(RULES, tmp_path / "file" / "below") is None


def test_small_tables_of_many_rule_sets_do_not_fill_the_disk(tmp_path: Path) -> None:
    def make(name: str, age: int, *more: str) -> Path:
        """Make a folder that looks as if small tables were built there ``age`` seconds ago."""
        folder = tmp_path / name
        folder.mkdir()
        for file in ("lock", "3-3.wdl", "3-3.dtl", "4-3.wdl", "4-3.dtl", *more):
            (folder / file).touch()
        os.utime(folder, (1e9 - age, 1e9 - age))
        return folder

    old = [make(f"own-any-one-loses-{1000 + age}-0", age) for age in range(MAX_RULE_SETS + 3)]
    preset = make(rules_folder(PRESETS["loc"]), 10_000)
    built = make("own-any-one-loses-9000-0", 10_000, "5-3.wdl")
    other = make("the user's", 10_000)
    with locked(old[-1]):
        assert small_tables(make_rules("mill", ["NoRemovalPlies=90"]), tmp_path) is not None
    # The new folder counts, too, and the locked folder is not removed.
    kept = [folder for folder in old if folder.exists()]
    assert kept == [*old[: MAX_RULE_SETS - 1], old[-1]]
    assert preset.exists() and built.exists() and other.exists()
    assert len(list(built.iterdir())) == 6


@posix
def test_small_tables_behind_a_symbolic_link_are_not_removed(tmp_path: Path) -> None:
    root, other = tmp_path / "root", tmp_path / "other"
    root.mkdir()
    for number in range(MAX_RULE_SETS + 1):
        folder = other / f"own-any-one-loses-{1000 + number}-0"
        folder.mkdir(parents=True)
        (folder / "3-3.wdl").touch()
        (root / folder.name).symlink_to(folder)
    assert small_tables(make_rules("mill", ["NoRemovalPlies=90"]), root) is not None
    assert all((folder / "3-3.wdl").exists() for folder in other.iterdir())


def test_small_tables_of_a_preset_do_not_count(tmp_path: Path) -> None:
    """Building a preset's tables must not remove one of `MAX_RULE_SETS` other rule sets."""
    folders = [tmp_path / f"own-any-one-loses-{1000 + number}-0" for number in range(MAX_RULE_SETS)]
    for folder in folders:
        folder.mkdir()
        (folder / "3-3.wdl").touch()
    assert small_tables(PRESETS["loc"], tmp_path) is not None
    assert all(folder.exists() for folder in folders)
