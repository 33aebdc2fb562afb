"""Readers of the page's request fields, which refuse wrong types and values out of bounds."""

from __future__ import annotations

from typing import Any

import pytest

from merels.engine.common.errors import InputError
from merels.engine.game.notation import parse_move
from merels.engine.game.rules import make_rules
from merels.protocol.board.requests import (
    FULL,
    LONGEST_NAME,
    Player,
    check_time,
    read_moves,
    read_players,
    read_rules,
)
from merels.protocol.client.engine_spec import EngineSpec
from merels.protocol.common.json_fields import typed_field

ENGINES = [EngineSpec(("a",), "A"), EngineSpec(("b",), "B")]
USER, ENGINE = {"engine": None}, {"engine": 1}


def test_sound_fields_are_read() -> None:
    assert typed_field({"a": "x"}, "a", str, "a text") == "x"
    assert typed_field({}, "a", str, "a text", "x") == "x"
    assert read_moves({"move": "d6"}) == [parse_move("d6")]
    assert read_moves({"moves": ["d6", "a1-a4"]}) == [parse_move("d6"), parse_move("a1-a4")]
    assert read_rules({"variant": "mill", "fields": {"Flying": "never"}}) == make_rules(
        "mill", ["Flying=never"]
    )
    assert read_players({}, ENGINES) == []
    players = [{"engine": None, "name": " An\tna "}, {"engine": 0, "level": "Club"}, ENGINE]
    assert read_players({"players": players}, ENGINES) == [
        Player(None, name="An na"), Player(ENGINES[0], "Club"), Player(ENGINES[1], FULL),
    ]


@pytest.mark.parametrize("value", [None, 5, ["x"]])
def test_a_text_field_must_be_a_string(value: object) -> None:
    with pytest.raises(InputError, match="'a': expected a text"):
        typed_field({"a": value}, "a", str, "a text")


@pytest.mark.parametrize("body", [{}, {"move": 5}, {"moves": []}, {"moves": "d6"},
                                  {"moves": ["d6", None]}])  # fmt: skip
def test_moves_must_be_a_list_of_strings(body: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="'moves': expected a list of moves"):
        read_moves(body)


def test_rule_fields_must_be_names_and_values() -> None:
    with pytest.raises(InputError, match="expected rule fields and their values"):
        read_rules({"fields": ["Flying=never"]})


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("seconds", 0.01, 3600.0), ("base", 1.0, 86_400.0), ("increment", 0.0, 3600.0)],
)
def test_times_have_bounds(name: str, low: float, high: float) -> None:
    def time(value: object) -> dict[str, object]:
        kind = "move" if name == "seconds" else "clock"
        return {"kind": kind, "base": 10, "increment": 1, name: value}

    for value in (low, high, (low + high) / 2):
        assert check_time(time(value))[name] == value
    for wrong in (low - 0.001, high + 0.001, "5", None, float("nan")):
        with pytest.raises(InputError):
            check_time(time(wrong))


@pytest.mark.parametrize("time", [None, 5, {}, {"kind": "sand"}, {"kind": "clock"}])
def test_a_time_control_must_have_a_kind_and_its_numbers(time: object) -> None:
    with pytest.raises(InputError):
        check_time(time)


@pytest.mark.parametrize(
    ("players", "message"),
    [
        ("x", "expected White, Black and the analyst"),
        ([USER, ENGINE], "expected White, Black and the analyst"),
        ([USER, USER, USER], "expected an engine as the analyst"),
        ([5, USER, ENGINE], "expected an engine and a level"),
        ([{"engine": 2}, USER, ENGINE], "'engine 2': expected a whole number from 0 to 1"),
        ([{"engine": -1}, USER, ENGINE], "'engine -1': expected a whole number from 0 to 1"),
        ([{"engine": "0"}, USER, ENGINE], "'engine 0': expected a whole number from 0 to 1"),
        ([{"engine": 0, "level": "Expert of all"}, USER, ENGINE], "expected a level: Beginner"),
        ([{"name": "x" * (LONGEST_NAME + 1)}, USER, ENGINE], "expected names of at most"),
        ([{"name": 5}, USER, ENGINE], "'name': expected a text"),
    ],
)
def test_invalid_players_are_refused(players: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_players({"players": players}, ENGINES)


def test_a_name_of_the_maximum_length_is_accepted() -> None:
    name = "x" * LONGEST_NAME
    [player, *_] = read_players({"players": [{"name": name}, USER, ENGINE]}, ENGINES)
    assert player == Player(None, name=name)
