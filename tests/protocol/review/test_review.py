"""The review of a game: the right moves are blamed, and nothing else."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from merels.engine.game.notation import format_position, parse_position
from merels.engine.game.position import WHITE, Move, Position
from merels.engine.game.rules import make_rules
from merels.engine.game.score import PovScore, Score
from merels.engine.search.searcher import Searcher
from merels.engine.tablebase.build import Builder
from merels.engine.tablebase.small import small_tables
from merels.protocol.formats.pgn.reader import parse_record
from merels.protocol.review.review import Value, judge_with, review, score_text
from merels.protocol.review.text import evaluation_text

THROWN = """\
[Variant "morris"]
[FEN "OO******/*****@**/@@***O** w 0 0 0 20"]
[SetUp "1"]

20. a1-g1 b2-a7xd5 0-1
"""
"""Each side can close a mill and win at once; White does not, and Black does."""

QUIET = "1. d6 f4 2. b6 f6 *"


def test_a_win_thrown_away_is_blamed_and_called_proven() -> None:
    thrown, taken = review(parse_record(THROWN), judge_with(Searcher(), 20_000))
    assert thrown.before.score.relative.win_in == 1 and thrown.after.score.relative.win_in == 1
    assert (thrown.loss, thrown.name, thrown.proven) == (1.0, "blunder", True)
    assert str(thrown.before.best).startswith("a1-c5x") and "was better" in thrown.sentence
    assert (taken.loss, taken.name, taken.after.best) == (0.0, "", None)
    assert taken.after.white == 0.0


def test_only_a_proven_mistake_is_called_proven() -> None:
    [judgement, _] = review(parse_record(THROWN), judge_with(Searcher(), 20_000))
    for proven, words in ((True, "Blunder, proven: "), (False, "Blunder: ")):
        assert replace(judgement, proven=proven).sentence.startswith(words)


def test_a_win_that_tables_know_is_thrown_away(tmp_path: Path) -> None:
    """Neither search sees the end, which is many plies off: the tables do."""
    searcher = Searcher()
    searcher.tables = small_tables(make_rules("morris"), tmp_path)
    assert searcher.tables is not None
    start, thrown = next(
        (position, move)
        for position in flying_positions()
        for move, known in searcher.tables.moves(position)
        if searcher.tables.probe(position) == (1, 15) and known is not None and known.value == 0
    )
    record = parse_record(f'[FEN "{format_position(start)}"]\n[Variant "morris"]\n\n1. {thrown} *')
    [blamed] = review(record, judge_with(searcher, 100))
    assert (blamed.loss, blamed.name, blamed.proven) == (0.5, "blunder", True)
    assert score_text(blamed.before.score) == "White wins"
    [guessed] = review(record, judge_with(Searcher(), 100))
    assert not guessed.proven


def test_a_known_loss_is_no_guess_where_tables_have_no_depths(tmp_path: Path) -> None:
    """After each move a limit on plies leaves doubt; the position itself is known."""
    searcher = Searcher()
    searcher.tables = tables = Builder(tmp_path, make_rules("morris"), threads=2).build(6)
    lost = (one for one in flying_positions() if tables.probe(one) == (-1, None))
    for position in islice(lost, 20):
        value = judge_with(searcher, 20)(position)
        assert value.proven and value.white == 0.0


def flying_positions() -> Iterator[Position]:
    """Positions of three men against three, White to move, the same ones each time."""
    chance = random.Random(1)
    while True:
        points = chance.sample(range(24), 6)
        men = (sum(1 << point for point in points[:3]), sum(1 << point for point in points[3:]))
        position = Position(make_rules("morris"), men, (0, 0), 0)
        if position.outcome() is None:
            yield position


def test_quiet_moves_are_not_blunders() -> None:
    judged = list(review(parse_record(QUIET), judge_with(Searcher(), 20_000)))
    assert len(judged) == 4
    assert all(0 <= judgement.loss < 0.3 for judgement in judged)


def test_losses_are_what_the_values_say() -> None:
    start = Position()
    d6, f4 = Move(None, 8), Move(None, 10)
    values = {
        start: Value(PovScore(Score(win_in=9), 0), Move(None, 0)),
        start.play(d6): Value(PovScore(Score(win_in=7), 1), f4),
        start.play(d6).play(f4): Value(PovScore(Score(win_in=-6), 0), d6),
    }
    record = parse_record("1. d6 f4 *")
    first, second = review(record, values.__getitem__)
    # White threw a proven win away and stands to lose; Black played the best move.
    assert (first.loss, first.name, first.proven) == (1.0, "blunder", True)
    assert first.sentence == "Blunder, proven: d5 was better"
    assert (second.loss, second.name, second.proven, second.sentence) == (0.0, "", False, "")


@pytest.mark.parametrize(
    ("loss", "name"),
    [(0.06, ""), (0.08, "inaccuracy"), (0.14, "inaccuracy"), (0.16, "mistake"), (0.29, "mistake"),
     (0.31, "blunder")],
)
def test_a_loss_has_the_name_of_its_size(loss: float, name: str) -> None:
    start, move = Position(), Move(None, 8)
    # What is worth so much less than a win that is proven.
    leads = (Value(PovScore(Score(cp=cp), WHITE), None) for cp in range(2000, -2000, -1))
    values = {
        start: Value(PovScore(Score(win_in=9), WHITE), Move(None, 0)),
        start.play(move): next(value for value in leads if value.white <= 1 - loss),
    }
    [judged] = review(parse_record("1. d6 *"), values.__getitem__)
    assert (round(judged.loss, 2), judged.name) == (loss, name)


def test_a_draw_by_the_rules_is_judged_a_draw() -> None:
    judge = judge_with(Searcher(), 1000)
    drawn = Position(hands=(0, 0), men=(0b111, 0b111 << 8), plies=4)
    assert drawn.outcome() is not None
    assert judge(drawn).score.relative == Score(cp=0) and judge(drawn).best is None


def test_scores_are_told_from_whites_side() -> None:
    assert score_text(PovScore(Score(cp=50), 1)) == "-0.50"
    assert score_text(PovScore(Score(win_in=5), 1)) == "Black wins in 3"
    assert score_text(PovScore(Score(win_in=-4), 0)) == "Black wins in 2"
    assert score_text(PovScore(Score(win_in=1), 0)) == "White wins in 1"


def test_scores_are_written_as_other_programs_read_them() -> None:
    assert evaluation_text(PovScore(Score(cp=50), 1)) == "-0.50"
    assert evaluation_text(PovScore(Score(win_in=5), 1)) == "#-3"
    assert evaluation_text(PovScore(Score(win_in=-4), 1)) == "#2"
    assert evaluation_text(PovScore(Score(cp=-19_990), 0)) == "-199.90"


def test_a_position_that_is_drawn_by_the_rules_is_not_searched() -> None:
    """Its material does not matter, and there is no better move."""
    rules = make_rules("morris", ["NoRemovalPlies=20"])
    ahead = "OOOO****/O*******/@@@***** w 0 0 {} 30"
    judge = judge_with(Searcher(), 200)
    drawn = parse_position(ahead.format(20), rules)
    assert judge(drawn) == Value(PovScore(Score(cp=0), WHITE), None)
    going_on = judge(parse_position(ahead.format(0), rules))
    assert going_on.best is not None and going_on.score.relative.cp != 0
