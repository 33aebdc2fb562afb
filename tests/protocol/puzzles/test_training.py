"""Solving puzzles: moves, hints, and the player's rating."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from merels.engine.common.errors import InputError
from merels.engine.game.notation import parse_move, parse_position
from merels.protocol.puzzles.puzzle import Puzzle
from merels.protocol.puzzles.training import Attempt, Player, Trainer

POSITION = parse_position("OO******/@@*****O/*O*****@ w 0 0 0 30")


def puzzle(*line: str, holding: int = 1) -> Puzzle:
    """Return a puzzle in `POSITION` with a line of moves."""
    moves = tuple(map(parse_move, line))
    return Puzzle(POSITION, 1, moves, moves[-1:], holding, 12, None)


def first_moves() -> list[str]:
    """Return the legal moves in `POSITION`."""
    return [str(move) for move in POSITION.legal_moves()]


def test_a_right_move_gets_a_reply_until_the_line_ends() -> None:
    right, wrong = first_moves()[:2]
    reply = str(POSITION.play(parse_move(right)).legal_moves()[0])
    after_reply = POSITION.play(parse_move(right)).play(parse_move(reply))
    final = str(after_reply.legal_moves()[0])
    attempt = Attempt(puzzle(right, reply, final))
    assert attempt.play(parse_move(wrong)) is None
    assert (attempt.points, attempt.step, attempt.position) == (0.0, 0, POSITION)
    attempt.hint()
    assert attempt.play(parse_move(right)) == POSITION.play(parse_move(right))
    assert (attempt.step, attempt.position, attempt.last) == (2, after_reply, parse_move(reply))
    assert (attempt.hints, attempt.solved, str(attempt.wanted)) == (0, False, final)
    attempt.play(parse_move(final))
    assert attempt.solved and attempt.last == parse_move(final)
    for action in (attempt.hint, lambda: attempt.play(parse_move(final))):
        with pytest.raises(InputError, match="this puzzle is solved"):
            action()


def test_the_first_hint_leaves_half_the_points_and_the_second_none() -> None:
    attempt = Attempt(puzzle(first_moves()[0]))
    assert (attempt.hint(), attempt.points) == (1, 0.5)
    assert (attempt.hint(), attempt.points) == (2, 0.0)
    assert (attempt.hint(), attempt.points) == (2, 0.0)


def test_an_attempt_counts_once_if_it_is_rated_and_decided() -> None:
    trainer = Trainer()
    move = parse_move(first_moves()[0])
    undecided, unrated, solved, missed = (Attempt(puzzle(first_moves()[0])) for _ in range(4))
    unrated.rated = False
    unrated.play(move)
    for attempt in (undecided, unrated):
        trainer.count(attempt)
        assert attempt.change is None
    assert trainer.player == Player()
    solved.play(move)
    missed.points = 0.0
    for attempt, tried in ((solved, 1), (missed, 2)):
        for _ in range(2):
            trainer.count(attempt)
            assert trainer.player.tried == tried
    assert solved.change is not None and missed.change is not None
    assert solved.change > 0 > missed.change


def test_the_rating_changes_by_points_minus_expected_points() -> None:
    player = Player(rating=1500.0)
    easy, hard = puzzle("d6", holding=6), puzzle("d6", holding=1)
    assert easy.rating < hard.rating
    assert 0 < Player(1500.0).score(easy, 1.0) < Player(1500.0).score(hard, 1.0)
    assert Player(1500.0).score(hard, 0.0) > Player(1500.0).score(easy, 0.0)
    assert Player(1500.0).score(hard, 1.0) > Player(1500.0).score(hard, 0.5)
    for points in (1.0, 0.5, 1.0, 1.0, 0.0):
        player.score(hard, points)
    assert (player.tried, player.solved, player.streak, player.best) == (5, 4, 0, 2)
    assert Player(100.0).score(easy, 0.0) == 0, "the lowest rating is 100"
    expected = 1 / (1 + 10 ** ((hard.rating - 1500) / 400))
    # The factor K is 60 for the first puzzles, and 24 later.
    assert Player(1500.0).score(hard, 1.0) == round(60 * (1 - expected))
    assert Player(1500.0, tried=1000).score(hard, 0.5) == round(24 * (0.5 - expected))


def test_the_rating_is_saved_and_read_again(tmp_path: Path) -> None:
    trainer, other = Trainer(tmp_path / "new"), Trainer(tmp_path / "new")
    for current, tried in ((trainer, 1), (other, 2), (trainer, 3)):
        attempt = Attempt(puzzle(first_moves()[0]))
        attempt.points = 0.0
        current.count(attempt)
        assert (current.player.tried, current.save_error) == (tried, "")
    assert asdict(Trainer(tmp_path / "new").player) == asdict(trainer.player)


def test_the_only_puzzle_is_chosen_again() -> None:
    only = puzzle(first_moves()[0])
    trainer = Trainer(None, [only])
    assert trainer.next().puzzle is only is trainer.next().puzzle
    with pytest.raises(InputError, match="there are no puzzles of these rules; make a file"):
        Trainer().next()
