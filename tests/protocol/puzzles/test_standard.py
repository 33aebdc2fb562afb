"""The puzzles that come with merels: proofs with few men, themes, selection, filters."""

from __future__ import annotations

import gzip
import os
import shlex
import subprocess
import tracemalloc
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from merels.engine.common.errors import InputError
from merels.engine.game.notation import format_position, parse_move, parse_position
from merels.engine.game.rules import DEFAULT_RULES, PRESETS
from merels.engine.tablebase.probe import open_tables
from merels.engine.tablebase.verdict import PHASES, phase_of
from merels.protocol.puzzles.puzzle import LARGEST_FILE, Puzzle, load, pack, standard_puzzles
from merels.protocol.puzzles.search import before_block, puzzle_at
from merels.protocol.puzzles.selection import select
from merels.protocol.puzzles.themes import THEMES, has_double_mill, themes_of
from merels.protocol.puzzles.training import Trainer, Wanted
from tests.commands import MERELS
from tests.kit.tables import copy_tables

BLOCK = "@@O**O@@/O****O**/******** w 0 0 0 1"
"""White wins by leaving Black without a move."""
PROVEN_MEN = 8
"""Number of men up to which tables prove the puzzles of the moving phase again."""


def men(puzzle: Puzzle) -> int:
    """Return the number of men of both sides."""
    return puzzle.position.total(0) + puzzle.position.total(1)


