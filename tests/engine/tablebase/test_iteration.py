"""All states of three against three, solved by an independent value iteration in Python."""

from __future__ import annotations

from collections import deque
from functools import cache
from itertools import combinations

import pytest

from merels.engine.game.board import LINE_MASKS, LINES, SYMMETRIES
from merels.engine.game.rules import Rules, make_rules
from merels.engine.tablebase.sectors import Sector
from tests.kit.tables import built_tables

pytestmark = pytest.mark.thorough

State = tuple[int, int]
"""The side to move's men and the opponent's, as masks."""


def line_symmetries() -> list[tuple[int, ...]]:
    """Return all permutations of the points that map lines to lines.

    There are more of them than of the board's symmetries, which also map neighbours to neighbours.
    """
    lines = set(LINE_MASKS)
    ring_orders = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    permutations = set()
    for symmetry in SYMMETRIES[:8]:
        for order in ring_orders:
            mapped = tuple(8 * order[image // 8] + image % 8 for image in symmetry)
            if {sum(1 << mapped[p] for p in range(24) if line >> p & 1) for line in lines} == lines:
                permutations.add(mapped)
    return sorted(permutations)


@cache
def state_classes(flies: bool) -> tuple[dict[State, State], list[State]]:
    """Return a map from each state to its class's representative, and the representatives.

    If men fly, states are equivalent under `line_symmetries`, otherwise under the symmetries of the
    board.
    """
    symmetries = line_symmetries() if flies else SYMMETRIES
    images = [
        [[sum(1 << s[8 * byte + i] for i in range(8) if v >> i & 1) for v in range(256)]
         for byte in range(3)]
        for s in symmetries
    ]  # fmt: skip
    sets = [sum(1 << p for p in points) for points in combinations(range(24), 3)]
    representative: dict[State, State] = {}
    states = []
    for own in sets:
        for opponent in sets:
            if own & opponent or (own, opponent) in representative:
                continue
            states.append((own, opponent))
            for a, b, c in images:
                image = (
                    a[own & 255] | b[own >> 8 & 255] | c[own >> 16],
                    a[opponent & 255] | b[opponent >> 8 & 255] | c[opponent >> 16],
                )
                representative[image] = (own, opponent)
    return representative, states


def value_iteration(rules: Rules) -> dict[State, tuple[int, int]]:
    """Return the (value, depth) of every state by retrograde iteration.

    This function computes mills and moves without the engine. With three men a side, a removal ends
    the game.
    """
    flies = rules.flying != "never"
    representative, states = state_classes(flies)
    mills = set(LINE_MASKS)
    # Two points of a line are neighbours if one of them is the line's middle, its second point.
    near: dict[int, set[int]] = {1 << point: set() for point in range(24)}
    for first, middle, last in LINES:
        for end in (first, last):
            near[1 << end].add(1 << middle)
            near[1 << middle].add(1 << end)
    parents: dict[State, list[State]] = {state: [] for state in states}
    open_moves = dict.fromkeys(states, 0)
    result: dict[State, tuple[int, int]] = {}
    queue: deque[State] = deque()
    for state in states:
        own, opponent = state
        empty = [1 << p for p in range(24) if not (own | opponent) >> p & 1]
        for origin in (1 << p for p in range(24) if own >> p & 1):
            for to in empty if flies else near[origin].intersection(empty):
                after = own ^ origin ^ to
                if after in mills and (opponent not in mills or rules.locked_mills == "any"):
                    result.setdefault(state, (1, 1))
                else:
                    parents[representative[opponent, after]].append(state)
                    open_moves[state] += 1
        if not open_moves[state] and state not in result:
            result[state] = (-1, 0)
    limit = Sector(3, 3).plies_limit(rules)
    queue.extend(result)
    while queue:
        state = queue.popleft()
        value, depth = result[state]
        for parent in parents[state]:
            open_moves[parent] -= 1
            if parent in result or (limit and depth + 1 > limit):
                continue
            if value < 0:
                result[parent] = (1, depth + 1)
                queue.append(parent)
            elif open_moves[parent] == 0:
                result[parent] = (-1, depth + 1)
                queue.append(parent)
    return {state: result.get(first, (0, 0)) for state, first in representative.items()}


@pytest.mark.parametrize(
    "rules",
    (
        make_rules("mill"),
        pytest.param(
            make_rules("morris", ["Repetition=0", "NoRemovalPlies=0"]), marks=pytest.mark.slow
        ),
        pytest.param(make_rules("multi"), marks=pytest.mark.slow),
        pytest.param(make_rules("roman"), marks=pytest.mark.slow),
        pytest.param(make_rules("loc"), marks=pytest.mark.slow),
    ),
    ids=str,
)
def test_three_against_three_by_value_iteration(rules: Rules) -> None:
    """Values and depths of all 2,691,920 states agree.

    The states form 56,922 classes if men fly, as published, and 169,626 if they do not.
    """
    expected = value_iteration(rules)
    flies = rules.flying != "never"
    assert len(state_classes(flies)[1]) == (56_922 if flies else 169_626)
    assert len(expected) == 2024 * 1330
    probe = built_tables(rules, 6, depths=True).core.probe
    for (own, opponent), (value, depth) in expected.items():
        assert probe((own, opponent, 0, 0, 0)) == (value, depth if value else -1)
