"""Move ordering: table move, mills, killers and moves that stop a mill, others by history."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from merels.engine.core.convert import core_moves, decode_move, encode_move
from merels.engine.game.notation import parse_position
from merels.engine.game.position import BLACK, WHITE, Move, Position
from merels.engine.game.rules import PRESETS, make_rules
from tests.engine.core.known_values import UPPER, Entry, Search, after
from tests.engine.core.reply_order import (
    REFUTES,
    Player,
    first_reply,
    order_of_replies,
    put_results,
    start_of,
)
from tests.engine.random_games import random_positions

pytestmark = pytest.mark.usefixtures("equal_positions")

FIRST, SECOND, THIRD, FOURTH = Player.MOVES[:4]
COMMON = [
    reply for reply in core_moves(after(Player.ROOT, FIRST))
    if all(reply in core_moves(after(Player.ROOT, move)) for move in (SECOND, THIRD, FOURTH))
]
"""Replies to all four moves, in the order of a search without history."""


def removes(move: int) -> bool:
    """Return whether a move removes a man."""
    return bool(decode_move(move).removed)


def shows_order(root: Position, move: int) -> bool:
    """Return whether `order_of_replies` can find the order of the replies to a move."""
    child = after(root, move)
    return (
        child.outcome() is None and min(child.total(WHITE), child.total(BLACK)) >= 5
        and all(after(child, reply).outcome() is None for reply in core_moves(child))
        and start_of(root, move) is not None
    )


@pytest.mark.parametrize("variant", PRESETS)
def test_every_move_comes_once_and_removals_come_first(variant: str) -> None:
    rules, with_removals, placing = make_rules(variant), 0, 0
    for position in random_positions(seed=3, number=60):
        root = Position.of(rules, position.men, position.hands, position.side)
        move = next((move for move in core_moves(root) if shows_order(root, move)), None)
        if move is None or len(expected := core_moves(after(root, move))) > 20:
            continue
        order = order_of_replies(root, move, table_move=expected[-1])
        assert sorted(order) == sorted(expected) and order.pop(0) == expected[-1]
        removals = [removes(reply) for reply in order]
        if rules.locked_mills != "none":  # Otherwise a mill may remove nothing.
            assert removals == sorted(removals, reverse=True)
        with_removals += any(removals) and not all(removals)
        placing += any(root.hands)
    assert with_removals > 3 and placing > 3, (with_removals, placing)


def test_killers_come_before_other_quiet_moves_the_last_one_first() -> None:
    rival, early, late = COMMON[-3:]
    for refuted, killers in (
        ({}, []), ({FIRST: early}, [early]), ({FIRST: early, SECOND: late}, [late, early]),
        ({FIRST: late, SECOND: early}, [early, late]),
        ({FIRST: early, SECOND: late, THIRD: late}, [late, early]),
    ):
        left = [*COMMON]
        for expected in (*killers, rival):
            player = Player()
            # By history only, the rival would be first. A killer does not outlast its search.
            for move in (FIRST, SECOND, THIRD):
                assert player.first_reply(move, [rival], depth=4) == rival
            assert player.first_reply(FOURTH, left, refuted=refuted) == expected
            left.remove(expected)


def test_each_side_has_its_own_killers_and_history() -> None:
    """Both sides place men, so both could make the move that refutes the other side's."""
    root = parse_position("O*******/***@****/******** w 8 8 0 2")
    start, other, move, reply = (
        encode_move(Move.from_text(text)) for text in ("d7", "g7", "a1", "g1")
    )
    child = after(root, move)
    node = after(child, reply)

    def first_move(refutation: int, left: Sequence[int]) -> int:
        """Return the first of some moves in a node, after the other side has refuted a move."""
        search = Search()
        put_results(search, after(root, other), [refutation])
        put_results(search, node, left)
        # The node's reply is searched first, then another reply refutes the move.
        search.put(child, Entry(0, 0, UPPER, reply))
        for others in core_moves(child):
            if others != reply:
                search.put(after(child, others), REFUTES)
        search.run(root, 4, [start, other, move])
        return first_reply(search, node, left, 2)

    for refutation in core_moves(node):
        if refutation == move or refutation not in core_moves(after(root, other)):
            continue
        unrelated = reply
        for rival in core_moves(node)[:4]:
            if rival != refutation:
                pair = [rival, refutation]
                assert first_move(refutation, pair) == first_move(unrelated, pair)


