"""Strength levels: overlooked threats, and the variety of their games."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from merels.engine.game.board import POINTS
from merels.engine.game.notation import play_moves
from merels.engine.game.position import Move, Position
from merels.engine.search.levels import LEVELS, Level
from merels.engine.search.limits import Limit
from merels.engine.search.searcher import Searcher

SEEDS = range(1, 41)
OPEN_MILL = play_moves(Position(), "a1 d6 d1 f4".split())
"""White can close a mill with g1."""
THREAT = play_moves(Position(), "d6 a1 f4 d1".split())
"""Black closes a mill with g1, unless White places there."""


def answers(level: Level, position: Position, seeds: Iterable[int]) -> list[Move]:
    """Return a level's move in a position for each seed."""
    searcher, moves = Searcher(4), []
    for seed in seeds:
        move = searcher.search(position, Limit(nodes=5000), level=replace(level, seed=seed)).move
        assert move is not None
        moves.append(move)
    return moves


def opening(level: Level, seed: int, plies: int = 6) -> list[str]:
    """Return the first moves of a level's game against itself."""
    searcher, position, moves = Searcher(4), Position(), []
    for _ in range(plies):
        move = searcher.search(position, Limit(nodes=5000), level=replace(level, seed=seed)).move
        assert move is not None
        moves.append(str(move))
        position = position.push(move)
    return moves


@pytest.mark.parametrize("level", LEVELS[:2], ids=lambda level: level.name)
def test_the_weakest_levels_close_an_open_mill(level: Level) -> None:
    assert {move.to for move in answers(level, OPEN_MILL, SEEDS)} == {POINTS["g1"]}


def test_the_weaker_a_level_the_more_often_it_overlooks_a_threat() -> None:
    blocks = [
        sum(move.to == POINTS["g1"] for move in answers(level, THREAT, SEEDS)) for level in LEVELS
    ]
    assert blocks[:4] == sorted(blocks[:4]) and min(blocks[4:]) > len(SEEDS) * 0.9
    assert blocks[0] < len(SEEDS) / 4 and blocks[1] < len(SEEDS) * 3 / 4
    assert blocks[-1] == len(SEEDS)


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.name)
def test_openings_differ_between_seeds_and_repeat_for_a_seed(level: Level) -> None:
    openings = {tuple(opening(level, seed)) for seed in range(1, 13)}
    assert len(openings) > 6
    assert opening(level, 5) == opening(level, 5)


def test_a_search_after_a_levels_search_has_full_strength() -> None:
    searcher, limit = Searcher(4), Limit(nodes=20_000)
    first = searcher.search(Position(), limit).info
    searcher.search(THREAT, limit, level=LEVELS[1])
    last = searcher.search(Position(), limit).info
    assert (last.score, last.nodes, last.pv) == (first.score, first.nodes, first.pv)
