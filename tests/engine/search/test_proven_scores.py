"""Proven scores: a win announced is played out in as many plies, and each move brings it nearer."""

from __future__ import annotations

import pytest

from merels.engine.game.notation import parse_position
from merels.engine.game.rules import parse_rules
from merels.engine.search.limits import Limit
from merels.engine.search.searcher import Searcher

MORRIS = parse_rules("morris")
WON = (
    "****@**@/O*@**O**/*******O b 0 0 0 1",
    "**@@****/**OO****/*@O***** b 0 0 0 1",
    "*O****@*/***@@*O*/*****O** b 0 0 0 1",
)


@pytest.mark.parametrize("text", WON)
def test_a_proven_win_shrinks_to_its_end(text: str) -> None:
    position = parse_position(text, MORRIS)
    searcher = Searcher(8)
    result = searcher.search(position, Limit(nodes=300_000))
    left = result.score.win_in
    assert left is not None and left > 0
    winner = position.side
    while position.outcome() is None:
        assert left != 0 and result.move is not None
        position = position.push(result.move)
        if position.outcome() is not None:
            break
        result = searcher.search(position, Limit(nodes=300_000))
        now = result.score.win_in
        assert now is not None and (now > 0) == (position.side == winner)
        assert abs(now) < abs(left)
        left = now
    outcome = position.outcome()
    assert outcome is not None and outcome.winner == winner


def test_a_proven_win_takes_no_more_of_the_clock() -> None:
    position = parse_position(WON[2], MORRIS)
    result = Searcher(8).search(position, Limit(white_clock=600.0, black_clock=600.0))
    assert result.score.win_in is not None
    assert (result.info.depth or 0) < 20, "it went on, though no end comes sooner"
