"""Moves, positions and rules as text: valid forms, and errors for invalid ones."""

from __future__ import annotations

import pytest

from merels.engine.common.errors import InputError
from merels.engine.game.notation import (
    START,
    format_position,
    format_seventeen,
    parse_move,
    parse_position,
    play_moves,
)
from merels.engine.game.position import Position
from merels.engine.game.rules import parse_rules
from tests.engine.random_games import random_positions


@pytest.mark.parametrize(
    "text, canonical",
    [("d6", "d6"), ("D6XB4", "d6xb4"), ("d6-d5", "d6-d5"), ("d6d5", "d6-d5"),
     ("d6d5xc3", "d6-d5xc3"), ("a4xd6xb2", "a4xb2xd6")],
)
def test_moves_are_read(text: str, canonical: str) -> None:
    assert str(parse_move(text)) == canonical


@pytest.mark.parametrize(
    "text",
    ["", "d", "d8", "h1", "d4", "a2", "d6-", "-d6", "xd6", "d6x", "d6--d5", "d6-d5-c5", "d6xd6",
     "d6-d6", "d6xb4xb4", "d6xb4xb2xa1", "0000", "(none)", "d6 d5", "d6" * 1000, "ｄ6", "d6\n"],
)
def test_malformed_moves_are_refused(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_move(text)
    assert "expected" in str(caught.value)
    assert len(str(caught.value)) < 200


def test_moves_round_trip_through_text() -> None:
    for position in random_positions(seed=5, number=2_000):
        for move in position.legal_moves():
            assert parse_move(str(move)) == move


def test_positions_round_trip_through_text() -> None:
    for position in random_positions(seed=6, number=3_000):
        text = format_position(position)
        reread = parse_position(text, position.rules)
        assert format_position(reread) == text
        assert reread.key == position.key
        seventeen = format_seventeen(position)
        assert len(seventeen.split()) == 17
        assert parse_position(seventeen, position.rules) == reread


def test_the_start_round_trips_through_text() -> None:
    assert format_position(Position()) == START
    assert parse_position(START) == Position()


@pytest.mark.parametrize(
    "text, token",
    [
        ("********/********/******** w 9 9 0", "********/********/******** w 9 9 0"),
        ("********/********/******* w 9 9 0 1", "********/********/*******"),
        ("********/********/********/ w 9 9 0 1", "********/********/********/"),
        ("********/***x****/******** w 9 9 0 1", "x"),
        ("********/********/******** x 9 9 0 1", "x"),
        ("********/********/******** W 9 9 0 1", "W"),
        ("********/********/******** w 10 9 0 1", "10"),
        ("********/********/******** w -1 9 0 1", "-1"),
        ("********/********/******** w 9 nine 0 1", "nine"),
        ("O*******/********/******** w 9 9 0 1", "9"),
        ("********/********/******** w 9 9 0 0", "0"),
        ("********/********/******** w 9 9 99999999999999999999999 1", "99999999999999999999999"),
        ("********/********/******** w ９ 9 0 1", "９"),
        ("", ""),
    ],
)
def test_malformed_positions_are_refused(text: str, token: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_position(text)
    assert caught.value.token == token


SEVENTEEN = "********/@*@*****/***OOO** b p p 3 6 2 7 0 0 -1 -1 -1 -1 0 0 3 ids:nodes"


def test_seventeen_fields_are_read() -> None:
    expected = "********/@*@*****/***OOO** b 6 7 0 3"
    assert format_position(parse_position(SEVENTEEN)) == expected


@pytest.mark.parametrize(
    "old, new, reason",
    [
        (" b p p 3 6 2 7 0 0", " w p r 3 6 2 7 1 0", "removal is still due"),
        (" 3 6 ", " 4 6 ", "expected 3, the number of White's men on the board"),
        (" -1 0 0 3", f" -1 {10**20} 0 3", "mask of mills"),
        (" b p p ", " b q p ", "phase"),
        ("ids:nodes", "nodes", "end here"),
    ],
)
def test_invalid_seventeen_fields_are_refused(old: str, new: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        parse_position(SEVENTEEN.replace(old, new))


def test_counters_are_capped_when_written() -> None:
    rules = parse_rules("mill NoRemovalPlies=0 Repetition=0 ThreeThreePlies=0")
    text = "O*O*O***/@*@*@***/******** b 0 0 10000 1000000"
    position = parse_position(text, rules)
    after = position.push(position.legal_moves()[0])
    assert (after.plies, after.number) == (10_001, 1_000_001)
    for write in (format_position, format_seventeen):
        reread = parse_position(write(after), rules)
        assert (reread.men, reread.plies, reread.number) == (after.men, 10_000, 1_000_000)


def test_removals_in_separate_tokens_are_joined() -> None:
    one_token = play_moves(Position(), "d6 f4 f6 g4 b6xf4".split())
    assert play_moves(Position(), "d6 f4 f6 g4 b6 xf4".split()) == one_token


@pytest.mark.parametrize(
    "tokens, index, reason",
    [
        ("d6 d6", 1, "occupied"),
        ("d6 zz", 1, "expected a move"),
        ("xd6", 0, "before the removal"),
        ("d6 xyz", 1, "expected a move such as"),
        ("d6 f4 f6 g4 b6", 4, "must remove one man"),
        ("d6 f4xd6", 1, "closes no mill"),
        ("d6 f4 f6 g4 b6xd6", 4, "each point once|no man of the opponent"),
        ("d6 d5-c5", 1, "still has men to place"),
    ],
)
def test_errors_name_the_token_and_its_index(tokens: str, index: int, reason: str) -> None:
    with pytest.raises(InputError, match=reason) as caught:
        play_moves(Position(), tokens.split())
    assert (caught.value.token, caught.value.index) == (tokens.split()[index], index)


def test_rules_round_trip_through_text_and_malformed_rules_are_refused() -> None:
    rules = parse_rules("morris Flying=never NoRemovalPlies=0")
    assert str(rules) == "morris Flying=never NoRemovalPlies=0"
    assert parse_rules(str(rules)) == rules
    assert parse_rules("MILL flying=OWN") == parse_rules("")
    for text in (
        "chess", "mill Flying", "mill Flying=sometimes", "mill Wings=2", "mill Repetition=-1"
    ):
        with pytest.raises(InputError):
            parse_rules(text)
