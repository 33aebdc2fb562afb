"""The clock of a game: increments, moves taken back and replayed, and times as text."""

from __future__ import annotations

import pytest

from merels.engine.game.notation import parse_move
from merels.engine.game.position import BLACK, WHITE, Position
from merels.protocol.games.clock import Clock, clock_text, read_clock
from merels.protocol.games.game import Game


def timed(*moves: str) -> tuple[Game, Clock]:
    """Return a game after some moves, and its clock of 100 s and 200 s with 10 s increments."""
    game, clock = Game(Position()), Clock(100.0, 10.0, (100.0, 200.0))
    game.clock = clock
    for move in moves:
        clock.run(game.last.side)
        game.play(parse_move(move))
        clock.run(None)
    return game, clock


def times_left(clock: Clock) -> tuple[int, int]:
    """Return both sides' times, rounded to ten seconds to ignore the time of the test itself."""
    return int(round(clock.left(WHITE), -1)), int(round(clock.left(BLACK), -1))


def test_a_move_earns_its_increment_only_while_its_clock_runs() -> None:
    assert times_left(timed("d6")[1]) == (110, 200)
    assert times_left(timed("d6", "f4", "d2")[1]) == (120, 210)
    clock = Clock(100.0, 10.0)
    clock.press(WHITE)
    assert times_left(clock) == (100, 100), "a stopped clock gave an increment"


def test_taking_back_moves_restores_the_times_before_them() -> None:
    for count, expected in enumerate([(100, 200), (110, 200), (110, 210), (120, 210)]):
        game, clock = timed("d6", "f4", "d2", "b4")
        game.take_back(game.record.node(count))
        assert times_left(clock) == expected and clock.running is None


def test_replayed_moves_use_no_time_and_can_be_taken_back() -> None:
    game, clock = timed("d6", "f4", "d2", "b4")
    game.take_back(game.record.node(1))
    game.replay()
    assert times_left(clock) == (110, 200)
    game.take_back(game.record.node(2))
    assert times_left(clock) == (110, 200) and game.last.side == WHITE


def test_taking_back_more_moves_than_were_timed_restores_the_start() -> None:
    clock = Clock(100.0, 10.0)
    clock.run(WHITE)
    clock.press(WHITE)
    clock.take_back(5)
    assert times_left(clock) == (100, 100)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(300.0, "0:05:00"), (299.874, "0:04:59.87"), (59.999, "0:01:00"), (0.5, "0:00:00.5"),
     (36_610.0, "10:10:10"), (-3.0, "0:00:00")],
)
def test_a_time_is_written_as_in_pgn(seconds: float, text: str) -> None:
    assert clock_text(seconds) == text
    assert read_clock(text) == pytest.approx(max(0.0, seconds), abs=0.005)


@pytest.mark.parametrize("text", ["", "1:", "a", "1:2:3:4", "-1", "nan", "0:05:00 ", "1e3"])
def test_text_that_is_not_a_time_raises_value_error(text: str) -> None:
    assert read_clock("4:59.5") == 299.5 and read_clock("299.25") == 299.25
    with pytest.raises(ValueError):
        read_clock(text)


def test_each_timed_move_is_marked_with_the_remaining_time() -> None:
    game, clock = timed("d6", "f4")
    marks = [read_clock(node.marks["clk"]) for node in game.record.mainline()]
    assert marks == pytest.approx([clock.left(WHITE), clock.left(BLACK)], abs=0.005)
    game.clock = None
    game.play(parse_move("d2"))
    assert dict(game.live.marks) == {}
