"""Adjudication of games."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from merels.engine.common.errors import Failure
from merels.engine.game.notation import parse_position
from merels.engine.game.position import BLACK, WHITE, Position
from merels.engine.game.rules import DEFAULT_RULES, make_rules
from merels.engine.tablebase.build import Builder
from merels.tournament.play.adjudication import NEVER, WON, Adjudicator, as_number
from merels.tournament.records.games import Adjudication

DRAWISH = Adjudication(draw_number=3, draw_count=2, draw_score=10)
LOSING = Adjudication(resign_count=2, resign_score=500)
DRAW = (None, "draw by scores", "Draw by adjudication")
BLACK_WINS = (BLACK, "resignation by scores", "Black wins by adjudication")


def verdicts(rule: Adjudication, *moves: tuple[int, int, int | None]) -> list[object]:
    """Return the adjudicator's verdict after each move: number, side and score."""
    adjudicator = Adjudicator(rule, DEFAULT_RULES)
    return [adjudicator.update(*move, 0, Position()) for move in moves]


def scores(*scores: int | None, first: int = 9) -> list[tuple[int, int, int | None]]:
    """Return moves of both sides with these scores, from move number ``first`` on."""
    return [(first + ply // 2, ply % 2, score) for ply, score in enumerate(scores)]


def test_a_draw_needs_level_scores_of_both_sides_and_its_move_number() -> None:
    assert verdicts(DRAWISH, *scores(10, -10, 0, 3)) == [None] * 3 + [DRAW]
    assert verdicts(DRAWISH, *scores(0, 0, 0, 0, 0, first=1)) == [None] * 4 + [DRAW]


@pytest.mark.parametrize("outlier", [11, -11, None])
def test_a_score_outside_the_limits_or_none_restarts_the_count(outlier: int | None) -> None:
    assert verdicts(DRAWISH, *scores(0, 0, 0, outlier, 0, 0, 0, 0)) == [None] * 7 + [DRAW]


def test_a_removal_restarts_the_count_of_a_draw() -> None:
    """Scores before the removal rate other material."""
    adjudicator = Adjudicator(DRAWISH, DEFAULT_RULES)
    before = parse_position("O*******/********/@@@*OO** w 3 3 0 7")
    after = parse_position("O*******/********/*@@*OO** b 3 3 0 7")
    ended = [
        adjudicator.update(*move, 0, position)
        for move, position in zip(scores(0, 0, 0, 0, 0, 0), [before] * 2 + [after] * 4)
    ]
    assert ended == [None] * 5 + [DRAW]


def test_resignation_counts_only_the_moves_of_one_side() -> None:
    assert verdicts(LOSING, *scores(-500, 0, -501)) == [None, None, BLACK_WINS]
    assert verdicts(LOSING, *scores(0, -900, 0, -499, 0, -900)) == [None] * 6


def test_twosided_resignation_needs_won_scores_of_the_opponent() -> None:
    rule = replace(LOSING, resign_twosided=True)
    moves = scores(-WON, 100, -WON, 100, -WON, 500, -WON, 600)
    assert verdicts(rule, *moves) == [None] * 7 + [BLACK_WINS]


def test_resignation_waits_for_its_move_number() -> None:
    rule = Adjudication(resign_number=5, resign_count=1, resign_score=1)
    assert verdicts(rule, (4, WHITE, -9), (5, WHITE, -9)) == [None, BLACK_WINS]


def test_a_claimed_distance_counts_as_a_won_or_lost_score() -> None:
    claims = ((None, 7), (None, 0), (None, -4), (12, None), (None, None))
    assert [as_number(*claim) for claim in claims] == [WON, -WON, -WON, 12, None]


def test_the_limit_of_moves_includes_the_opening() -> None:
    adjudicator = Adjudicator(Adjudication(max_moves=2), DEFAULT_RULES)
    assert adjudicator.update(2, WHITE, None, 3, Position()) is None
    ended = adjudicator.update(2, BLACK, None, 4, Position())
    assert ended == (None, "limit of moves", "Draw by adjudication (2 moves)")


def test_nothing_is_adjudicated_by_default() -> None:
    adjudicator = Adjudicator(Adjudication(), DEFAULT_RULES)
    assert adjudicator.first_ply == NEVER
    assert adjudicator.update(500, WHITE, -WON, 1000, Position()) is None


def test_tables_adjudicate_the_games_that_they_decide(tmp_path: Path) -> None:
    rules = make_rules("morris", ["NoRemovalPlies=0"])
    Builder(tmp_path, rules).build(6)
    adjudicator = Adjudicator(Adjudication(tables=str(tmp_path)), rules)
    assert adjudicator.first_ply == 0
    # White is about to close the mill c5 d5 e5, and Black cannot prevent it in time.
    won = parse_position("O******O/@*@**O**/****@*** w 0 0 3 40", rules)
    assert adjudicator.update(40, BLACK, None, 80, won) == (
        WHITE, "adjudication by tables", "White wins by adjudication: tables")
    four = parse_position("O******O/@*@*@O**/****@*** w 0 0 3 40", rules)
    assert adjudicator.update(40, BLACK, None, 80, four) is None
    assert adjudicator.update(1, WHITE, None, 1, Position(rules)) is None


@pytest.mark.parametrize("folder", ["missing", "."])
def test_a_worker_without_the_tournaments_tables_plays_no_game(
    tmp_path: Path, folder: str
) -> None:
    """Without tables, its games would last longer than those of other workers."""
    Builder(tmp_path, make_rules("morris")).build(6)
    with pytest.raises(Failure, match=f"no tables for mill in -tb '{tmp_path / folder}'"):
        Adjudicator(Adjudication(tables=str(tmp_path / folder)), make_rules("mill"))
