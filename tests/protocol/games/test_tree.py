"""The tree of moves: records, the main line of a game, and edits of variations."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from copy import copy, deepcopy

import pytest

from merels.engine.common.errors import InputError
from merels.engine.game.notation import parse_move, parse_position
from merels.engine.game.rules import PRESETS
from merels.protocol.formats.pgn.reader import parse_record
from merels.protocol.games.writer import format_record
from merels.protocol.games.game import Game, game_of
from merels.protocol.games.record import Record

TEXT = "{Hello} 1. d6 {a} ( 1. f4 $1 {b} ( 1. b4 ) 1... d6 ) ( 1. d2 ) 1... f4 $2 ( 1... b4 ) *"


def record_text(record: Record) -> str:
    """Return a record's movetext on one line."""
    return " ".join(format_record(record).split("\n\n")[1].split())


def movetext(game: Game) -> str:
    """Return the movetext of a game's record on one line."""
    return record_text(game.snapshot(("A", "B")))


def test_a_tree_is_read_and_written() -> None:
    record = parse_record(TEXT)
    text = record_text(record)
    # Variations of the same move are written one after another.
    assert text == (
        "{Hello} 1. d6 {a} ( 1. f4 $1 {b} d6 ) ( 1. d2 ) ( 1. b4 ) 1... f4 $2 ( 1... b4 ) *"
    )
    assert record_text(parse_record(text)) == text == record_text(record.copy())


def test_a_move_of_the_game_becomes_the_main_line_and_keeps_the_other_moves() -> None:
    game = game_of(parse_record("1. d6 f4 2. d2 *"))
    game.play_from(game.record.node(1))
    game.play(parse_move("b4"))
    assert movetext(game) == "1. d6 b4 ( 1... f4 2. d2 ) *"
    game.take_back(game.record.node(1))
    assert game.can_replay
    game.play(parse_move("f4"))
    assert movetext(game) == "1. d6 f4 ( 1... b4 ) ( 1... f4 2. d2 ) *"
    assert not game.can_replay


def test_the_main_line_of_a_running_game_is_neither_deleted_nor_replaced() -> None:
    game = Game(parse_record("1. d6 *").start)
    game.play(parse_move("d6"))
    game.at = game.record.root
    game.attempt(parse_move("f4"))
    with pytest.raises(InputError, match="stays the main line"):
        game.promote(game.at)
    with pytest.raises(InputError, match="cannot be deleted during the game"):
        game.delete(game.live)
    game.resign(0)
    # The end of the game changes nothing, because its result belongs to the main line.
    with pytest.raises(InputError, match="stays the main line"):
        game.promote(game.at)
    with pytest.raises(InputError, match="cannot be deleted after the game"):
        game.delete(game.live)
    ended = "1. d6 {Black wins, White resigns} ( 1. f4 ) 0-1"
    assert movetext(game) == ended
    # A game read from a record can have another main line, which hides the result.
    game = saved(game)
    game.promote(game.record.node(2))
    assert movetext(game) == "1. f4 ( 1. d6 ) *"
    game.undo_edit()
    assert movetext(game) == ended


def test_deleting_the_end_of_a_record_and_undoing_it_keeps_its_result() -> None:
    game = game_of(parse_record("1. d6 f4 1-0"))
    game.delete(game.record.node(2))
    assert (game.result(), game.live.number) == (("*", ""), 1)
    game.undo_edit()
    assert (game.result(), game.live.number) == (("1-0", ""), 2)
    with pytest.raises(InputError, match="nothing to undo"):
        game.undo_edit()


def test_every_change_except_a_new_last_child_is_counted_as_an_edit() -> None:
    """The page, which keeps all nodes, requests them again only after an edit."""
    record = parse_record("1. d6 f4 2. d2 ( 2. b4 ) *")
    last = record.end()
    assert last.parent is not None
    other = next(node for node in last.parent.children if node is not last)
    edits = record.edits
    record.add(last, parse_move("b2"))
    assert record.edits == edits
    changes: list[Callable[[], object]] = [
        lambda: record.put(other, 0), lambda: record.remove(other), lambda: record.put(other, 1),
        lambda: record.comment(last, "good"), lambda: record.stop_at(last),
        lambda: record.stop_at(None),
    ]  # fmt: skip
    for number, change in enumerate(changes, edits + 1):
        change()
        assert record.edits == number
    record.stop_at(None)
    assert record.edits == number, "an unchanged end of the main line was counted"


