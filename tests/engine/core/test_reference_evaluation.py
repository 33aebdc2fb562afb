"""The evaluation against a simple reference implementation in Python."""

from __future__ import annotations

import random
import sys
from array import array
from collections.abc import Iterable
from functools import cache
from itertools import product

from merels.engine.core import core
from merels.engine.core.convert import core_board, core_rules
from merels.engine.game.position import Position
from tests.engine.random_games import random_positions

SIDE_PATTERNS, RING_PATTERNS = 5346, 954
AT_CORNERS, AT_OUTER = SIDE_PATTERNS, 2 * SIDE_PATTERNS
AT_MIDDLE = AT_OUTER + RING_PATTERNS
AT_MEN = AT_MIDDLE + RING_PATTERNS
AT_KINDS = AT_MEN + 100
ROWS = AT_KINDS + 22
PHASES, QUARTERS, HIDDEN = 16, 4, 48
CLIP = 48
LARGEST_VALUE, LARGEST_NUMBER = 2978, 42
"""Largest absolute values of a feature's value and of the numbers in its vector."""


class Weights:
    """Random weights in the whole range of each part.

    Values of features and numbers of vectors may exceed the limits to which the core clamps them;
    the other parts may not.
    """

    def __init__(self, seed: int) -> None:
        chance = random.Random(seed)

        def numbers(count: int, largest: int) -> list[int]:
            return [chance.randint(-largest, largest) for _ in range(count)]

        self.value = [numbers(AT_MEN, 3200) + numbers(ROWS - AT_MEN, 15000) for _ in range(PHASES)]
        self.bias = [numbers(HIDDEN, 400) for _ in range(PHASES)]
        self.output = [numbers(HIDDEN, 19418) for _ in range(PHASES)]
        self.vector = array("b", chance.randbytes(QUARTERS * ROWS * HIDDEN))

    def data(self) -> bytes:
        words = array("h", [n for part in (self.value, self.bias, self.output)
                            for row in part for n in row])
        if sys.byteorder == "big":
            words.byteswap()
        return words.tobytes() + self.vector.tobytes()


@cache
def pattern_numbers(points: int, views: tuple[tuple[int, ...], ...]) -> dict[tuple[int, ...], int]:
    """Return the number of each pattern of points; a pattern and its images share a number."""
    numbers: dict[tuple[int, ...], int] = {}
    count = 0
    for digits in product(range(3), repeat=points):
        pattern = digits[::-1]  # The first point is the lowest digit of the pattern's number.
        if pattern not in numbers:
            for view in views:
                numbers.setdefault(tuple(pattern[place] for place in view), count)
            count += 1
    return numbers


SIDE_VIEWS = tuple(
    tuple(3 * ring + place for ring in rings for place in places)
    for rings in ((0, 1, 2), (2, 1, 0)) for places in ((0, 1, 2), (2, 1, 0))
)  # fmt: skip
RING_VIEWS = tuple(
    tuple((start + step * angle) % 8 for angle in range(8))
    for start in (0, 2, 4, 6) for step in (1, -1)
)  # fmt: skip


def rows(position: Position, kind: int) -> list[int]:
    """Return a position's rows: four sides, four corners, three rings, and its material."""
    own, opponent, own_hand, opponent_hand, _ = core_board(position)

    def men(points: Iterable[int]) -> tuple[int, ...]:
        return tuple((own >> point & 1) + 2 * (opponent >> point & 1) for point in points)

    def around(angle: int) -> tuple[int, ...]:
        return men(8 * ring + (angle + turn) % 8 for ring in range(3) for turn in (-1, 0, 1))

    sides, rings = pattern_numbers(9, SIDE_VIEWS), pattern_numbers(8, RING_VIEWS)
    ring = [rings[men(range(8 * number, 8 * number + 8))] for number in range(3)]
    # The images of a position under swapped inner and outer rings have one value.
    return [
        *(sides[around(angle)] for angle in (0, 2, 4, 6)),
        *(AT_CORNERS + sides[around(angle)] for angle in (1, 3, 5, 7)),
        AT_OUTER + ring[0], AT_MIDDLE + ring[1], AT_OUTER + ring[2],
        AT_MEN + 10 * (own.bit_count() + own_hand) + opponent.bit_count() + opponent_hand,
        AT_KINDS + kind,
    ]  # fmt: skip


def kind_and_phase(position: Position) -> tuple[int, int]:
    """Return the kind of material and the phase.

    The kind is 3 plus the men in hand. Without these it is 0, plus 1 if the side to move flies,
    plus 2 if the opponent flies.
    """
    in_hand, on_board = sum(position.hands), sum(men.bit_count() for men in position.men)
    if in_hand:
        return 3 + in_hand, 0 if in_hand >= 15 else (16 - in_hand) // 2
    flying = position.flies(position.side) + 2 * position.flies(1 - position.side)
    if flying:
        return flying, 12 + flying
    return 0, next(
        phase for phase, least in ((8, 16), (9, 14), (10, 12), (11, 10), (12, 0))
        if on_board >= least
    )  # fmt: skip


def clamp(number: int, largest: int) -> int:
    return max(-largest, min(largest, number))


def parts(weights: Weights, position: Position) -> tuple[list[int], list[int], int]:
    """Return the values of the rows, the clamped values, and the output of the hidden layer."""
    kind, phase = kind_and_phase(position)
    row = rows(position, kind)
    values = [weights.value[phase][place] for place in row]
    clamped = [clamp(value, LARGEST_VALUE) for value in values[:-2]] + values[-2:]
    neurons = [*weights.bias[phase]]
    for place in row:
        at = (phase // QUARTERS * ROWS + place) * HIDDEN
        largest = LARGEST_NUMBER if place < AT_MEN else 128
        vector = weights.vector[at : at + HIDDEN]
        neurons = [neuron + clamp(number, largest) for neuron, number in zip(neurons, vector)]
    hidden = sum(
        max(0, min(CLIP, neuron)) ** 2 * output
        for neuron, output in zip(neurons, weights.output[phase])
    )
    return values, clamped, hidden


def test_the_core_agrees_with_the_reference_implementation(own_weights: None) -> None:
    weights = Weights(1)
    core.load_weights(weights.data())
    phases = set()
    for position in random_positions(seed=11, number=600):
        rules, board = core_rules(position.rules), core_board(position)
        values, clamped, hidden = parts(weights, position)
        # Values are quarters of a hundredth of a man, the hidden layer's output 2 ** -15 of one.
        assert core.evaluate(rules, board) == (sum(clamped) >> 2) + (hidden >> 15), position
        assert core.terms(rules, board) == [*(value / 4 for value in values), hidden / (1 << 15)]
        phases.add(kind_and_phase(position))
    assert {phase for _, phase in phases} == set(range(PHASES))
    assert {kind for kind, _ in phases} == set(range(22))