def test_500_puzzles_of_the_default_rules_have_every_phase_goal_and_theme() -> None:
    puzzles = standard_puzzles()
    assert len(puzzles) >= 500
    assert len({format_position(puzzle.position) for puzzle in puzzles}) == len(puzzles)
    assert {puzzle.position.rules for puzzle in puzzles} == {DEFAULT_RULES}
    groups = Counter((phase_of(puzzle.position), puzzle.goal) for puzzle in puzzles)
    assert set(groups) == {(phase, goal) for phase in PHASES for goal in ("win", "draw")}
    assert min(groups.values()) >= 30, groups
    ratings = Counter(puzzle.rating // 200 for puzzle in puzzles)
    assert min(ratings[step] for step in range(4, 8)) >= 50, ratings
    themes = Counter(theme for puzzle in puzzles for theme in themes_of(puzzle))
    for theme in THEMES:
        assert themes[theme] >= 30, themes


@pytest.mark.thorough
def test_the_documented_commands_make_a_file_of_puzzles(tmp_path: Path) -> None:
    document = Path(__file__).parents[3] / "protocol" / "puzzles" / "FORMAT.md"
    commands = document.read_text().partition("These commands make it")[2].split("```")[1]
    # Smaller tables and fewer puzzles, but the same commands.
    for large, small in (
        ("-all -placing", "-men 7 -placing"), ("-men 10", "-men 8"), ("-count 600", "-count 10"),
        ("protocol/puzzles/standard.jsonl.gz", "made.jsonl.gz"),
    ):
        assert commands.count(large) == 1
        commands = commands.replace(large, small)
    environment = os.environ | {"MERELS_TABLES": str(tmp_path / "tables")}
    script = f'merels() {{ {shlex.join(MERELS)} "$@"; }}\n{commands}'
    done = subprocess.run(
        ["sh", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True,
    )
    assert done.returncode == 0 and "\n10 puzzles" in done.stdout, done.stderr
    puzzles = load(tmp_path / "made.jsonl.gz")
    assert len(set(puzzles)) == 10 and {puzzle.goal for puzzle in puzzles} == {"win", "draw"}


def test_a_block_that_wins_is_a_puzzle_but_a_mill_that_wins_is_not(tmp_path: Path) -> None:
    copy_tables(tmp_path, DEFAULT_RULES, PROVEN_MEN, depths=True)
    tables = open_tables(tmp_path, DEFAULT_RULES)
    puzzle = puzzle_at(tables, parse_position(BLOCK))
    assert puzzle is not None and len(puzzle.line) == 1 and "trap" in themes_of(puzzle)
    # White wins only by g4-g7, which leaves Black two men.
    assert puzzle_at(tables, parse_position("********/***O**@*/O*O@*@*O w 0 0 0 1")) is None


def test_a_position_before_a_block_has_a_move_that_blocks_the_opponent() -> None:
    starts = [before_block(DEFAULT_RULES, Random(seed)) for seed in range(200)]
    positions = [start for start in starts if start is not None]
    assert len(set(positions)) > 100
    for start in positions:
        assert max(start.total(0), start.total(1)) <= 9 and start.outcome() is None
        ends = [start.play(move).outcome() for move in start.legal_moves()]
        assert any(end is not None and end.reason == "blocked" for end in ends)


def test_tables_prove_the_puzzles_with_few_men(tmp_path: Path) -> None:
    copy_tables(tmp_path, DEFAULT_RULES, PROVEN_MEN, depths=True)
    tables = open_tables(tmp_path, DEFAULT_RULES)
    puzzles = [puzzle for puzzle in standard_puzzles()
               if not any(puzzle.position.hands) and men(puzzle) <= PROVEN_MEN]
    assert len(puzzles) >= 20
    for puzzle in puzzles:
        assert puzzle_at(tables, puzzle.position) == puzzle


@pytest.mark.parametrize(("text", "goal", "holding", "moves", "themes"), [
    ("**@O*@O@/@**@O@OO/@O**OOO@ w 0 0 0 1", "win", 2,
     "e3-d3xb2", "moving mill double"),
    ("***@@O@*/*@@****O/OOOOOO*O b 0 1 0 1", "draw", 1,
     "f2xc3", "placing draw mill removal"),
    ("****OOOO/O@*@O***/@@@@O**@ b 0 0 0 1", "win", 1,
     "a7-a4", "moving quiet fork"),
    ("@@O*@OO*/*O@@@O@*/***OOO** w 1 1 0 1", "win", 2,
     "c5xb4", "placing mill block"),
    ("***@@@**/@****@*O/OO@*@OOO b 0 0 0 1", "win", 1,
     "b2-b4", "moving quiet trap"),
    ("***@O*OO/**@*O*@O/****O**@ w 0 0 0 1", "win", 1,
     "d3-c3xb4 a7-d3 c4-b4 e3-b2 b4-c4xb2", "moving mill removal long"),
])
def test_themes_follow_from_the_position_and_the_line(
    text: str, goal: str, holding: int, moves: str, themes: str
) -> None:
    line = tuple(map(parse_move, moves.split()))
    puzzle = Puzzle(parse_position(text), int(goal == "win"), line, (), holding, 12, None)
    assert themes_of(puzzle) == tuple(themes.split())


def test_a_double_mill_closes_a_mill_on_each_move_of_one_man() -> None:
    # d2 leaves d1-d2-d3 for b2-b4-b6, unless b2 is occupied, White has men in hand or b6 is empty.
    for text, expected in (
        ("****O***/****O*OO/****O*** w 0 0 0 20", True),
        ("****O***/****O@OO/****O*** w 0 0 0 20", False),
        ("****O***/****O*OO/****O*** w 1 1 0 20", False),
        ("****O***/****O*O*/****O*** w 0 0 0 20", False),
    ):
        assert has_double_mill(parse_position(text), 0) == expected


def test_a_selection_has_equal_shares_and_can_be_repeated() -> None:
    puzzles = list(standard_puzzles())
    chosen = select(puzzles, 60)
    assert chosen == select(puzzles, 60) and len(set(chosen)) == 60
    shares = Counter((phase_of(puzzle.position), puzzle.goal) for puzzle in chosen)
    assert set(shares.values()) == {10}
    assert [puzzle.rating for puzzle in chosen] == sorted(puzzle.rating for puzzle in chosen)
    assert len(select(puzzles[:5], 60)) == 5


def test_a_packed_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl.gz"
    puzzles = list(standard_puzzles()[:3])
    text = "".join(puzzle.to_json(themes_of(puzzle)) + "\n" for puzzle in puzzles)
    path.write_bytes(pack(text, path))
    assert load(path) == puzzles
    assert pack(text, path) == path.read_bytes(), "the same puzzles make the same file"
    for damaged in (path.read_bytes()[:-9], path.read_bytes()[:30] + b"x" * 30):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match="some.jsonl.gz"):
            load(path)


@pytest.mark.parametrize("packed", [True, False])
def test_a_huge_file_of_puzzles_is_refused_and_not_unpacked(packed: bool, tmp_path: Path) -> None:
    path, count = tmp_path / "some.jsonl.gz", 64
    part = bytes(1 << 20)
    with open(path, "wb") as file:
        for _ in range(count):
            file.write(gzip.compress(part) if packed else part)
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="some.jsonl.gz.*at most 16 MiB"):
            load(path)
        assert tracemalloc.get_traced_memory()[1] < 3 * LARGEST_FILE
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("theme", ["double", "draw", "flying"])
def test_a_trainer_gives_puzzles_of_a_theme_and_a_range_of_ratings(theme: str) -> None:
    trainer = Trainer(standard=True)
    for low, high in ((0, 1199), (1200, 9999)):
        wanted = Wanted(theme, low, high)
        given = [trainer.next(DEFAULT_RULES, wanted).puzzle for _ in range(6)]
        assert all(low <= puzzle.rating <= high and theme in themes_of(puzzle) for puzzle in given)
        assert len(set(given)) == 6
    with pytest.raises(InputError, match="no puzzle has this theme and rating"):
        trainer.next(DEFAULT_RULES, Wanted(theme, 9000))


def test_other_rules_have_no_stored_puzzles() -> None:
    trainer = Trainer(standard=True)
    assert len(trainer.stored(DEFAULT_RULES)) == len(standard_puzzles())
    assert not trainer.stored(PRESETS["loc"]) and not Trainer().stored(DEFAULT_RULES)
    counts = trainer.count_themes(DEFAULT_RULES)
    assert counts["double"][0] >= 30
    assert all(row[0] == sum(row[1:]) for row in counts.values()), "ranges do not overlap"
    assert counts[""][0] == len(standard_puzzles())
