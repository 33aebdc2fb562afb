"""Difficult cases of the rules, in the readable implementation."""

from __future__ import annotations

import pytest

from merels.engine.common.errors import InputError
from merels.engine.game.notation import parse_move, parse_position, play_moves
from merels.engine.game.position import Move, Position
from merels.engine.game.rules import parse_rules
from tests.engine.random_games import random_positions


def parsed(text: str, rules: str = "mill") -> Position:
    return parse_position(text, parse_rules(rules))


def moves(text: str, rules: str = "mill", start: str = "") -> set[str]:
    """Return the legal moves that begin with ``start``."""
    texts = map(str, parsed(text, rules).legal_moves())
    return {move for move in texts if move.startswith(start)}


def outcome_of(text: str, rules: str = "mill") -> tuple[str, str] | None:
    """Return result and reason of a position's outcome, or None."""
    outcome = parsed(text, rules).outcome()
    return outcome and (outcome.result, outcome.reason)


def test_men_in_mills_are_removed_only_when_no_other_is_left() -> None:
    # White closes d5-e5-c5; Black has the mill d6-f6-b6 and a man on a1.
    assert moves("*O*****O/@@*****@/*****@** w 1 0 0 9", start="d5") == {"d5xa1"}
    only_mill = "*O*****O/@@*****@/******** w 1 0 0 9"
    assert moves(only_mill, start="d5") == {"d5xd6", "d5xf6", "d5xb6"}
    assert moves(only_mill, "loc", "d5") == {"d5"}


def test_two_mills_at_once_remove_one_man_or_two_by_the_rules() -> None:
    # Placing d5 closes d5-e5-c5 and d5-d6-d7.
    board = "*O*****O/O@**@***/O*@*@*** w 1 0 0 9"
    assert moves(board, start="d5") == {"d5xf6", "d5xd2", "d5xg4", "d5xd1"}
    two_removals = moves(board, "multi", "d5")
    assert len(two_removals) == 6 and "d5xd1xd2" in two_removals
    # Black has a mill and a man outside it: White must remove that man first, then any man.
    mixed = "*O*****O/O*******/O@@@*@** w 1 0 0 9"
    assert moves(mixed, "mill DoubleMill=each", "d5") == {"d5xa1xg1", "d5xa1xg4", "d5xa1xg7"}
    assert moves(mixed, "multi", "d5") == {"d5xa1"}


def test_the_rules_decide_who_flies() -> None:
    board = "OO*O****/@@**@***/@****@** w 0 0 0 9"
    assert len(moves(board, "loc")) < 10
    assert moves(board, start="d5-a4")
    # Under `multi` both sides fly once either has three men.
    black = board.replace(" w ", " b ")
    assert moves(black, "multi", "d6-a4") and not moves(black, start="d6-a4")
    # Under `multi` neither side flies while the opponent still has men to place.
    waiting = board.replace(" w 0 0 ", " w 0 1 ")
    assert moves(waiting, start="d5-a4") and not moves(waiting, "multi", "d5-a4")


def test_a_blocked_side_loses_or_draws_by_the_rules() -> None:
    assert outcome_of("********/**O***O*/@@@O*O@@ b 0 0 0 20", "loc") is None
    blocked = "********/O*O***O*/@@@O*O@@ b 0 0 0 20"
    assert outcome_of(blocked, "loc") == ("1-0", "blocked")
    assert outcome_of(blocked, "loc Blocked=draws") == ("1/2-1/2", "blocked")


def test_counting_starts_when_the_last_man_is_placed() -> None:
    position = parsed("O*O*O***/@*@*@***/O*O*O*** b 1 1 0 8", "loc")
    position = position.push(parse_move("a1"))
    assert position.plies == 0
    position = position.push(parse_move("f6"))
    assert position.plies == 0 and position.hands == (0, 0)
    position = position.push(position.legal_moves()[0])
    assert position.plies == 1


def test_a_third_occurrence_draws_and_the_initial_position_counts() -> None:
    position = parsed("O*O*O***/*@*@*@**/**O****@ w 0 0 0 30", "loc")
    there_and_back = "d5-c5 f6-d6 c5-d5 d6-f6".split()
    position = play_moves(position, there_and_back)
    assert position.outcome() is None
    position = play_moves(position, there_and_back)
    outcome = position.outcome()
    assert outcome is not None and outcome.reason == "repetition"


def test_three_against_three_is_drawn_after_four_plies_under_mill_not_morris() -> None:
    text = "O*O*****/*@*@****/**O**@** w 0 0 {} 30"
    assert outcome_of(text.format(3)) is None
    assert outcome_of(text.format(4)) == ("1/2-1/2", "three")
    assert outcome_of(text.format(4), "morris") is None


def test_men_in_hand_count_towards_the_minimum_of_three() -> None:
    board = "O*******/@@*@****/******** w {} 0 0 9"
    assert outcome_of(board.format(2)) is None
    assert outcome_of(board.format(1)) == ("0-1", "men")
    assert not moves(board.format(1))


def test_a_position_retraces_its_moves_since_the_last_irreversible_one() -> None:
    longest = 0
    for position in random_positions(seed=20, number=5_000):
        root, moves = position.retrace()
        assert len(root.history) == 1
        longest = max(longest, len(moves))
        for move in moves:
            root = root.push(move)
        assert root == position
    assert longest > 20


def test_moves_are_played_as_text_and_a_position_prints_as_a_board() -> None:
    position = Position().push("d6").push("f4")
    assert str(position.legal_moves()[0]) == "d5"
    assert Move.from_text("D6D5xC3") == Move.from_text("d6-d5xc3")
    assert str(position) == (
        "7  ·-----------·-----------·\n"
        "   |           |           |\n"
        "6  |   ·-------O-------·   |\n"
        "   |   |       |       |   |\n"
        "5  |   |   ·---·---·   |   |\n"
        "   |   |   |       |   |   |\n"
        "4  ·---·---·       ·---@---·\n"
        "   |   |   |       |   |   |\n"
        "3  |   |   ·---·---·   |   |\n"
        "   |   |       |       |   |\n"
        "2  |   ·-------·-------·   |\n"
        "   |           |           |\n"
        "1  ·-----------·-----------·\n"
        "   a   b   c   d   e   f   g\n"
        "White to move; in hand: White 8, Black 8"
    )


@pytest.mark.parametrize("text", ["", "e2e4", "d6 ", "d4", "d6xd6"])
def test_a_text_that_is_no_legal_move_is_an_input_error(text: str) -> None:
    with pytest.raises(InputError):
        Position().push(text)
