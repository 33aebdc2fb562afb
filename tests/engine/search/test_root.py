"""Corrections of a search's score by tables at the root."""

from __future__ import annotations

import pytest

from merels.engine.game.score import TABLE_CP, Score
from merels.engine.search.root import Root
from merels.engine.tablebase.root_ranking import Choice


@pytest.mark.parametrize(
    ("value", "depth", "is_certain", "searched", "expected"),
    [
        (1, 7, True, -50, TABLE_CP - 7), (-1, 7, True, 50, 7 - TABLE_CP), (0, None, True, 50, 0),
        # A repetition may turn an uncertain win or loss into a draw, never into its opposite.
        (1, 7, False, 50, 50), (1, 7, False, -50, 0),
        (-1, 7, False, 50, 0), (-1, 7, False, -50, -50),
    ],
)  # fmt: skip
def test_a_score_agrees_with_the_value_in_the_tables(
    value: int, depth: int | None, is_certain: bool, searched: int, expected: int
) -> None:
    root = Root([5], choices={5: Choice(5, value, depth, is_certain)})
    assert root.score(5, Score(cp=searched)) == Score(cp=expected)
    assert root.score(5, Score(win_in=3)) == Score(win_in=3), "a proven score is kept"
    assert root.score(6, Score(cp=searched)) == Score(cp=searched), "not in the tables"
