"""Puzzles made from tables: by the command, and what holds of each of them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from merels.engine.common.errors import InputError
from merels.engine.game.notation import format_position, parse_position
from merels.engine.game.rules import make_rules
from merels.engine.tablebase.build import Builder
from merels.engine.tablebase.probe import Tables, open_tables
from merels.engine.tablebase.root_ranking import Choice
from merels.protocol.puzzles.puzzle import Puzzle, load
from merels.protocol.puzzles.search import _only, puzzle_at

RULES = make_rules("loc", ["LockedMills=any", "NoRemovalPlies=0"])
FLAGS = ("-variant", "loc", "-set", "LockedMills=any", "NoRemovalPlies=0")
COUNT = 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables of up to seven men, and of six with men in hand, of rules that are no preset."""
    root = tmp_path_factory.mktemp("tables")
    builder = Builder(root, RULES, depths=True)
    builder.build(7)
    builder.build(6, placing=True)
    return root


@pytest.fixture(scope="module")
def tables(folder: Path) -> Tables:
    """The same, open."""
    return open_tables(folder, RULES)


def merels(*words: object) -> subprocess.CompletedProcess[str]:
    """A finished ``merels puzzles``."""
    return subprocess.run(
        [sys.executable, "-m", "merels.tournament.commands.main", "puzzles", *map(str, words)],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip


@pytest.fixture(scope="module")
def file(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of puzzles."""
    out = tmp_path_factory.mktemp("puzzles") / "puzzles.jsonl"
    done = merels("-count", COUNT, "-tables", folder, "-out", out, *FLAGS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{COUNT} puzzles, ")
    return out


def test_the_tables_prove_every_move_of_a_solution(file: Path, tables: Tables) -> None:
    puzzles = load(file)
    assert len(puzzles) == COUNT == len({format_position(one.position) for one in puzzles})
    assert {one.goal for one in puzzles} == {"win", "draw"}
    assert {sum(one.position.hands) > 0 for one in puzzles} == {True, False}
    for puzzle in puzzles:
        position = puzzle.position
        assert position.rules == RULES
        for step, move in enumerate(puzzle.line):
            values = {one: known.value for one, known in tables.moves(position) if known}
            assert len(values) == len(position.legal_moves())
            if step % 2 == 0:
                right = {one for one, value in values.items() if value >= puzzle.value}
                assert right == {one for one in values if puzzle.solves(step, one)}
                assert len(right) < len(values) and move in right
                if step == 0:
                    assert (puzzle.holding, puzzle.moves) == (len(right), len(values))
            else:
                assert values[move] == -puzzle.value == max(values.values())
            position = position.play(move)


def test_a_seed_makes_the_same_puzzles_and_another_one_others(folder: Path) -> None:
    def made(seed: int) -> str:
        return merels("-count", 3, "-srand", seed, "-tables", folder, *FLAGS).stdout

    assert made(1) == made(1) != made(2)
    assert len(made(1).splitlines()) == 3


def test_fewer_and_deeper_moves_make_a_higher_rating(tables: Tables) -> None:
    position = parse_position("********/O***@***/O***@@*O w 0 0 0 9", RULES)
    line = (position.legal_moves()[0],)

    def rating(holding: int, depth: int | None) -> int:
        return Puzzle(position, 1, line, (), holding, 16, depth).rating

    assert rating(1, 9) > rating(1, 3) > rating(4, 3) > rating(4, 1) == rating(4, None)


def test_a_position_with_two_ways_is_no_puzzle(tables: Tables) -> None:
    # White closes a7-d7-g7 from below, or g7-g4-g1 from the side.
    position = parse_position("****@@**/*****@**/O*OO***O w 0 0 0 9", RULES)
    winning = {str(move) for move, known in tables.moves(position) if known and known.value > 0}
    assert {"g4-g7xb2", "d7-g7xb2"} <= winning
    assert puzzle_at(tables, position) is None


def test_without_tables_a_line_says_what_to_build(tmp_path: Path) -> None:
    done = merels("-tables", tmp_path, "-variant", "loc")
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert f"merels tables build -men 8 -depths -variant loc -dir {tmp_path}" in done.stderr


def test_no_rules_without_a_future_have_puzzles() -> None:
    done = merels("-set", "Repetition=1")
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "Repetition=1" in done.stderr


@pytest.mark.parametrize(("out", "words"), [
    ("missing/p.jsonl", "expected the name of a file"), (".", "expected the name of a file"),
])
def test_an_impossible_file_is_refused_at_once(
    folder: Path, tmp_path: Path, out: str, words: str
) -> None:
    done = merels("-tables", folder, "-out", tmp_path / out, *FLAGS)
    assert done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("change", [
    {"position": "x"}, {"line": []}, {"line": ["a1", "a1", "a1"]}, {"line": "d6"},
    {"equal": ["a1xa1"]}, {"goal": "loss"}, {"rules": "chess"}, {"holding": 0}, {"moves": "many"},
    {"depth": -3},
])
def test_a_spoilt_file_is_named_with_its_line(
    file: Path, tmp_path: Path, change: dict[str, object]
) -> None:
    first, second, *_ = file.read_text().splitlines()
    spoilt = tmp_path / "spoilt.jsonl"
    spoilt.write_text(first + "\n" + json.dumps(json.loads(second) | change) + "\n")
    with pytest.raises(InputError, match=r"spoilt\.jsonl:2"):
        load(spoilt)


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    for content in (b"\xff\xfe", b"[1]\n", b"7\n", b"{}\n"):
        (tmp_path / "other").write_bytes(content)
        with pytest.raises(InputError):
            load(tmp_path / "other")


def test_of_moves_with_the_same_effect_the_quickest_is_the_solution() -> None:
    position = parse_position("****@@**/*****@**/O*OO***O w 0 0 0 9", RULES)
    moves = {str(move): move for move in position.legal_moves()}
    same = [moves[text] for text in ("g4-g7xb2", "g4-g7xc3") if text in moves]
    others = [move for text, move in moves.items() if not text.startswith("g4-g7")][:4]
    assert len(same) == 2 and len(others) == 4
    for depths in ((9, 3), (3, 9)):
        best = [Choice(move, 1, depth, True) for move, depth in zip(same, depths)]
        found = _only(position, 1, [*best, *(Choice(move, -1, 5, True) for move in others)])
        assert found is not None and found[1] == 6
        assert [choice.depth for choice in found[0]] == [3, 9]
    # A win among moves that are to hold a draw, or a loss that is not certain: no puzzle.
    draws = [Choice(move, 0, None, True) for move in same]
    lost = [Choice(move, -1, 5, True) for move in others]
    assert _only(position, 0, [*draws, *lost]) is not None
    assert _only(position, 0, [*draws, *lost[1:], lost[0]._replace(certain=False)]) is None
    assert _only(position, 0, [*draws, *lost[1:], lost[0]._replace(value=1)]) is None
    assert _only(position, 0, draws * 2) is None
