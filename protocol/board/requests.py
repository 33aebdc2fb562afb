"""Reads the fields of the page's requests; `InputError` names what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from merels.engine.common.errors import InputError, printable
from merels.engine.game.notation import parse_move
from merels.engine.game.position import Move
from merels.engine.game.rules import DEFAULT_RULES, Rules, make_rules
from merels.engine.search.levels import LEVELS
from merels.protocol.client.engine_spec import EngineSpec
from merels.protocol.common.json_fields import (
    JSON,
    optional,
    seconds_field,
    typed_field,
    whole_field,
)
from merels.protocol.common.options import Value

LONGEST_NAME = 60
FULL = "full"
"""The level of full strength."""


class Player(NamedTuple):
    """An engine with its level, or without one a user; and the name that was typed."""

    choice: EngineSpec | None
    level: str = ""
    name: str = ""


def read_moves(body: JSON) -> list[Move]:
    """A move, or several in a row."""
    moves = body.get("moves", [body.get("move")])
    if not isinstance(moves, list) or not moves or not all(isinstance(one, str) for one in moves):
        raise InputError("moves", "expected moves")
    return [parse_move(move) for move in moves]


def read_rules(body: JSON) -> Rules:
    """A rule set, with the fields that differ from it."""
    fields = typed_field(body, "fields", dict, "rule fields and their values", {})
    variant = typed_field(body, "variant", str, "a text", DEFAULT_RULES.variant)
    return make_rules(variant, [f"{name}={value}" for name, value in fields.items()])


def read_settings(body: JSON) -> dict[str, Value]:
    """The values of options by name; None presses a button."""
    settings = typed_field(body, "settings", dict, "names and values")
    if len(settings) > 200:
        raise InputError("settings", "expected at most 200 options")
    for value in settings.values():
        if value is not None and not isinstance(value, (str, int, bool)):
            raise InputError(str(value), "expected a text, a number, or true or false")
    return settings


def read_time(time: Any) -> JSON:
    """A time control in seconds: ``seconds`` a move, or a clock's ``base`` and ``increment``."""
    if isinstance(time, dict) and time.get("kind") == "move":
        return {"kind": "move", "seconds": seconds_field(time, "seconds", 0.01, 3600.0)}
    if isinstance(time, dict) and time.get("kind") == "clock":
        return {
            "kind": "clock",
            "base": seconds_field(time, "base", 1.0, 86_400.0),
            "increment": seconds_field(time, "increment", 0.0, 3600.0),
        }
    raise InputError("time", "expected seconds per move, or a clock")


def read_players(body: JSON, choices: Sequence[EngineSpec]) -> list[Player]:
    """White, Black and the analyst, each one of ``choices``; nothing if the field is missing."""
    players = body.get("players")
    if players is None:
        return []
    if not isinstance(players, list) or len(players) != 3:
        raise InputError("players", "expected White, Black and the analyst")
    chosen = [_player(player, choices) for player in players]
    if chosen[2].choice is None:
        raise InputError("players", "expected an engine as the analyst")
    return chosen


def _player(player: Any, choices: Sequence[EngineSpec]) -> Player:
    if not isinstance(player, dict):
        raise InputError(str(player), "expected an engine and a level")
    level = player.get("level", FULL)
    name = printable(" ".join(typed_field(player, "name", str, "a text", "").split()))
    if len(name) > LONGEST_NAME:
        raise InputError("name", f"expected names of at most {LONGEST_NAME} characters")
    index = optional(whole_field, player, "engine", 0, len(choices) - 1)
    if index is None:
        return Player(None, name=name)
    if level not in (FULL, *(known.name for known in LEVELS)):
        raise InputError(str(level), "no such level")
    return Player(choices[index], level, name)
