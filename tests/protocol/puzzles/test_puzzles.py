"""Puzzles made from tables: the command, the solutions, and files of puzzles."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from merels.engine.common.errors import InputError
from merels.engine.core.convert import encode_move
from merels.engine.game.notation import format_position, parse_position
from merels.engine.game.rules import make_rules
from merels.engine.tablebase.build import Builder
from merels.engine.tablebase.probe import Tables, open_tables
from merels.engine.tablebase.root_ranking import Choice
from merels.protocol.puzzles.puzzle import Puzzle, load
from merels.protocol.puzzles.search import _only_moves, puzzle_at
from tests.commands import call

RULES = make_rules("loc", ["LockedMills=any", "NoRemovalPlies=0"])
FLAGS = ("-variant", "loc", "-set", "LockedMills=any", "NoRemovalPlies=0")
COUNT = 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tables of a custom rule set: up to seven men, or six with men in hand."""
    root = tmp_path_factory.mktemp("tables")
    builder = Builder(root, RULES, depths=True)
    builder.build(7)
    builder.build(6, placing=True)
    return root


@pytest.fixture(scope="module")
def tables(folder: Path) -> Tables:
    """The tables in `folder`."""
    return open_tables(folder, RULES)


def run_puzzles(*words: object) -> subprocess.CompletedProcess[str]:
    """Run ``merels puzzles`` in a new process."""
    return call("puzzles", *map(str, words))


@pytest.fixture(scope="module")
def puzzle_file(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of `COUNT` puzzles, written by the command."""
    out = tmp_path_factory.mktemp("puzzles") / "puzzles.jsonl"
    done = run_puzzles("-count", COUNT, "-tables", folder, "-out", out, *FLAGS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{COUNT} puzzles, ")
    return out


def test_the_tables_prove_every_move_of_a_solution(puzzle_file: Path, tables: Tables) -> None:
    puzzles = load(puzzle_file)
    assert len(puzzles) == COUNT == len({format_position(puzzle.position) for puzzle in puzzles})
    assert {puzzle.goal for puzzle in puzzles} == {"win", "draw"}
    assert {sum(puzzle.position.hands) > 0 for puzzle in puzzles} == {True, False}
    for puzzle in puzzles:
        position = puzzle.position
        assert position.rules == RULES
        for step, move in enumerate(puzzle.line):
            values = {legal: entry.value for legal, entry in tables.moves(position) if entry}
            assert len(values) == len(position.legal_moves())
            if step % 2 == 0:
                right = {legal for legal, value in values.items() if value >= puzzle.value}
                assert right == {legal for legal in values if puzzle.solves(step, legal)}
                assert len(right) < len(values) and move in right
                if step == 0:
                    assert (puzzle.holding, puzzle.moves) == (len(right), len(values))
            else:
                assert values[move] == -puzzle.value == max(values.values())
            position = position.play(move)


def test_the_seed_determines_the_puzzles(folder: Path) -> None:
    def puzzles(seed: int) -> str:
        return run_puzzles("-count", 3, "-srand", seed, "-tables", folder, *FLAGS).stdout

    assert puzzles(1) == puzzles(1) != puzzles(2)
    assert len(puzzles(1).splitlines()) == 3


def test_the_rating_rises_with_depth_and_with_fewer_right_moves(tables: Tables) -> None:
    position = parse_position("********/O***@***/O***@@*O w 0 0 0 9", RULES)
    line = (position.legal_moves()[0],)

    def rating(holding: int, depth: int | None) -> int:
        return Puzzle(position, 1, line, (), holding, 16, depth).rating

    assert rating(1, 9) > rating(1, 3) > rating(4, 3) > rating(4, 1) == rating(4, None)


def test_a_position_with_two_different_winning_moves_is_no_puzzle(tables: Tables) -> None:
    # White wins by closing a7-d7-g7 from g4, or g1-g4-g7 from d7.
    position = parse_position("****@@**/*****@**/O*OO***O w 0 0 0 9", RULES)
    winning = {str(move) for move, entry in tables.moves(position) if entry and entry.value > 0}
    assert {"g4-g7xb2", "d7-g7xb2"} <= winning
    assert puzzle_at(tables, position) is None


def test_without_tables_an_error_names_the_command_that_builds_them(tmp_path: Path) -> None:
    done = run_puzzles("-tables", tmp_path, "-variant", "loc")
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert f"merels tables build -men 8 -depths -variant loc -dir {tmp_path}" in done.stderr


@pytest.mark.parametrize("out", ["missing/p.jsonl", "."])
def test_out_must_name_a_file_in_a_folder_that_exists(
    folder: Path, tmp_path: Path, out: str
) -> None:
    done = run_puzzles("-tables", folder, "-out", tmp_path / out, *FLAGS)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "expected the name of a file" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("change", [
    {"position": "x"}, {"line": []}, {"line": ["a1", "a1", "a1"]}, {"line": "d6"},
    {"equal": ["a1xa1"]}, {"goal": "loss"}, {"rules": "chess"}, {"holding": 0}, {"moves": "many"},
    {"depth": -3},
])
def test_an_error_in_a_file_of_puzzles_names_the_line(
    puzzle_file: Path, tmp_path: Path, change: dict[str, object]
) -> None:
    first, second, *_ = puzzle_file.read_text().splitlines()
    damaged = tmp_path / "damaged.jsonl"
    damaged.write_text(first + "\n" + json.dumps(json.loads(second) | change) + "\n")
    with pytest.raises(InputError, match=r"line 2 of .*damaged\.jsonl"):
        load(damaged)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_file_with_a_byte_order_mark_is_read(
    puzzle_file: Path, tmp_path: Path, encoding: str
) -> None:
    (tmp_path / "marked.jsonl").write_text(puzzle_file.read_text(), encoding=encoding)
    assert load(tmp_path / "marked.jsonl") == load(puzzle_file)


def test_a_file_without_puzzles_is_refused(tmp_path: Path) -> None:
    for content in (b"\0\xff\xfe", b"[1]\n", b"7\n", b"{}\n"):
        (tmp_path / "other").write_bytes(content)
        with pytest.raises(InputError):
            load(tmp_path / "other")


def test_the_quickest_of_equal_moves_is_the_solution() -> None:
    position = parse_position("****@@**/*****@**/O*OO***O w 0 0 0 9", RULES)
    moves = {str(move): move for move in position.legal_moves()}
    equal = [moves[text] for text in ("g4-g7xb2", "g4-g7xc3") if text in moves]
    others = [move for text, move in moves.items() if not text.startswith("g4-g7")][:4]
    assert len(equal) == 2 and len(others) == 4
    for depths in ((9, 3), (3, 9)):
        best = [Choice(encode_move(move), 1, depth, True) for move, depth in zip(equal, depths)]
        losing = [Choice(encode_move(move), -1, 5, True) for move in others]
        solution = _only_moves(position, 1, [*best, *losing])
        assert solution is not None and solution[1] == 6
        assert [choice.depth for choice in solution[0]] == [3, 9]
    # A draw is no puzzle if a loss is uncertain, a move wins or no move loses.
    draws = [Choice(encode_move(move), 0, None, True) for move in equal]
    lost = [Choice(encode_move(move), -1, 5, True) for move in others]
    assert _only_moves(position, 0, [*draws, *lost]) is not None
    assert _only_moves(position, 0, [*draws, *lost[1:], lost[0]._replace(certain=False)]) is None
    assert _only_moves(position, 0, [*draws, *lost[1:], lost[0]._replace(value=1)]) is None
    assert _only_moves(position, 0, draws * 2) is None