def test_a_node_that_is_removed_is_not_found_until_it_is_put_back() -> None:
    tree = parse_record("1. d6 f4 2. d2 *")
    tree.remove(top := tree.node(2))
    assert [tree.find(number) is None for number in range(4)] == [False, False, True, True]
    assert top not in tree and list(tree) == [tree.node(0), tree.node(1)]
    with pytest.raises(InputError, match="expected the number of a move"):
        tree.node(3)
    tree.put(top, 0)
    assert tree.node(2) is top and tree.find(3) and [node.number for node in tree] == [0, 1, 2, 3]


def test_an_agreed_draw_is_read_back_from_its_record() -> None:
    game = Game(parse_record("1. d6 *").start)
    game.play(parse_move("d6"))
    game.agree()
    text = format_record(game.snapshot(("A", "B")))
    assert "1. d6 {Draw by agreement} 1/2-1/2" in text
    assert game_of(parse_record(text)).result() == ("1/2-1/2", "Draw by agreement")


def test_a_result_that_the_moves_show_is_no_comment() -> None:
    start = parse_position("OO******/@@@*****/*O****** w 0 0 0 30", PRESETS["mill"])
    game = Game(start)
    winning = next(move for move in start.legal_moves() if start.play(move).outcome())
    game.play(winning)
    assert movetext(game) == f"30. {winning} 1-0"
    # Records of older versions have this comment; a comment of the user stays.
    ended = format_record(game.snapshot(("A", "B"))).replace(
        f"{winning} ", f"{winning} {{White wins, Black has two men}} "
    )
    reread = game_of(parse_record(ended))
    assert reread.live.comment == "" and movetext(reread) == movetext(game)
    kept = game_of(parse_record(ended.replace("two men}", "two men left}")))
    assert kept.live.comment == "White wins, Black has two men left"


def played(*moves: str) -> Game:
    """Return a game in play after some moves."""
    game = Game(parse_record("1. d6 *").start)
    for move in moves:
        game.play(parse_move(move))
    return game


def saved(game: Game) -> Game:
    """Return the game that is read from a game's record."""
    return game_of(parse_record(format_record(game.snapshot(("A", "B")))))


def test_moves_that_were_taken_back_become_a_variation() -> None:
    game = played("d6", "f4", "d2", "b4")
    game.take_back(game.record.node(2))
    assert movetext(game) == "1. d6 f4 ( 1... f4 2. d2 b4 ) *"
    reread = saved(game)
    assert movetext(reread) == movetext(game) and reread.live.ply == 2
    game.resign(1)
    assert movetext(game) == (
        "1. d6 f4 {White wins, Black resigns} ( 1... f4 2. d2 b4 ) 1-0"
    )
    reread = saved(game)
    assert reread.result() == ("1-0", "White wins, Black resigns") and reread.live.ply == 2
    assert movetext(reread) == movetext(game)


def test_a_game_whose_moves_were_all_taken_back_has_only_a_variation() -> None:
    game = played("d6", "f4")
    game.record.comment(game.record.node(1), "a start")
    game.take_back(game.record.root)
    game.resign(0)
    assert movetext(game) == "{Black wins, White resigns} ( 1. d6 {a start} f4 ) 0-1"
    reread = saved(game)
    assert reread.result() == ("0-1", "Black wins, White resigns") and reread.live.ply == 0
    assert movetext(reread) == movetext(game)


def test_replayed_moves_become_the_main_line_again() -> None:
    game = played("d6", "f4", "d2")
    game.take_back(game.record.node(2))
    game.take_back(game.record.node(1))
    game.replay()
    assert movetext(game) == "1. d6 f4 ( 1... f4 2. d2 ) *"
    game.replay()
    assert movetext(game) == "1. d6 f4 2. d2 *"
    # A variation promoted meanwhile does not change this.
    game.take_back(game.record.node(2))
    game.attempt(parse_move("b4"))
    game.promote(game.at)
    game.replay()
    assert movetext(game) == "1. d6 f4 2. d2 ( 2. b4 ) *"


def test_a_resignation_after_taking_back_a_win_ends_the_shorter_game() -> None:
    start = parse_position("OO******/@@@*****/*O****** w 0 0 0 30", PRESETS["mill"])
    game = Game(start)
    winning = next(move for move in start.legal_moves() if start.play(move).outcome())
    game.play(winning)
    assert game.result()[0] == "1-0"
    game.take_back(game.record.root)
    game.resign(0)
    assert not game.can_replay
    assert movetext(game) == f"{{Black wins, White resigns}} ( 30. {winning} ) 0-1"


