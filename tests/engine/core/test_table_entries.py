"""The transposition table: damaged entries, the size in use, and hashfull."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from merels.engine.core import core, weights
from merels.engine.core.convert import core_board, core_moves, core_rules, encode_move
from merels.engine.game.notation import parse_position
from merels.engine.game.position import Move, Position
from merels.engine.game.rules import PRESETS
from tests.engine.core.known_values import NO_MOVE, UPPER, Entry, Search, after
from tests.engine.random_games import random_positions
from tests.kit.entries import Entries

Board = tuple[int, int, int, int, int]
Lines = list[tuple[int, int, list[int]]]

POSITION = parse_position("*O*@O**@/*@*O**@*/O*@**O** w 0 0 0 20")
RULES = core_rules(POSITION.rules)
BOARD = core_board(POSITION)
GENERATION_SHIFT = 46


def search(table: core.TranspositionTable, depth: int) -> tuple[list[Lines], int]:
    """Return the lines of a new worker's iterations, and its number of nodes."""
    weights.ensure()
    worker, iterations = core.SearchWorker(table), list[Lines]()
    table.new_search()

    def report(depth: int, lines: Lines) -> bool:
        iterations.append(lines)
        return False

    worker.run(RULES, BOARD, [], core.legal_moves(RULES, BOARD), report, max_depth=depth)
    return iterations, worker.nodes


def board_of(key: int) -> Board:
    """Return the board of a key."""
    return key & 0xFFFFFF, key >> 24 & 0xFFFFFF, key >> 48 & 15, key >> 52 & 15, 0


def illegal_move(board: Board, chance: random.Random) -> int:
    """Return a random illegal move, mostly between points of the board."""
    legal = set(core.legal_moves(RULES, board))
    while True:
        removed = chance.choice([31, 31, chance.randrange(24)])
        move = chance.randrange(24) | chance.choice([31, chance.randrange(24)]) << 5
        move |= removed << 10 | chance.choice([31, 31, removed, chance.randrange(32)]) << 15
        if move not in legal and move != NO_MOVE:
            return move


def with_bits(data: int, value: int, shift: int, size: int) -> int:
    """Return the data with ``size`` bits from bit ``shift`` on replaced by ``value``."""
    return data & ~((1 << size) - 1 << shift) | value << shift


DAMAGE: dict[str, Callable[[Board, int, random.Random], int]] = {
    "move": lambda board, data, chance: with_bits(data, illegal_move(board, chance), 0, 20),
    "score": lambda board, data, chance: with_bits(data, chance.randint(32001, 33535), 20, 16),
    "depth": lambda board, data, chance: with_bits(data, chance.randint(121, 255), 36, 8),
    "bound": lambda board, data, chance: with_bits(data, 0, 44, 2),
    "unused bits": lambda board, data, chance: with_bits(data, chance.randint(1, 1023), 54, 10),
}


@pytest.mark.parametrize("field", DAMAGE)
def test_an_impossible_entry_is_dropped(field: str) -> None:
    """A search in a table of damaged entries is the same as in an empty table, node by node."""
    expected = search(core.TranspositionTable(4), 10)
    table, chance, damaged = core.TranspositionTable(4), random.Random(field), 0
    search(table, 10)
    entries = Entries(table)
    for place, (check, data) in enumerate(entries):
        if data:
            key = check ^ data
            data = DAMAGE[field](board_of(key), data, chance)
            entries[place] = key ^ data, data
            damaged += 1
    assert damaged > 1000
    assert search(table, 10) == expected


def nodes_with_moves() -> Iterator[tuple[Position, int, list[int]]]:
    """Yield roots, each with one of its moves and with legal replies to this move."""
    for variant, text, move_text in (
        # All of White's men are in mills after this move, so Black's two mills remove nothing.
        ("loc", "***@*@**/@@*@****/OO****OO w 5 4 0 5", "a1xf2"),
        # Black can close two mills and remove two men.
        ("multi", "*O*O*O**/********/@*@@***@ w 5 5 0 5", "c5"),
    ):
        root = parse_position(text, PRESETS[variant])
        move = encode_move(Move.from_text(move_text))
        yield root, move, core_moves(after(root, move))
    for position in random_positions(seed=5, number=400):
        # Without limits on plies, which keys would include.
        rules = replace(position.rules, repetition=0, no_removal_plies=0, three_three_plies=0)
        root = Position.of(rules, position.men, position.hands, position.side)
        for move in core_moves(root)[:1]:
            if after(root, move).outcome() is None:
                yield root, move, core_moves(after(root, move))[:12]


def test_the_move_of_an_entry_is_used_if_it_is_legal(equal_positions: None) -> None:
    """All positions are equal, so the move searched first stays the best unless the game ends."""
    chance, search, legal, illegal = random.Random(5), Search(), 0, 0
    for root, first, moves in nodes_with_moves():
        child = after(root, first)
        search.table.clear()
        expected = search.run(root, 2, [first])
        near = [move ^ 1 << chance.randrange(20) for move in moves]
        swapped = [with_bits(move, chance.choice(moves) >> 10, 10, 10) for move in moves]
        for move in {*moves, *near, *swapped, chance.randrange(1 << 20)}:
            search.table.clear()
            search.put(child, Entry(0, 0, UPPER, move))
            result = search.run(root, 2, [first])
            if move not in core_moves(child):
                assert result == expected, (root, move)
                illegal += 1
                continue
            end = after(child, move)
            if result.score == 0 and all(
                after(end, reply).outcome() is None for reply in core_moves(end)
            ):
                assert result.line[1] == move, (root, move)
                legal += 1
    assert legal > 1000 and illegal > 1000, (legal, illegal)


def test_a_table_is_empty_after_it_has_grown() -> None:
    """A key's bucket depends on the size in use, so old entries would be in wrong buckets."""
    table = core.TranspositionTable(4, 1)
    entries = Entries(table)
    for place in range(len(entries)):
        entries[place] = place, 1
    table.clear(4)
    assert table.megabytes_in_use() == 4
    assert len(entries) == 4 << 16 and not any(data for _, data in entries)


def test_the_part_in_use_has_the_requested_size_up_to_the_whole_table() -> None:
    table = core.TranspositionTable(4, 1)
    assert table.megabytes_in_use() == 1
    for wanted, used in ((3, 3), (9, 4), (0, 4), (1, 1)):
        table.clear(wanted)
        assert table.megabytes_in_use() == used
    for wanted, used in ((0, 2), (1, 1), (2, 2), (3, 2)):
        assert core.TranspositionTable(2, wanted).megabytes_in_use() == used


def test_hashfull_counts_the_entries_of_this_search_among_the_first_thousand() -> None:
    half, whole = core.TranspositionTable(2, 1), core.TranspositionTable(2)
    for table, full in ((half, 125), (whole, 250)):
        table.new_search()
        entries = Entries(table)
        for place in range(250):
            entries[place] = place, 1 << 44 | 1 << GENERATION_SHIFT
        entries[300] = 1, 1 << 44 | 2 << GENERATION_SHIFT
        entries[1000] = 1, 1 << 44 | 1 << GENERATION_SHIFT
        assert table.full() == full
        table.new_search()
        assert table.full() == (1 if table is whole else 0)
        for _ in range(255):
            table.new_search()
        assert table.full() == full, "the generation has wrapped around"
        table.clear()
        assert table.full() == 0
