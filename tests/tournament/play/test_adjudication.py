"""Adjudication of games."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from merels.engine.common.errors import Failure
from merels.engine.game.notation import parse_position
from merels.engine.game.position import BLACK, WHITE, Position
from merels.engine.game.rules import DEFAULT_RULES, make_rules
from merels.tournament.play.adjudication import NEVER, WON, Adjudicator, as_number
from merels.tournament.records.games import Adjudication
from tests.kit.tables import copy_tables

DRAW_RULE = Adjudication(draw_number=3, draw_count=2, draw_score=10)
RESIGN_RULE = Adjudication(resign_count=2, resign_score=500)
DRAWN = (None, "draw by scores", "Draw by adjudication")
BLACK_WINS = (BLACK, "resignation by scores", "Black wins by adjudication")


def verdicts(rule: Adjudication, *moves: tuple[int, int, int | None]) -> list[object]:
    """Return the adjudicator's verdict after each move, given as its number, side and score."""
    adjudicator = Adjudicator(rule, DEFAULT_RULES)
    return [adjudicator.update(*move, 0, Position()) for move in moves]


def scored(*scores: int | None, number: int = 9) -> list[tuple[int, int, int | None]]:
    """Return moves of White and Black in turn with these scores, from move ``number`` on."""
    return [(number + ply // 2, ply % 2, score) for ply, score in enumerate(scores)]


def test_a_draw_needs_level_scores_of_both_sides_and_waits_for_its_move_number() -> None:
    assert verdicts(DRAW_RULE, *scored(10, -10, 0, 3)) == [None] * 3 + [DRAWN]
    assert verdicts(DRAW_RULE, *scored(0, 0, 0, 0, 0, number=1)) == [None] * 4 + [DRAWN]


@pytest.mark.parametrize("outlier", [11, -11, None])
def test_a_move_without_a_level_score_restarts_the_count_of_a_draw(outlier: int | None) -> None:
    assert verdicts(DRAW_RULE, *scored(0, 0, 0, outlier, 0, 0, 0, 0)) == [None] * 7 + [DRAWN]


def test_a_removal_restarts_the_count_of_a_draw() -> None:
    """The scores before the removal are of a position with other material."""
    adjudicator = Adjudicator(DRAW_RULE, DEFAULT_RULES)
    before = parse_position("O*******/********/@@@*OO** w 3 3 0 7")
    after = parse_position("O*******/********/*@@*OO** b 3 3 0 7")
    after_each_move = [
        adjudicator.update(*move, 0, position)
        for move, position in zip(scored(0, 0, 0, 0, 0, 0), [before] * 2 + [after] * 4)
    ]
    assert after_each_move == [None] * 5 + [DRAWN]


def test_resignation_counts_only_the_moves_of_one_side() -> None:
    assert verdicts(RESIGN_RULE, *scored(-500, 0, -501)) == [None, None, BLACK_WINS]
    assert verdicts(RESIGN_RULE, *scored(0, -900, 0, -499, 0, -900)) == [None] * 6


def test_twosided_resignation_needs_won_scores_of_the_opponent() -> None:
    rule = replace(RESIGN_RULE, resign_twosided=True)
    moves = scored(-WON, 100, -WON, 100, -WON, 500, -WON, 600)
    assert verdicts(rule, *moves) == [None] * 7 + [BLACK_WINS]


def test_resignation_waits_for_its_move_number() -> None:
    rule = Adjudication(resign_number=5, resign_count=1, resign_score=1)
    assert verdicts(rule, (4, WHITE, -9), (5, WHITE, -9)) == [None, BLACK_WINS]


def test_a_claimed_distance_counts_as_a_won_or_lost_score() -> None:
    scores = ((None, 7), (None, 0), (None, -4), (12, None), (None, None))
    assert [as_number(*score) for score in scores] == [WON, -WON, -WON, 12, None]


def test_the_limit_of_moves_includes_the_opening() -> None:
    adjudicator = Adjudicator(Adjudication(max_moves=2), DEFAULT_RULES)
    assert adjudicator.update(2, WHITE, None, 3, Position()) is None
    verdict = adjudicator.update(2, BLACK, None, 4, Position())
    assert verdict == (None, "limit of moves", "Draw by adjudication (2 moves)")


def test_nothing_is_adjudicated_by_default() -> None:
    adjudicator = Adjudicator(Adjudication(), DEFAULT_RULES)
    assert adjudicator.first_ply == NEVER
    assert adjudicator.update(500, WHITE, -WON, 1000, Position()) is None


def test_tables_adjudicate_a_won_position_that_they_cover(tmp_path: Path) -> None:
    rules = make_rules("morris", ["NoRemovalPlies=0"])
    copy_tables(tmp_path, rules, 6)
    adjudicator = Adjudicator(Adjudication(tables=str(tmp_path)), rules)
    assert adjudicator.first_ply == 0
    # White is about to close the mill c5 d5 e5, and Black cannot prevent it in time.
    won = parse_position("O******O/@*@**O**/****@*** w 0 0 3 40", rules)
    assert adjudicator.update(40, BLACK, None, 80, won) == (
        WHITE, "adjudication by tables", "White wins by adjudication: tables")
    of_seven_men = parse_position("O******O/@*@*@O**/****@*** w 0 0 3 40", rules)
    assert adjudicator.update(40, BLACK, None, 80, of_seven_men) is None
    assert adjudicator.update(1, WHITE, None, 1, Position(rules=rules)) is None


@pytest.mark.parametrize("folder", ["missing", "."])
def test_a_worker_without_the_tournaments_tables_plays_no_game(tmp_path: Path, folder: str) -> None:
    """Without tables, its games would last longer than the games of other workers."""
    copy_tables(tmp_path, make_rules("morris"), 6)
    with pytest.raises(Failure, match=f"no tables for mill in -tb '{tmp_path / folder}'"):
        Adjudicator(Adjudication(tables=str(tmp_path / folder)), make_rules("mill"))
