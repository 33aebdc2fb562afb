"""Move ordering: table move, mills, killers and moves that stop a mill, others by history."""

from __future__ import annotations

import pytest

from merels.engine.core import core
from merels.engine.core.convert import core_board, core_moves, core_rules, decode_move
from merels.engine.game.notation import parse_position
from merels.engine.game.position import BLACK, Position
from merels.engine.game.rules import PRESETS, make_rules
from tests.engine.random_games import random_positions

EMPTY_BOARD = parse_position("********/********/******** w 9 9 0 1")
CLOSING = parse_position("@@******/****@***/OO****** w 6 6 0 4")


def ordered(position: Position, **more: object) -> list[int]:
    """Return the codes of the legal moves in the search's order, by `core.ordered_moves`."""
    rules, board = core_rules(position.rules), core_board(position)
    return core.ordered_moves(rules, board, **more)  # type: ignore[arg-type]


def removes(move: int) -> bool:
    """Return whether a move removes a man."""
    return bool(decode_move(move).removed)


@pytest.mark.parametrize("variant", PRESETS)
def test_every_move_comes_once_and_removals_come_first(variant: str) -> None:
    rules = make_rules(variant)
    for position in random_positions(seed=3, number=300):
        position = Position.of(rules, position.men, position.hands, position.side)
        if position.outcome() is not None:
            continue
        expected = core_moves(position)
        for first in (None, expected[0], expected[-1]):
            order = ordered(position, **({} if first is None else {"table_move": first}))
            assert sorted(order) == sorted(expected)
            if first is not None:
                assert order.pop(0) == first
            removals = [removes(move) for move in order]
            if rules.locked_mills != "none":  # Otherwise a mill may remove nothing.
                assert removals == sorted(removals, reverse=True)


def test_a_table_move_that_is_illegal_is_refused() -> None:
    illegal = set(range(24)) - set(core_moves(CLOSING))
    with pytest.raises(ValueError, match="illegal move"):
        ordered(CLOSING, table_move=illegal.pop())


def test_killers_come_before_other_quiet_moves_the_last_one_first() -> None:
    plain_order = ordered(EMPTY_BOARD)
    early, middle, late, rival = (plain_order[at] for at in (20, 10, 15, 5))
    for cutoffs, killers in (([early], [early]), ([early, middle], [middle, early]),
                             ([early, middle, middle], [middle, early]),
                             ([early, middle, late], [late, middle])):
        # By history only, the rival would be first.
        recorded = [(4, 8, rival, []), *((2, 1, move, []) for move in cutoffs)]
        order = ordered(EMPTY_BOARD, cutoffs=recorded, ply=2)
        assert order[: len(killers) + 1] == [*killers, rival]
    # History counts at every ply of the side, a killer only at its own ply.
    recorded = [(2, 1, early, [])]
    assert ordered(EMPTY_BOARD, cutoffs=recorded, ply=4)[0] == early
    assert ordered(EMPTY_BOARD, cutoffs=recorded, ply=3) == plain_order


def test_history_rewards_the_cutoff_move_and_penalises_the_moves_before_it() -> None:
    plain_order = ordered(EMPTY_BOARD)
    first, second, good = plain_order[0], plain_order[1], plain_order[-1]
    order = ordered(EMPTY_BOARD, cutoffs=[(3, 4, good, [first, second])], ply=1)
    assert order[0] == good and set(order[-2:]) == {first, second}


def test_a_deep_cutoff_counts_more_than_a_shallow_one() -> None:
    plain_order = ordered(EMPTY_BOARD)
    deep, shallow = plain_order[-1], plain_order[5]
    for cutoffs in ([(3, 6, deep, []), (5, 2, shallow, [])],
                    [(5, 2, shallow, []), (3, 6, deep, [])]):
        assert ordered(EMPTY_BOARD, cutoffs=cutoffs, ply=1)[:2] == [deep, shallow]


def test_history_grows_with_repeated_cutoffs_up_to_a_limit() -> None:
    plain_order = ordered(EMPTY_BOARD)
    often, once = plain_order[-1], plain_order[5]
    recorded = [(3, 3, often, [])] * 3 + [(5, 3, once, [])]
    assert ordered(EMPTY_BOARD, cutoffs=recorded, ply=1)[:2] == [often, once]
    # History has a limit, so a few dozen cutoffs by another move reverse the order.
    recorded = [(3, 9, often, [])] * 1000 + [(3, 9, once, [often])] * 40
    assert ordered(EMPTY_BOARD, cutoffs=recorded, ply=1)[0] == once


def test_moves_that_stop_a_mill_come_before_other_quiet_moves() -> None:
    position = parse_position("@@******/*O***O**/******** w 7 7 0 5")
    points = [decode_move(move).to for move in ordered(position)]
    black_to_move = Position.of(position.rules, position.men, position.hands, BLACK)
    blocking = {move.to for move in black_to_move.legal_moves() if move.removed}
    assert len(blocking) == 1 and points[0] in blocking
    killer = ordered(position)[-1]
    assert killer in ordered(position, cutoffs=[(1, 1, killer, [])])[:2]


def test_removals_of_men_that_threaten_a_mill_come_first() -> None:
    # White can close a mill on one point only. Two of Black's men lack a third man for a mill.
    removals = [decode_move(move) for move in ordered(CLOSING) if removes(move)]
    assert len({move.to for move in removals}) == 1 and len(removals) == 3
    assert {move.removed for move in removals[:2]} == {(0,), (1,)}
