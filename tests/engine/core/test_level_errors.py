"""Errors of a strength level: reduced evaluation, noise, and overlooked moves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

import pytest

from merels.engine.core.convert import core_moves, decode_move
from merels.engine.game.board import NEIGHBOURS
from merels.engine.game.position import Position
from tests.engine.core.known_values import (
    Search,
    SearchResult,
    after,
    count_men,
    men_ahead,
    positions,
)

pytestmark = pytest.mark.usefixtures("equal_positions")
Errors = tuple[int, int, int, int, int, int]


def searched(position: Position, move: int, errors: Errors, depth: int = 1) -> SearchResult:
    """Return the result of a search of one root move with a level's errors."""
    return Search().run(position, depth, [move], errors)


def steps(position: Position, side: int) -> int:
    """Return the number of steps to neighbouring empty points that a side's men have."""
    empty = ~(position.men[0] | position.men[1])
    return sum(
        (NEIGHBOURS[point] & empty & (1 << 24) - 1).bit_count()
        for point in range(24) if position.men[side] >> point & 1
    )


def quiet_moves(seed: int, *men: int) -> Iterator[tuple[Position, int]]:
    """Yield positions and moves after which the game goes on and the opponent can remove no man."""
    for position in positions(seed, *men):
        for move in core_moves(position)[:3]:
            child = after(position, move)
            if child.outcome() is None and not any(m.removed for m in child.legal_moves()):
                yield position, move


@pytest.mark.parametrize(
    ("insight", "greed", "freedom"),
    [(100, 0, 0), (40, 0, 0), (100, 30, 0), (0, -20, 7), (60, 9, 3)],
)
def test_insight_scales_the_evaluation_and_greed_and_freedom_add_to_it(
    insight: int, greed: int, freedom: int
) -> None:
    count_men(400)
    for (position, move), _ in zip(quiet_moves(5, 6, 4), range(40)):
        child = after(position, move)
        side = child.side
        men = men_ahead(child, side)
        expected = men * insight + greed * men
        expected += freedom * (steps(child, side) - steps(child, 1 - side))
        score = searched(position, move, (insight, greed, freedom, 0, 0, 1)).score
        assert abs(-score - expected) <= 1, "more than the noise that breaks ties"


def test_noise_depends_on_the_seed_and_has_the_given_size() -> None:
    position, move = next(quiet_moves(6, 5, 5))
    values, repeated = (
        [searched(position, move, (100, 0, 0, 50, 0, seed)).score for seed in range(400)]
        for _ in range(2)
    )
    assert values == repeated
    assert max(map(abs, values)) <= 1 + 3 * 50
    assert max(values) > 75 and min(values) < -75
    assert 15 < sum(map(abs, values)) / len(values) < 35, "expected about half of 50"


def test_a_level_overlooks_moves_except_at_the_root() -> None:
    position, move = next(quiet_moves(7, 6, 6))
    child = after(position, move)
    targets = len({decode_move(reply).to for reply in core_moves(child)})
    none_seen = searched(position, move, (100, 0, 0, 0, 100, 1), 2)
    assert (none_seen.nodes, none_seen.line) == (1, [move]), "the level sees a reply"
    all_seen = [searched(position, move, (100, 0, 0, 0, 0, seed), 2).line for seed in range(60)]
    assert {len(line) for line in all_seen} == {2}
    some_seen = [searched(position, move, (100, 0, 0, 0, 70, seed), 2) for seed in range(200)]
    without_reply = sum(len(result.line) == 1 for result in some_seen) / len(some_seen)
    # No reply is found if all target points are overlooked, each with a chance of 70 percent.
    assert abs(without_reply - 0.7 ** targets) < 0.1


@pytest.mark.parametrize(
    ("field", "low", "high"),
    [(0, 0, 100), (1, -20_000, 20_000), (2, -20_000, 20_000), (3, 0, 20_000), (4, 0, 100)],
)
def test_errors_have_bounds(field: int, low: int, high: int) -> None:
    position, move = next(quiet_moves(8, 5, 5))
    for value in (low - 1, low, high, high + 1):
        fields = [100, 0, 0, 0, 0, 1]
        fields[field] = value
        insight, greed, freedom, noise, oversight, seed = fields
        refused = pytest.raises((ValueError, OverflowError))
        with nullcontext() if low <= value <= high else refused:
            searched(position, move, (insight, greed, freedom, noise, oversight, seed))
