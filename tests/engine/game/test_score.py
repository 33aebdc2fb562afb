"""Scores compare, negate and convert as those of python-chess do."""

from __future__ import annotations

import pytest

from merels.engine.common.errors import InputError
from merels.engine.game.position import BLACK, WHITE
from merels.engine.game.score import PovScore, Score

RISING = [Score(win_in=0), Score(win_in=-2), Score(win_in=-20), Score(cp=-300), Score(cp=0),
          Score(cp=1), Score(win_in=31), Score(win_in=3), Score(win_in=1)]


def test_scores_are_ordered_from_a_lost_game_to_the_shortest_win() -> None:
    assert sorted(RISING[::-1]) == RISING and max(RISING) == Score(win_in=1)
    assert Score(cp=5) >= Score(cp=5) and not Score(cp=5) < Score(cp=5)
    with pytest.raises(TypeError):
        assert Score(cp=5) < 6  # type: ignore[operator]


def test_the_opponent_s_view_reverses_the_order() -> None:
    assert sorted(-score for score in RISING[1:]) == [-score for score in RISING[:0:-1]]
    assert -Score(win_in=0) == Score(win_in=1), "0 has no sign"
    assert PovScore(Score(cp=7), BLACK).white() == Score(cp=-7)
    assert PovScore(Score(win_in=-4), WHITE).black() == Score(win_in=4)


def test_a_proven_end_has_a_distance_in_own_moves() -> None:
    moves = [Score(win_in=plies).mate() for plies in (1, 2, 3, 0, -1, -2, -3, -4)]
    assert moves == [1, 1, 2, 0, 0, -1, -1, -2]
    assert Score(cp=3).mate() is None and not Score(cp=3).is_mate()
    assert PovScore(Score(win_in=0), WHITE).is_mate()


def test_a_score_is_a_number_if_a_proven_end_gets_a_value() -> None:
    assert Score(cp=-12).score() == Score(cp=-12).score(mate_score=1000) == -12
    assert Score(win_in=5).score() is None
    values = [Score(win_in=plies).score(mate_score=1000) for plies in (5, 0, -4)]
    assert values == [997, -1000, -998]


def test_the_expectation_is_certain_for_a_proven_end_and_a_half_for_an_even_score() -> None:
    assert Score(win_in=3).expectation() == 1 and Score(win_in=-2).expectation() == 0
    assert Score(cp=0).expectation() == 0.5 < Score(cp=50).expectation() < 1


@pytest.mark.parametrize("side", ["white", True, 2, -1, None])
def test_a_view_needs_a_side(side: object) -> None:
    """In a former version, any value but White's gave Black's view, also python-chess's True."""
    with pytest.raises(InputError, match="expected a side"):
        PovScore(Score(cp=5), WHITE).pov(side)  # type: ignore[arg-type]


def test_a_score_has_one_field() -> None:
    for fields in ({}, {"cp": 1, "win_in": 2}):
        with pytest.raises(InputError, match="expected an integer, either cp or win_in"):
            Score(**fields)


def test_equal_scores_from_both_views_are_equal() -> None:
    white, black = PovScore(Score(cp=20), WHITE), PovScore(Score(cp=-20), BLACK)
    assert white == black and hash(white) == hash(black) and len({white, black}) == 1
    assert white != PovScore(Score(cp=20), BLACK) and white != Score(cp=20)
    assert PovScore(Score(win_in=3), WHITE) == PovScore(Score(win_in=-3), BLACK)
    # A lost game is over; a win in one ply is not.
    assert PovScore(Score(win_in=0), BLACK) != PovScore(Score(win_in=1), WHITE)
    assert PovScore(Score(win_in=0), BLACK) != PovScore(Score(win_in=0), WHITE)
