"""The review of a game: each move's loss, its name such as blunder, and whether it is proven."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import pytest

from merels.engine.game.notation import format_position, parse_position
from merels.engine.game.position import WHITE, Move, Position
from merels.engine.game.rules import make_rules
from merels.engine.game.score import PovScore, Score
from merels.engine.search.searcher import Searcher
from merels.protocol.formats.pgn.reader import parse_record
from merels.protocol.games.record import Record
from merels.protocol.review.review import Value, judge_with, review, score_text
from merels.protocol.review.text import Sums, accuracy_of, evaluation_text
from tests.kit.tables import built_tables
from tests.line_count import lines_run

MISSED_WIN = """\
[Variant "morris"]
[FEN "OO******/*****@**/@@***O** w 0 0 0 20"]
[SetUp "1"]

20. a1-g1 b2-a7xd5 0-1
"""
"""Each side can win at once by closing a mill; White misses the win, and Black plays it."""

QUIET = "1. d6 f4 2. b6 f6 *"


def test_a_missed_win_is_a_proven_blunder() -> None:
    miss, win = review(parse_record(MISSED_WIN), judge_with(Searcher(), 20_000))
    assert miss.before.score.relative.win_in == 1 and miss.after.score.relative.win_in == 1
    assert (miss.loss, miss.name, miss.proven) == (1.0, "blunder", True)
    assert str(miss.before.best).startswith("a1-c5x") and "was better" in miss.sentence
    assert (win.loss, win.name, win.after.best) == (0.0, "", None)
    assert win.after.white == 0.0


def test_the_steps_to_review_a_game_grow_with_its_length() -> None:
    shuffle = "c4-c5 e5-e4 c5-c4 e4-e5 "
    start = "1. g1 d6 d2 a7 g4 d5 d1 f6 b6 e5 c3 e3 b2 a4 c4 b4 d7 d3 "
    value = Value(PovScore(Score(cp=0), WHITE), None)

    def steps(shuffles: int) -> int:
        record = parse_record(start + shuffle * shuffles)
        return lines_run(lambda: list(review(record, lambda _: value)))

    short, long = steps(50), steps(100)
    assert long < 2.2 * short


def test_only_a_proven_mistake_is_called_proven() -> None:
    [judgement, _] = review(parse_record(MISSED_WIN), judge_with(Searcher(), 20_000))
    for proven, words in ((True, "Blunder, proven: "), (False, "Blunder: ")):
        assert replace(judgement, proven=proven).sentence.startswith(words)


def test_tables_prove_a_blunder_beyond_the_search() -> None:
    searcher = Searcher()
    searcher.tables = built_tables(make_rules("morris"), 7, depths=True)
    # The win takes 15 plies; a search of 100 nodes does not find it.
    start, blunder = next(
        (position, move)
        for position in flying_positions()
        for move, entry in searcher.tables.moves(position)
        if searcher.tables.probe(position) == (1, 15) and entry is not None and entry.value == 0
    )
    record = parse_record(f'[FEN "{format_position(start)}"]\n[Variant "morris"]\n\n1. {blunder} *')
    [proven] = review(record, judge_with(searcher, 100))
    assert (proven.loss, proven.name, proven.proven) == (0.5, "blunder", True)
    assert score_text(proven.before.score) == "White wins"
    [searched] = review(record, judge_with(Searcher(), 100))
    assert not searched.proven


def test_a_loss_in_tables_without_depths_is_proven() -> None:
    """Without depths, a limit on plies makes only the values after the moves uncertain."""
    searcher = Searcher()
    searcher.tables = tables = built_tables(make_rules("morris"), 6)
    lost = (position for position in flying_positions() if tables.probe(position) == (-1, None))
    for position in islice(lost, 20):
        value = judge_with(searcher, 20)(position)
        assert value.proven and value.white == 0.0


def flying_positions() -> Iterator[Position]:
    """Yield random positions of three men against three, White to move, from a fixed seed."""
    generator = random.Random(1)
    while True:
        points = generator.sample(range(24), 6)
        men = (sum(1 << point for point in points[:3]), sum(1 << point for point in points[3:]))
        position = Position.of(make_rules("morris"), men, (0, 0), 0)
        if position.outcome() is None:
            yield position


def test_quiet_moves_are_not_blunders() -> None:
    judgements = list(review(parse_record(QUIET), judge_with(Searcher(), 20_000)))
    assert len(judgements) == 4
    assert all(0 <= judgement.loss < 0.3 for judgement in judgements)


def test_losses_follow_from_the_values_before_and_after() -> None:
    start = Position()
    d6, f4 = Move(None, 8), Move(None, 10)
    values = {
        start: Value(PovScore(Score(win_in=9), 0), Move(None, 0)),
        start.play(d6): Value(PovScore(Score(win_in=7), 1), f4),
        start.play(d6).play(f4): Value(PovScore(Score(win_in=-6), 0), d6),
    }
    record = parse_record("1. d6 f4 *")
    first, second = review(record, values.__getitem__)
    # White turns a proven win into a loss; Black plays the best move.
    assert (first.loss, first.name, first.proven) == (1.0, "blunder", True)
    assert first.sentence == "Blunder, proven: d5 was better"
    assert (second.loss, second.name, second.proven, second.sentence) == (0.0, "", False, "")


def test_the_best_move_has_no_loss_even_if_the_next_search_scores_it_lower() -> None:
    start, d6 = Position(), Move(None, 8)
    values = {
        start: Value(PovScore(Score(cp=300), WHITE), d6),
        start.play(d6): Value(PovScore(Score(cp=0), WHITE), None),
    }
    [judgement] = review(parse_record("1. d6 *"), values.__getitem__)
    assert (judgement.loss, judgement.name) == (0.0, "")


@pytest.mark.parametrize(
    ("loss", "name"),
    [(0.06, ""), (0.08, "inaccuracy"), (0.14, "inaccuracy"), (0.16, "mistake"), (0.29, "mistake"),
     (0.31, "blunder")],
)
def test_the_loss_of_a_move_determines_its_name(loss: float, name: str) -> None:
    start, move = Position(), Move(None, 8)
    # The proven win before the move counts 1, so the value after it is 1 - loss.
    evaluations = (Value(PovScore(Score(cp=cp), WHITE), None) for cp in range(2000, -2000, -1))
    values = {
        start: Value(PovScore(Score(win_in=9), WHITE), Move(None, 0)),
        start.play(move): next(value for value in evaluations if value.white <= 1 - loss),
    }
    [judgement] = review(parse_record("1. d6 *"), values.__getitem__)
    assert (round(judgement.loss, 2), judgement.name) == (loss, name)


def test_a_drawn_position_scores_zero_and_has_no_best_move() -> None:
    judge = judge_with(Searcher(), 1000)
    drawn = Position.of(hands=(0, 0), men=(0b111, 0b111 << 8), plies=4)
    assert drawn.outcome() is not None
    assert judge(drawn).score.relative == Score(cp=0) and judge(drawn).best is None


def test_score_text_is_white_s_view() -> None:
    assert score_text(PovScore(Score(cp=50), 1)) == "-0.50"
    assert score_text(PovScore(Score(win_in=5), 1)) == "Black wins in 3"
    assert score_text(PovScore(Score(win_in=-4), 0)) == "Black wins in 2"
    assert score_text(PovScore(Score(win_in=1), 0)) == "White wins in 1"


def test_evaluation_text_has_the_form_of_pgn_eval() -> None:
    assert evaluation_text(PovScore(Score(cp=50), 1)) == "-0.50"
    assert evaluation_text(PovScore(Score(win_in=5), 1)) == "#-3"
    assert evaluation_text(PovScore(Score(win_in=-4), 1)) == "#2"
    assert evaluation_text(PovScore(Score(cp=-19_990), 0)) == "-199.90"


def test_material_does_not_matter_in_a_drawn_position() -> None:
    rules = make_rules("morris", ["NoRemovalPlies=20"])
    ahead = "OOOO****/O*******/@@@***** w 0 0 {} 30"
    judge = judge_with(Searcher(), 200)
    drawn = parse_position(ahead.format(20), rules)
    assert judge(drawn) == Value(PovScore(Score(cp=0), WHITE), None)
    undecided = judge(parse_position(ahead.format(0), rules))
    assert undecided.best is not None and undecided.score.relative.cp != 0


def test_moves_by_chance_are_not_accurate() -> None:
    """Moves of a lost side, which lose nothing more, made random games 91 to 97 % accurate."""
    generator, record = random.Random(7), Record(Position())
    node = record.root
    while node.position.outcome() is None and node.ply < 40:
        node = record.add(node, generator.choice(node.position.legal_moves()))
    sums = (Sums(), Sums())
    for judgement in review(record, judge_with(Searcher(), 5000)):
        sums[judgement.side].add(judgement)
    assert all(side.accuracy is not None and side.accuracy < 80 for side in sums)
    assert any(len(side.accuracies) < side.moves for side in sums)


def test_accuracy_is_on_the_scale_of_lichess_and_unknown_without_moves_at_stake() -> None:
    sums = Sums()
    assert sums.accuracy is None and str(sums).endswith("; average loss 0.0% a move")
    for loss, accuracy in ((0.0, 100.0), (0.1, 63.6), (0.3, 24.8), (1.0, 1.0)):
        assert Sums(accuracies=[accuracy_of(loss)]).accuracy == pytest.approx(accuracy, abs=0.1)
