"""PlayOK's records, and the detection of every form by `pasted`."""

from __future__ import annotations

import random

import pytest

from merels.engine.common.errors import InputError
from merels.engine.game.board import LINES, NAMES
from merels.engine.game.notation import parse_move, parse_position
from merels.engine.game.position import Move, Position
from merels.engine.game.rules import preset
from merels.protocol.formats.files import pasted
from merels.protocol.formats.forms import write_game
from merels.protocol.formats.pgn.reader import parse_record, parse_records
from merels.protocol.formats.pgn.variants import RecordRules
from merels.protocol.formats.playok import (
    NUMBERS,
    format_playok,
    format_playok_move,
    parse_playok_move,
)
from merels.protocol.games.record import Record
from tests.engine.random_games import choose

POINT_NUMBERS = """\
    1 a7  2 d7  3 g7
    4 b6  5 d6  6 f6
    7 c5  8 d5  9 e5
    10 a4 11 b4 12 c4 13 e4 14 f4 15 g4
    16 c3 17 d3 18 e3
    19 b2 20 d2 21 f2
    22 a1 23 d1 24 g1
"""


def test_points_are_numbered_row_by_row() -> None:
    words = POINT_NUMBERS.split()
    assert NUMBERS == {name: int(number) for number, name in zip(words[::2], words[1::2])}
    # These numbers are mills only if the numbering is right.
    mills = [{NUMBERS[NAMES[point]] for point in line} for line in LINES]
    assert all(mill in mills for mill in ({3, 15, 24}, {22, 23, 24}, {7, 12, 16}))


@pytest.mark.parametrize(
    "text, move",
    [
        ("7", "c5"), ("7x12", "c5xc4"), ("2-5x9", "d7-d6xe5"), ("22-10", "a1-a4"),
        ("1x2x3", "a7xd7xg7"),
    ],
)
def test_moves_in_numbers_are_read_and_written(text: str, move: str) -> None:
    assert parse_playok_move(text) == parse_move(move)
    assert format_playok_move(parse_move(move)) == text


@pytest.mark.parametrize(
    "text", ["", "0", "25", "d6", "1-", "-1", "1-1", "7x7", "1x2x3x4", "1_2", "²"]
)
def test_an_invalid_move_in_numbers_is_an_error(text: str) -> None:
    with pytest.raises(InputError):
        parse_playok_move(text)


def read_game(text: str) -> Record:
    """Return the only game or position of a text."""
    [found] = pasted(text)
    record = found.read(RecordRules())
    assert isinstance(record, Record)
    return record


def random_game(seed: int, position: Position) -> list[Move]:
    """Return the moves of a random game, at most 200."""
    generator = random.Random(seed)
    moves: list[Move] = []
    while position.outcome() is None and len(moves) < 200:
        moves.append(choose(position, position.legal_moves(), generator))
        position = position.play(moves[-1])
    return moves


@pytest.mark.parametrize("variant", ["mill", "multi", "loc"])
def test_games_are_written_and_read_back(variant: str) -> None:
    for seed in range(20):
        moves = random_game(seed, Position(rules=preset(variant)))
        record = Record(Position(rules=preset(variant)), moves, "*", {"White": "A"})
        text = format_playok(record)
        reread = read_game(text)
        assert (reread.moves, reread.start, reread.tags["White"]) == (moves, record.start, "A")
        assert format_playok(reread) == text


def test_a_record_in_the_layout_of_the_site_is_read() -> None:
    text = (
        '[Event "?"]\r\n[White "ann"]\r\n[Black "bo b"]\r\n[Result "1-0"]\r\n\r\n'
        "1. 5 14 2. 2 11 {good} 3. 8x14 22 1-0\r\n"
    )
    record = parse_record(text)
    assert [str(move) for move in record.moves] == ["d6", "f4", "d7", "b4", "d5xf4", "a1"]
    assert (record.result, record.tags["Black"]) == ("1-0", "bo b")
    assert record.mainline()[3].comment == "good"
    moves = "1. 5 14 2. 2 23 3. 20 8"
    record = parse_record(moves)
    assert format_playok(record).partition("\n\n")[2] == f"{moves} *\n"
    assert parse_record(moves.replace(". ", ".")).moves == record.moves


@pytest.mark.parametrize(
    "text, message",
    [
        ("1. 5 14\n2. 2 25",
         "'25': expected points from 1 to 24, found 25 (move 2, Black, line 2)"),
        ("1. 5 14\n\n2. 5", "'5': illegal move, 5 is occupied (move 2, White, line 3)"),
        ("1. 5 14 2. 2 11 3. 8",
         "'8': illegal move, the move must remove one man (move 3, White, line 1)"),
        ("1. 5 oops",
         "'oops': expected a move such as 7, 7x12, 2-5 or 2-5x9 (move 1, Black, line 1)"),
        ("1. 5 14\n{open", "'{open': expected a comment that ends with '}' (line 2)"),
        ('[Variant "d6"]\n1. 5 14 *',
         "'d6': expected a rule set: loc, mill, multi, morris, roman (tag Variant, line 1)"),
        ("*****?**/********/******** w 9 9 0 1",
         "'?' (token 0): expected O, @ or * at c3, character 6 of ring 1"),
        ("********/******** w 9 9 0 1",
         "'********/********' (token 0): expected three rings of eight points, separated by '/'"),
    ],
)
def test_an_error_names_the_invalid_token_and_its_place(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_game(text)
    assert str(caught.value) == message


@pytest.mark.parametrize("text", ["7\r\n\r\n-2", "7x\r5", "7\x85"])
def test_the_error_about_a_move_with_line_breaks_is_one_line(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_playok_move(text)
    assert len(str(caught.value).splitlines()) == 1


def test_every_form_is_detected() -> None:
    six_fields = "********/@*@*****/***OOO** w 6 7 0 3"
    assert read_game(six_fields).start == parse_position(six_fields)
    seventeen_fields = "********/@*@*****/***OOO** w p p 3 6 2 7 0 0 -1 -1 -1 -1 0 0 3 ids:nodes"
    assert read_game(seventeen_fields).start == parse_position(six_fields)
    forms = write_game(read_game(six_fields), read_game(six_fields).start)
    assert read_game(forms["seventeen"]).start == parse_position(six_fields)
    assert forms["position"] == six_fields and "playok" not in forms
    assert [str(move) for move in read_game("1. d6 f4").moves] == ["d6", "f4"]
    assert [str(move) for move in read_game("{http://a/b} 1. d6 *").moves] == ["d6"]
    assert read_game("1/2-1/2").result == "1/2-1/2"
    assert read_game('[White "7"]\n\n1. d6 *').tags["White"] == "7"
    assert read_game(f"; a comment\n\n{six_fields} ; another\n").start == parse_position(six_fields)
    for text in ("", "  \n", "nonsense", "1. d6 14", "1. 5 f4", f"{six_fields}\n{six_fields}"):
        with pytest.raises(InputError):
            read_game(text)


@pytest.mark.parametrize("result", ["0.5-0.5", ".5-.5", "0.5-.5", "0,5-0,5", ",5-,5"])
def test_a_draw_in_halves_ends_a_game(result: str) -> None:
    records = parse_records(f"1. d6 f4 {result}\n1. a1 d6 1-0\n")
    assert [record.result for record in records] == ["1/2-1/2", "1-0"]
