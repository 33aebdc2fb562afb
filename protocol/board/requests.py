"""Reads the fields of the page's requests; `InputError` names what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from merels.engine.common.errors import InputError, printable, shorten
from merels.engine.game.notation import parse_move
from merels.engine.game.position import Move
from merels.engine.game.rules import DEFAULT_RULES, Rules, make_rules
from merels.engine.search.levels import LEVELS
from merels.protocol.client.engine_spec import EngineSpec
from merels.protocol.common.options import Value

JSON = dict[str, Any]
LONGEST_NAME = 60
FULL = "full"
"""The level of full strength."""


class Player(NamedTuple):
    """An engine with its level, or without one a user; and the name that was typed."""

    choice: EngineSpec | None
    level: str = ""
    name: str = ""


def read_text(body: JSON, name: str, default: str | None = None) -> str:
    """A text field."""
    value = body.get(name, default)
    if not isinstance(value, str):
        raise InputError(name, "expected a text")
    return value


def read_moves(body: JSON) -> list[Move]:
    """A move, or several in a row."""
    moves = body.get("moves", [body.get("move")])
    if not isinstance(moves, list) or not moves or not all(isinstance(one, str) for one in moves):
        raise InputError("moves", "expected moves")
    return [parse_move(move) for move in moves]


def read_rules(body: JSON) -> Rules:
    """A rule set, with the fields that differ from it."""
    fields = body.get("fields") or {}
    if not isinstance(fields, dict):
        raise InputError(shorten(str(fields)), "expected rule fields and their values")
    variant = read_text(body, "variant", DEFAULT_RULES.variant)
    return make_rules(variant, [f"{name}={value}" for name, value in fields.items()])


def read_settings(body: JSON) -> dict[str, Value]:
    """The values of options by name; None presses a button."""
    settings = body.get("settings")
    if not isinstance(settings, dict) or len(settings) > 200:
        raise InputError("settings", "expected names and values")
    for value in settings.values():
        if value is not None and not isinstance(value, (str, int, bool)):
            raise InputError(str(value), "expected a text, a number, or true or false")
    return settings


def read_time(time: Any) -> JSON:
    """A time control in seconds: ``seconds`` a move, or a clock's ``base`` and ``increment``."""
    if isinstance(time, dict) and time.get("kind") == "move":
        return {"kind": "move", "seconds": _seconds(time, "seconds", 0.01, 3600.0)}
    if isinstance(time, dict) and time.get("kind") == "clock":
        return {
            "kind": "clock",
            "base": _seconds(time, "base", 1.0, 86_400.0),
            "increment": _seconds(time, "increment", 0.0, 3600.0),
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
    index, level, name = player.get("engine"), player.get("level", FULL), player.get("name") or ""
    if not isinstance(name, str) or len(name) > LONGEST_NAME:
        raise InputError("name", f"expected names of at most {LONGEST_NAME} characters")
    name = printable(" ".join(name.split()))
    if index is None:
        return Player(None, name=name)
    if not isinstance(index, int) or not 0 <= index < len(choices):
        raise InputError(str(index), "no such engine")
    if level not in (FULL, *(known.name for known in LEVELS)):
        raise InputError(str(level), "no such level")
    return Player(choices[index], level, name)


def _seconds(time: JSON, name: str, low: float, high: float) -> float:
    value = time.get(name)
    if isinstance(value, (int, float)) and low <= value <= high:
        return float(value)
    raise InputError(str(value), f"expected from {low:g} to {high:g} seconds")
