"""``merels tables``: the output and exit status of its commands."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from merels.engine.game.rules import PRESETS
from tests import commands
from tests.kit.tables import built_folder

main = commands.command("tables")
RULES = ["-variant", "morris", "-set", "Repetition=0", "-set", "NoRemovalPlies=0"]
SIX_MEN = "****O*@*/********/****@OO@ w 0 0 0 1"
UNREACHABLE = "********/********/******** w 3 3 0 1"
"""No game reaches this position, in which every placed man would have been removed."""


@pytest.fixture(scope="module")
def folder_flags(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Build tables of up to seven men; return the flags that select them."""
    root = tmp_path_factory.mktemp("tables")
    flags = [*RULES, "-dir", str(root), "-threads", "2"]
    assert main(["build", "-men", "7", "-depths", *flags]) == 0
    return flags


def run(capsys: pytest.CaptureFixture[str], words: list[str]) -> tuple[int, str, str]:
    """Run ``merels tables``; return its exit status, output and error output."""
    return commands.run(capsys, ["tables", *words])


def test_stats_prints_a_row_for_each_sector_and_side_to_move(
    folder_flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    status, output, _ = run(capsys, ["stats", *folder_flags])
    assert status == 0
    lines = [line.split() for line in output.splitlines() if line[0].isdigit()]
    assert lines == [
        ["3-3", "169626", "140621", "269", "28736", "26"],
        ["4-3", "760398", "75397", "681906", "3095", "10"],
        ["3-4", "760398", "102281", "658117", "0", "11"],
    ]
    _, output, _ = run(capsys, ["stats", "-json", *folder_flags])
    rows = json.loads(output)
    assert rows[0]["sector"] == "3-3" and rows[0]["longest_win"] == 25
    assert rows[2]["longest_loss"] is None


def test_verify_prints_a_line_for_each_table(
    folder_flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    status, output, _ = run(capsys, ["verify", *folder_flags])
    assert status == 0
    assert [line.split(":")[0] for line in output.splitlines()] == ["3-3", "4-3", "3-4"]
    assert output.count(" 0 wrong") == 3


def test_tables_of_the_placing_phase_are_built_once_counted_verified_and_probed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["-variant", "multi", "-dir", str(tmp_path), "-threads", "2"]
    build = ["build", "-men", "6", "-placing", *flags]
    status, output, _ = run(capsys, build)
    assert status == 0 and output.startswith("4 sectors, ")
    built = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.wdl")}
    assert {path.stem for path in built} == {"3-3", "2-2+2", "1-1+4", "0-0+6"}
    assert run(capsys, build)[0] == 0
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.wdl")} == built
    _, output, _ = run(capsys, ["stats", *flags])
    rows = [line.split() for line in output.splitlines()]
    assert ["in", "hand", "states", "wins", "draws", "losses"] in rows
    assert [row[1] for row in rows if row[0] == "2-2+2"] == ["4200"]
    status, output, _ = run(capsys, ["verify", *flags])
    assert status == 0 and output.count(" 0 wrong") == len(built)
    position = "********/********/OO***@@* w 1 1 0 1"
    status, output, _ = run(capsys, ["probe", position, *flags])
    assert status == 0 and output.splitlines()[0].split()[:2] == ["value", "win"]


def test_verify_reports_missing_tables(
    folder_flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    status, output, _ = run(capsys, ["verify", "-men", "7", *folder_flags])
    assert (status, output.count("no usable table")) == (0, 0)
    status, output, _ = run(capsys, ["verify", "-men", "8", *folder_flags])
    assert status == 1
    assert output.splitlines()[:2] == ["5-3: no usable table", "4-4: no usable table"]


def test_verify_finds_a_flipped_bit_and_build_repairs_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = [*RULES, "-dir", str(tmp_path)]
    assert main(["build", "-men", "7", *flags]) == 0
    [path] = tmp_path.glob("*/4-3.wdl")
    data = bytearray(path.read_bytes())
    data[1000] ^= 1
    path.write_bytes(data)
    status, _, error = run(capsys, ["verify", *flags])
    assert status == 1
    assert "4-3.wdl: damaged data" in error
    status, _, error = run(capsys, ["build", "-men", "7", *flags])
    assert status == 0 and "built again: " in error and "4-3.wdl: damaged data" in error
    assert run(capsys, ["build", "-men", "7", *flags])[::2] == (0, "")


def test_a_write_error_of_the_progress_bar_does_not_end_a_build(tmp_path: Path) -> None:
    if not Path("/dev/full").is_char_device():
        pytest.skip("needs /dev/full")
    words = ["tables", "build", "-men", "6", *RULES, "-dir", str(tmp_path)]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*commands.MERELS, *words], stdout=subprocess.PIPE, stderr=full, timeout=120
        )
    # 120: the interpreter could not write its own text to standard error at exit.
    assert done.returncode in (0, 120) and done.stdout.startswith(b"1 sector, ")


def test_probe_refuses_a_finished_game(
    folder_flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    finished = "OO******/********/@@@***** w 0 0 0 20"
    status, _, error = run(capsys, ["probe", finished, *folder_flags])
    assert status == 2 and "the game is over: Black wins, White has two men" in error


def test_probe_prints_the_value_and_all_moves_best_first(
    folder_flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    status, output, _ = run(capsys, ["probe", SIX_MEN, *folder_flags])
    assert status == 0
    lines = output.splitlines()
    assert lines[0] == "value       draw          (numbers: plies to the next removal or the end)"
    assert lines[1] == "a1-c3       draw          1 of 54 replies keep this value"
    assert lines[2].startswith("a4-c3       draw ")
    assert len(lines) == 1 + 54
    assert all(line.split()[1] == "loss" for line in lines[3:])
    depths = [int(line.split()[2]) for line in lines[3:]]
    assert depths == sorted(depths, reverse=True)


def test_probe_reads_the_tables_of_the_opening_where_no_others_have_the_position(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in (tmp_path, built_folder(PRESETS["mill"], 6)):
        status, output, _ = run(capsys, ["probe", "startpos", "-dir", str(folder)])
        lines = [line.split(maxsplit=2) for line in output.splitlines()]
        assert (status, lines[0], len(lines)) == (0, ["value", "draw"], 1 + 24)
        replies = "23 of 23 replies keep this value"
        assert all(words[1:] == ["draw", replies] for words in lines[1:])
    ten_in_hand = "****@@**/@*@*****/O**OO*** w 5 5 0 1"
    _, _, error = run(capsys, ["probe", ten_in_hand, "-dir", str(tmp_path)])
    assert "no usable tables here" in error


def test_probe_respects_the_plies_already_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The draw by ThreeThreePlies turns a late win into a draw."""
    flags = ["-variant", "mill", "-dir", str(tmp_path)]
    assert main(["build", "-men", "6", "-depths", *flags]) == 0
    late = "@*O*****/O@******/O@****** b 0 0 3 1"
    _, output, _ = run(capsys, ["probe", late, *flags])
    assert "now         draw (after 3 plies without a removal)" in output


def test_probe_names_the_missing_table_or_why_no_table_exists(
    folder_flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    eight_men = "****O*@*/******O@/****@OO@ w 0 0 0 1"
    root = folder_flags[folder_flags.index("-dir") + 1]
    status, _, error = run(capsys, ["probe", eight_men, *folder_flags])
    assert status == 2 and f"no table 4-4 in {root}; build it with" in error
    status, _, error = run(capsys, ["probe", UNREACHABLE, *folder_flags])
    assert status == 2 and "no game from the start leads to so few men" in error
    placing = "O@******/@*******/O*@***O* w 2 2 0 1"
    status, _, error = run(capsys, ["probe", placing, *folder_flags])
    missing = f"no table 3-3+4 in {root}; build all with merels tables build -all"
    assert status == 2 and missing in error
    status, _, error = run(capsys, ["probe", placing.replace("w 2 2", "w 2 4"), *folder_flags])
    assert status == 2 and "no table has these men in hand" in error


@pytest.mark.thorough
def test_packed_tables_give_the_same_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder_flags = [*RULES, "-dir", str(tmp_path)]
    assert main(["build", "-men", "7", *folder_flags]) == 0
    queries = (["stats", "-json"], ["probe", SIX_MEN], ["verify"])
    expected = [run(capsys, [*words, *folder_flags]) for words in queries]
    out = tmp_path / "packed"
    status, output, _ = run(capsys, ["pack", *folder_flags, "-out", str(out)])
    assert status == 0
    assert output.startswith("2 sectors, ") and f" bytes in {out}" in output
    packed = [run(capsys, [*words, *RULES, "-dir", str(out)]) for words in queries]
    assert [result[:2] for result in packed] == [result[:2] for result in expected]
