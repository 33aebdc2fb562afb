"""The tree of moves: from a record and back, and what the game itself keeps."""

from __future__ import annotations

import pytest

from merels.engine.game.errors import InputError
from merels.engine.game.notation import parse_move
from merels.engine.game.record import format_record
from merels.engine.game.record_reader import parse_record
from merels.protocol.games.game import Game, game_of
from merels.protocol.games.tree import from_record, to_record

TEXT = "{Hello} 1. d6 {a} ( 1. f4 $1 {b} ( 1. b4 ) 1... d6 ) ( 1. d2 ) 1... f4 $2 ( 1... b4 ) *"


def movetext(game: Game) -> str:
    """The moves of a game as its record writes them."""
    return " ".join(format_record(game.record(("A", "B"))).split("\n\n")[1].split())


def test_a_tree_is_read_and_written() -> None:
    tree = from_record(parse_record(TEXT))
    text = " ".join(format_record(to_record(tree)).split("\n\n")[1].split())
    # Variations of one move stand side by side.
    assert text == (
        "{Hello} 1. d6 {a} ( 1. f4 $1 {b} d6 ) ( 1. d2 ) ( 1. b4 ) 1... f4 $2 ( 1... b4 ) *"
    )
    again = to_record(from_record(parse_record(text)))
    assert " ".join(format_record(again).split("\n\n")[1].split()) == text


def test_a_move_of_the_game_is_the_main_line_and_forgets_nothing() -> None:
    game = game_of(parse_record("1. d6 f4 2. d2 *"))
    game.play_from(game.tree.node(1))
    game.play(parse_move("b4"))
    assert movetext(game) == "1. d6 b4 ( 1... f4 2. d2 ) *"
    game.take_back(game.tree.node(1))
    assert game.can_replay
    game.play(parse_move("f4"))
    assert movetext(game) == "1. d6 f4 ( 1... b4 ) 2. d2 *" and not game.can_replay


def test_the_main_line_of_a_running_game_is_neither_deleted_nor_replaced() -> None:
    game = Game(parse_record("1. d6 *").start)
    game.play(parse_move("d6"))
    game.at = game.tree.root
    game.attempt(parse_move("f4"))
    with pytest.raises(InputError, match="stays the main line"):
        game.promote(game.at)
    with pytest.raises(InputError, match="not deleted while it is played"):
        game.delete(game.live)
    game.resign(0)
    game.promote(game.at)
    assert movetext(game) == "1. f4 ( 1. d6 ) 0-1"
    game.undo_edit()
    game.undo_edit()
    assert movetext(game) == "1. d6 {Black wins, White resigns} 0-1"


def test_deleting_the_end_of_a_record_and_undoing_it_keeps_its_result() -> None:
    game = game_of(parse_record("1. d6 f4 1-0"))
    game.delete(game.tree.node(2))
    assert (game.result(), game.live.number) == (("*", ""), 1)
    game.undo_edit()
    assert (game.result(), game.live.number) == (("1-0", ""), 2)
    with pytest.raises(InputError, match="nothing to undo"):
        game.undo_edit()


def test_an_agreed_draw_is_read_as_it_was_written() -> None:
    game = Game(parse_record("1. d6 *").start)
    game.play(parse_move("d6"))
    game.agree()
    text = format_record(game.record(("A", "B")))
    assert "1. d6 {Draw by agreement} 1/2-1/2" in text
    assert game_of(parse_record(text)).result() == ("1/2-1/2", "Draw by agreement")