def test_playing_the_same_moves_again_does_not_restore_a_resignation() -> None:
    game = played("d6", "f4")
    game.resign(0)
    game.take_back(game.record.root)
    game.play(parse_move("d6"))
    game.play(parse_move("f4"))
    assert game.result() == ("*", "")
    game.take_back(game.record.node(1))
    game.replay()
    assert game.result() == ("*", "")


def test_replay_restores_a_resignation_that_was_taken_back() -> None:
    game = played("d6", "f4")
    game.resign(0)
    game.take_back(game.record.root)
    assert game.result() == ("*", "")
    game.replay()
    assert game.result() == ("0-1", "Black wins, White resigns")


@pytest.mark.parametrize("change", [
    lambda game: game.take_back(game.live.parent), lambda game: game.replay(),
])  # fmt: skip
def test_undoing_an_edit_does_not_move_the_end_of_the_game(
    change: Callable[[Game], None]
) -> None:
    """The edit would restore the last move at its time, and hide the result of a later one."""
    game = Game(parse_record("1. d6 *").start)
    for move in ("d6", "f4", "d2"):
        game.play(parse_move(move))
    game.take_back(game.record.node(2))
    game.comment(game.record.node(1), "good")
    change(game)
    game.resign(0)
    if game.can_undo_edit:
        game.undo_edit()
    assert (game.live, game.result()[0]) == (game.record.end(), "0-1")


def test_a_move_that_was_tried_is_a_variation_of_the_game() -> None:
    game = played("d6", "f4")
    game.attempt(parse_move("d2"))
    assert movetext(game) == "1. d6 f4 ( 1... f4 2. d2 ) *"
    game.resign(0)
    assert movetext(game) == "1. d6 f4 {Black wins, White resigns} ( 1... f4 2. d2 ) 0-1"
    # A move tried after the end is a variation, too, also in a game read from a record.
    for ended in (game, saved(game), game_of(parse_record("1. d6 f4 0-1"))):
        ended.at = ended.live
        ended.attempt(parse_move("b4"))
        assert ended.result()[0] == "0-1" and movetext(ended).startswith("1. d6 f4 ")
        assert movetext(ended).endswith("b4 ) 0-1")


def test_moves_tried_after_an_unfinished_record_extend_its_main_line() -> None:
    game = game_of(parse_record("1. d6 f4 *"))
    game.attempt(parse_move("d2"))
    assert movetext(game) == "1. d6 f4 2. d2 *"
    fresh = Game(game.record.start)
    fresh.attempt(parse_move("d6"))
    assert movetext(fresh) == "1. d6 *"


def test_a_variation_that_repeats_the_last_move_does_not_extend_the_game() -> None:
    text = "1. d6 f4 ( 1... f4 2. d2 ) 1-0"
    game = game_of(parse_record(text))
    assert game.live.ply == 2 and game.result() == ("1-0", "")
    assert movetext(game) == text
    game.promote(game.record.node(3))
    assert movetext(game) == "1. d6 f4 2. d2 *"
    game.undo_edit()
    assert movetext(game) == text


def unpickled(record: Record) -> Record:
    """Return the record after a round trip through `pickle`."""
    twin: Record = pickle.loads(pickle.dumps(record))
    return twin


@pytest.mark.parametrize("twin", (unpickled, copy, deepcopy))
def test_a_long_record_with_variations_is_pickled_and_copied(
    twin: Callable[[Record], Record],
) -> None:
    record = parse_record(TEXT)
    position, node = record.final(), record.end()
    while node.ply < 600 and (moves := position.played_on().legal_moves()):
        move = moves[-1]
        node = record.append(node, move)
        position = position.played_on().play(move)
    assert node.ply > 178
    record.put(record.root.children[1], 0)
    removed = record.root.children[-1]
    record.remove(removed)
    record.stop_at(record.root.children[1].children[0])
    again = twin(record)
    assert format_record(again) == format_record(record)
    assert [node.number for node in again] == [node.number for node in record]
    assert again.next_number == record.next_number
    assert again.find(removed.number) is None
    assert again.stop is again.node(record.stop.number if record.stop else None)
    again.comment(again.root, "changed")
    again.tags["Event"] = "changed"
    assert record.root.comment == "Hello" and record.tags.get("Event") != "changed"


def test_records_and_nodes_have_readable_reprs() -> None:
    record = parse_record(TEXT)
    assert repr(record) == f"<Record: 2 plies, result *, tags {record.tags}>"
    assert repr(record.root) == "<Node 0: start, ply 0>"
    assert repr(record.mainline()[1]) == f"<Node {record.mainline()[1].number}: f4, ply 2>"
