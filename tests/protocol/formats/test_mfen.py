"""Positions as MFEN/1.0, of the Mill Interchange Format."""

from __future__ import annotations


import pytest

from merels.engine.common.errors import InputError
from merels.engine.game.notation import START, format_position
from merels.engine.game.position import BLACK
from merels.protocol.formats.mfen import format_mfen, read_position
from tests.engine.random_games import random_positions

MFEN = "MFEN/1.0 mill24-state-v1"
"""First two fields of every position: the format and the board."""


def test_positions_are_equal_after_writing_and_reading_mfen() -> None:
    end_fields: set[str] = set()
    for position in random_positions(seed=6, number=3_000):
        text = format_mfen(position)
        end_field = text.split()[10]
        end_fields.add(end_field)
        if end_field == "d:repetition":
            with pytest.raises(InputError, match="a position cannot show this end"):
                read_position(text, position.rules)
            continue
        reread = read_position(text, position.rules)
        assert format_position(reread) == format_position(position)
        assert format_mfen(reread) == text
    assert end_fields >= {"-", "w:fewer-than-minimum", "b:fewer-than-minimum", "d:no-progress"}


@pytest.mark.parametrize(
    "six_fields, mfen_fields",
    [
        (START, "......../......../........ w p p 9,9 - 0 0 -"),
        ("********/********/******** b 9 9 0 1", "......../......../........ b p p 9,9 - 0 0 -"),
        ("********/********/*O****** b 8 9 0 1", "..W...../......../........ b p p 8,9 - 0 1 -"),
        ("********/********/*@****** w 9 8 0 2", "..B...../......../........ w p p 9,8 - 0 1 -"),
        ("O*****@*/*@******/*O*****@ w 7 6 0 3", "B.W...../..B...../.W.....B w p p 7,6 - 0 3 -"),
    ],
)
def test_mfen_and_six_fields_are_converted(six_fields: str, mfen_fields: str) -> None:
    assert format_mfen(read_position(six_fields)) == f"{MFEN} {mfen_fields}"
    assert format_position(read_position(f"{MFEN} {mfen_fields}")) == six_fields


def test_the_side_to_move_after_a_win_is_the_loser() -> None:
    finished = read_position("OOO*****/********/@@****** b 0 0 0 20")
    assert format_mfen(finished).endswith(" - o o 0,0 - 0 39 w:fewer-than-minimum")
    # With an even number of plies, Black played the first move.
    black_first = format_mfen(finished).replace(" 39 ", " 38 ")
    reread = read_position(black_first)
    assert (reread.side, reread.number) == (BLACK, 20)


@pytest.mark.parametrize(
    "text, message",
    [
        ("MFEN/0.4 mill24-state-v1 x", "'MFEN/0.4' (token 0): expected MFEN/1.0"),
        (f"{MFEN} ......../......../........ w p p 9,9 - 0 0", "expected the 11 fields"),
        ("MFEN/1.0 mill16 ......../......../........ w p p 9,9 - 0 0 -", "'mill16' (token 1)"),
        (f"{MFEN} ......../........ w p p 9,9 - 0 0 -", "expected three rings"),
        (f"{MFEN} .......O/......../........ w p p 9,9 - 0 0 -", "expected W, B or . at a4"),
        (f"{MFEN} .......w/......../........ w p p 8,9 - 0 0 -",
         "merels has no rules under which a man blocks a point (a4)"),
        (f"{MFEN} ......../......../........ x p p 9,9 - 0 0 -", "'x' (token 3)"),
        (f"{MFEN} ......../......../........ - p p 9,9 - 0 0 -", "'-' (token 3)"),
        (f"{MFEN} ......../......../........ w m m 9,9 - 0 0 -",
         "'m' (token 4): expected p: the side to move has men in hand"),
        (f"{MFEN} ......../......../........ w p m 9,9 - 0 0 -", "'m' (token 5): expected p"),
        (f"{MFEN} ......../......../........ w p p 99 - 0 0 -", "such as 9,9"),
        (f"{MFEN} ......../......../........ w p p 9,10 - 0 0 -", "Black's men in hand from"),
        (f"{MFEN} W......./......../........ w p p 9,9 - 0 0 -", "1 on the board and 9 in hand"),
        (f"{MFEN} WWW...../......../.BB..... w p r 6,7 w:mill:b:b:1:060000:b 0 5 -",
         "a removal is still due; give the position after the whole move"),
        (f"{MFEN} ......../......../........ w p p 9,9 - 0 -1 -", "the plies played"),
        (f"{MFEN} ......../......../........ w p p 9,9 - 0 0 w:resignation", "'w:resignation'"),
        (f"{MFEN} ......../......../........ - o o 9,9 - 0 0 w:resignation",
         "a position cannot show this end"),
        (f"{MFEN} ......../......../........ - o o 9,9 - 0 0 w:no-legal-move",
         "under the rules mill the game goes on here"),
        (f"{MFEN} ......../......../........ w p p 9,9 - 0 0 - lm=a7,d7;-,-",
         "'lm=a7,d7;-,-' (token 11): this field belongs to rules that merels does not have"),
    ],
)
def test_an_error_names_invalid_and_unsupported_fields_of_mfen(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_position(text)
    assert message in str(caught.value)
