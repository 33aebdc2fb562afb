"""Searches with known node values: the evaluation counts men, or rates all positions equal."""

from __future__ import annotations

import random
from array import array
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from merels.engine.core import core
from merels.engine.core.convert import core_board, core_moves, core_rules, decode_move
from merels.engine.game.notation import parse_position
from merels.engine.game.position import Position
from merels.engine.game.rules import make_rules
from merels.engine.training.samples import random_position
from tests.kit.entries import Entries

RULES = make_rules("morris", ["Repetition=0", "NoRemovalPlies=0", "ThreeThreePlies=0"])
QUIET = parse_position("*@*OO**@/*@*O**@*/O*@**O** w 0 0 0 20", RULES)
NO_MOVE = 0xFFFFF
UPPER, LOWER, EXACT = 1, 2, 3
GOLDEN = 0x9E3779B97F4A7C15
PHASES, AT_MEN, ROWS = 16, 12_600, 12_722
"""Phases of the evaluation, its first row for numbers of men, and the number of its rows."""


class Entry(NamedTuple):
    """A result in the transposition table."""

    score: int
    depth: int
    bound: int
    move: int = NO_MOVE


class SearchResult(NamedTuple):
    """Score, principal variation and number of nodes of a search."""

    score: int
    line: list[int]
    nodes: int


def count_men(worth: int) -> None:
    """Load weights that count only men: each man adds ``worth`` / 4 to the evaluation."""
    value = array("h", bytes(2 * PHASES * ROWS))
    for phase in range(PHASES):
        for own in range(10):
            for opponent in range(10):
                row = AT_MEN + 10 * own + opponent
                value[phase * ROWS + row] = worth * (own - opponent)
    data = value.tobytes()
    core.load_weights(data + bytes(core.WEIGHTS_SIZE - len(data)))


def key_of(position: Position) -> int:
    own, opponent, hand, other_hand, _ = core_board(position)
    return own | opponent << 24 | hand << 48 | other_hand << 52


class Search:
    """Searches that share a transposition table of 1 MiB, whose entries tests read and write."""

    def __init__(self) -> None:
        self.table = core.TranspositionTable(1)
        self.entries = Entries(self.table)
        self.worker = core.SearchWorker(self.table)

    def places(self, position: Position) -> range:
        """Return the indices of the entries of a position's bucket."""
        buckets = (self.table.megabytes_in_use() << 20) // 64
        bucket = (key_of(position) * GOLDEN % (1 << 64)) * buckets >> 64
        return range(4 * bucket, 4 * bucket + 4)

    def put(self, position: Position, entry: Entry) -> None:
        data = entry.move | (entry.score & 0xFFFF) << 20 | entry.depth << 36 | entry.bound << 44
        key = key_of(position)
        for place in self.places(position):
            check, stored = self.entries[place]
            if not stored or check ^ stored == key:
                self.entries[place] = key ^ data, data
                return
        raise AssertionError("the bucket is full")

    def get(self, position: Position) -> Entry | None:
        for place in self.places(position):
            check, data = self.entries[place]
            if data and check ^ data == key_of(position):
                score = data >> 20 & 0xFFFF
                return Entry(score - (score >> 15 << 16), data >> 36 & 0xFF, data >> 44 & 3,
                             data & NO_MOVE)
        return None

    def run(
        self, position: Position, depth: int, moves: Sequence[int] = (),
        errors: tuple[int, int, int, int, int, int] | None = None,
        keep_history: bool = False, game: Sequence[int] = (),
    ) -> SearchResult:
        """Search one iteration, to ``depth``; ``moves`` are the root moves, by default all.

        ``keep_history``: keep the history of move ordering of earlier searches. ``game`` are keys
        of earlier positions of the game.
        """
        worker, results = self.worker, list[SearchResult]()
        if not keep_history:
            worker.clear()

        def report(_: int, lines: list[tuple[int, int, list[int]]]) -> bool:
            results.append(SearchResult(lines[0][0], lines[0][2], worker.nodes))
            return False

        rules, board = core_rules(position.rules), core_board(position)
        worker.run(rules, board, game, moves or core_moves(position), report,
                   first_depth=depth, max_depth=depth, errors=errors)  # fmt: skip
        return results[0]


def after(position: Position, move: int) -> Position:
    return position.play(decode_move(move))


def men_ahead(position: Position, side: int) -> int:
    """Return how many more men a side has than its opponent, those in hand included."""
    men = [men.bit_count() + hand for men, hand in zip(position.men, position.hands)]
    return men[side] - men[1 - side]


def positions(seed: int, own: int, opponent: int, hand: int = 0) -> Iterator[Position]:
    """Yield random unfinished positions, with ``hand`` men of each side in hand."""
    chance = random.Random(seed)
    while True:
        position = random_position(RULES, own, opponent, chance)
        position = Position.of(RULES, position.men, (hand, hand), position.side)
        if position.outcome() is None:
            yield position
