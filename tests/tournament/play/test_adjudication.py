"""The trackers that end games early."""

from __future__ import annotations

from pathlib import Path

from merels.engine.game.notation import parse_position
from merels.engine.game.position import BLACK, WHITE, Position
from merels.engine.game.rules import DEFAULT_RULES, make_rules
from merels.engine.tablebase.build import Builder
from merels.tournament.play.adjudication import (
    WON,
    Adjudicator,
    DrawTracker,
    ResignTracker,
    as_number,
)
from merels.tournament.records.games import Adjudication

DRAWISH = Adjudication(draw_number=3, draw_count=2, draw_score=10)
LOSING = Adjudication(resign_count=2, resign_score=500)


def test_a_draw_needs_both_sides_to_agree_for_some_moves() -> None:
    tracker = DrawTracker(DRAWISH)
    moves = [(4, 10), (4, -10), (5, 0)]
    assert [tracker.update(*move) for move in moves] == [False, False, False]
    assert tracker.update(5, 3)


def test_a_draw_is_not_given_before_its_move_number() -> None:
    tracker = DrawTracker(DRAWISH)
    assert not any(tracker.update(n, 0) for n in (1, 1, 2, 2))
    assert tracker.update(3, 0)


def test_one_score_outside_and_no_score_start_the_count_anew() -> None:
    for odd in (11, -11, None):
        tracker = DrawTracker(DRAWISH)
        for _ in range(3):
            tracker.update(9, 0)
        assert not tracker.update(10, odd)
        assert [tracker.update(11, 0) for _ in range(4)] == [False] * 3 + [True]


def test_a_side_resigns_after_its_own_moves_only() -> None:
    tracker = ResignTracker(LOSING)
    assert tracker.update(1, WHITE, -500) is None
    assert tracker.update(1, BLACK, 0) is None
    assert tracker.update(2, WHITE, -501) == BLACK


def test_a_better_score_ends_a_resignation() -> None:
    tracker = ResignTracker(LOSING)
    scores = [-900, -499, -900]
    assert [tracker.update(n, BLACK, score) for n, score in enumerate(scores)] == [None] * 3


def test_twosided_resignation_needs_the_winner_to_agree() -> None:
    rule = Adjudication(resign_count=2, resign_score=500, resign_twosided=True)
    tracker = ResignTracker(rule)
    for number in (1, 2, 3):
        assert tracker.update(number, WHITE, -WON) is None
        assert tracker.update(number, BLACK, 100) is None
    tracker.update(4, WHITE, -WON)
    assert tracker.update(4, BLACK, 500) is None
    tracker.update(5, WHITE, -WON)
    assert tracker.update(5, BLACK, 600) == BLACK


def test_resignation_waits_for_its_move_number() -> None:
    tracker = ResignTracker(Adjudication(resign_number=5, resign_count=1, resign_score=1))
    assert tracker.update(4, WHITE, -9) is None
    assert tracker.update(5, WHITE, -9) == BLACK


def test_claimed_ends_count_as_scores_beyond_any_estimate() -> None:
    assert as_number(None, 7) == WON
    assert as_number(None, 0) == -WON
    assert as_number(None, -4) == -WON
    assert as_number(12, None) == 12
    assert as_number(None, None) is None


def test_the_longest_game_counts_the_opening() -> None:
    adjudicator = Adjudicator(Adjudication(max_moves=2), DEFAULT_RULES)
    assert adjudicator.update(2, WHITE, None, 3, Position()) is None
    ended = adjudicator.update(2, BLACK, None, 4, Position())
    assert ended == (None, "Draw by adjudication (2 moves)")


def test_nothing_is_adjudicated_by_default() -> None:
    adjudicator = Adjudicator(Adjudication(), DEFAULT_RULES)
    assert not adjudicator.active
    assert adjudicator.update(500, WHITE, -WON, 1000, Position()) is None


def test_the_winner_is_named() -> None:
    adjudicator = Adjudicator(Adjudication(resign_count=1, resign_score=300), DEFAULT_RULES)
    ended = adjudicator.update(9, WHITE, -300, 17, Position())
    assert ended == (BLACK, "Black wins by adjudication")


def test_tables_end_what_they_decide(tmp_path: Path) -> None:
    rules = make_rules("morris", ["NoRemovalPlies=0"])
    Builder(tmp_path, rules).build(6)
    adjudicator = Adjudicator(Adjudication(tables=str(tmp_path)), rules)
    assert adjudicator.active
    # Black to move closes no mill in time: White, about to close d5-e5-c5, wins.
    won = parse_position("O******O/@*@**O**/****@*** w 0 0 3 40", rules)
    assert adjudicator.update(40, BLACK, None, 80, won) == (
        WHITE, "White wins by adjudication: tables")
    four = parse_position("O******O/@*@*@O**/****@*** w 0 0 3 40", rules)
    assert adjudicator.update(40, BLACK, None, 80, four) is None
    assert adjudicator.update(1, WHITE, None, 1, Position(rules)) is None


def test_tables_of_other_rules_decide_nothing(tmp_path: Path) -> None:
    Builder(tmp_path, make_rules("morris", ["NoRemovalPlies=0"])).build(6)
    rules = make_rules("mill")
    adjudicator = Adjudicator(Adjudication(tables=str(tmp_path)), rules)
    won = parse_position("O******O/@*@**O**/****@*** w 0 0 0 40", rules)
    assert adjudicator.update(40, BLACK, None, 80, won) is None