def test_history_rewards_the_refutation_and_penalises_the_moves_before_it() -> None:
    middle = COMMON[len(COMMON) // 2]
    failed = COMMON[: COMMON.index(middle)]
    left, order = [*COMMON], list[int]()
    while left:
        player = Player()
        assert player.first_reply(FIRST, [middle]) == middle
        order.append(player.first_reply(SECOND, left))
        left.remove(order[-1])
    others = COMMON[COMMON.index(middle) + 1 :]
    assert order[: 1 + len(others)] == [middle, *others]
    assert {*order[1 + len(others) :]} == {*failed} and len(failed) > 3


def test_a_deep_refutation_counts_more_than_a_shallow_one() -> None:
    deep, shallow = COMMON[-1], COMMON[-4]
    for replies in ((deep, shallow), (shallow, deep)):
        player = Player()
        for move, reply in zip((FIRST, SECOND), replies):
            player.first_reply(move, [reply], depth=4 if reply == deep else 2)
        assert player.first_reply(THIRD, [deep, shallow]) == deep


def test_history_grows_with_repeated_refutations_up_to_a_limit() -> None:
    often, once = COMMON[-1], COMMON[-4]
    player = Player()
    player.first_reply(FIRST, [once], depth=3)
    for _ in range(3):
        player.first_reply(SECOND, [often], depth=3)
    assert player.first_reply(THIRD, [often, once]) == often
    # History has a limit, so a few dozen refutations by another move reverse the order.
    for _ in range(1000):
        player.first_reply(FIRST, [often], depth=4)
    for _ in range(100):
        player.first_reply(SECOND, [once], depth=4)
    assert player.first_reply(THIRD, [often, once]) == once


def test_moves_that_stop_a_mill_come_before_other_quiet_moves() -> None:
    root = parse_position("@*******/*O***O**/******** b 7 8 0 4")
    placement = encode_move(Move.from_text("e5"))
    position = after(root, placement)
    points = [decode_move(move).to for move in order_of_replies(root, placement)]
    black_to_move = Position.of(position.rules, position.men, position.hands, BLACK)
    blocking = {move.to for move in black_to_move.legal_moves() if move.removed}
    assert len(blocking) == 1 and points[0] in blocking


def test_history_decides_between_killers_and_a_move_that_stops_a_mill() -> None:
    root = parse_position("**@@O@O*/**O**@*O/**O*O@*@ w 0 0 8 1", Player.RULES)
    first, second, threat, blocking, early, late, rival = (
        encode_move(Move.from_text(text))
        for text in ("c4-c5", "c4-b4", "f4-f2", "b2-d2", "a7-a4", "a7-d7", "a1-a4")
    )

    def order(has_refuted: bool) -> list[int]:
        """Return the order of replies to the threat; ``early`` and ``late`` are the killers."""
        left, chosen = [early, late, blocking, rival], list[int]()
        while left:
            player = Player(root)
            if has_refuted:
                assert player.first_reply(first, [blocking], depth=4) == blocking
            chosen.append(player.first_reply(threat, left, refuted={first: early, second: late}))
            left.remove(chosen[-1])
        return chosen

    assert order(has_refuted=True) == [blocking, late, early, rival]
    # Without that, the blocking move has failed before the killers.
    assert order(has_refuted=False) == [late, early, blocking, rival]


def test_removals_of_men_that_threaten_a_mill_come_first() -> None:
    # White can close a mill on one point only. Two of Black's men lack a third man for a mill.
    root = parse_position("OO******/********/@@****** b 6 7 0 3")
    placement = encode_move(Move.from_text("d2"))
    removals = [decode_move(move) for move in order_of_replies(root, placement) if removes(move)]
    assert len({move.to for move in removals}) == 1 and len(removals) == 3
    assert {move.removed for move in removals[:2]} == {(16,), (17,)}
