"""Readers of the fields of the page's requests; a bad field raises `InputError`."""

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
    optional_whole,
    seconds_field,
    typed_field,
)

LONGEST_NAME = 60
MAX_KEYS = 1000
MAX_LABELS = 100
FULL = "full"
"""Level name for full strength; `LEVELS` has the other names."""


class Player(NamedTuple):
    """A player: an engine with its level, or a user (``choice`` is None) with a typed name."""

    choice: EngineSpec | None
    level: str = ""
    name: str = ""


def read_moves(body: JSON) -> list[Move]:
    """Return the moves in the field ``moves``, or the single move in the field ``move``."""
    moves = body.get("moves", [body.get("move")])
    if not isinstance(moves, list) or not moves or not all(isinstance(move, str) for move in moves):
        raise InputError("moves", "expected a list of moves such as d6 or d6-d7xa1")
    return [parse_move(move) for move in moves]


def read_keys(body: JSON) -> list[str]:
    """Return the keys of stored games in the field ``keys``; empty if it is missing."""
    keys = typed_field(body, "keys", list, "keys of games", [])
    if len(keys) > MAX_KEYS or not all(isinstance(key, str) for key in keys):
        raise InputError("keys", f"expected at most {MAX_KEYS} keys of games")
    return keys


def read_labels(body: JSON) -> dict[str, str]:
    """Return the field ``labels``, words of the user's language by key; empty if missing."""
    labels = typed_field(body, "labels", dict, "words by key", {})
    if len(labels) > MAX_LABELS or not all(isinstance(text, str) for text in labels.values()):
        raise InputError("labels", f"expected at most {MAX_LABELS} words by key")
    return labels


def read_rules(body: JSON) -> Rules:
    """Return the rule set ``variant`` with the values of ``fields``."""
    fields = typed_field(body, "fields", dict, "rule fields and their values", {})
    variant = typed_field(body, "variant", str, "a text", DEFAULT_RULES.variant)
    return make_rules(variant, [f"{name}={value}" for name, value in fields.items()])


def read_text(body: JSON, name: str, default: str | None = None) -> str:
    """Return a text field; without ``default`` it is required."""
    return str(typed_field(body, name, str, "a text", default))


def read_flag(body: JSON, name: str) -> bool:
    """Return a Boolean field; a missing one is false."""
    return body.get(name) is True


def read_switch(body: JSON) -> bool | None:
    """Return the field ``on``, or None if it is missing."""
    return bool(body["on"]) if "on" in body else None


def read_time(body: JSON) -> JSON | None:
    """Return the checked time control ``time``, or None if it is missing."""
    return check_time(body["time"]) if "time" in body else None


def check_time(time: Any) -> JSON:
    """Return a checked time control.

    Its ``kind`` is ``move`` (with ``seconds`` per move) or ``clock`` (with ``base`` and
    ``increment`` in seconds).
    """
    if isinstance(time, dict) and time.get("kind") == "move":
        return {"kind": "move", "seconds": seconds_field(time, "seconds", 0.01, 3600.0)}
    if isinstance(time, dict) and time.get("kind") == "clock":
        return {
            "kind": "clock",
            "base": seconds_field(time, "base", 1.0, 86_400.0),
            "increment": seconds_field(time, "increment", 0.0, 3600.0),
        }
    raise InputError("time", "expected seconds per move or a clock (kind move or clock)")


def read_players(body: JSON, choices: Sequence[EngineSpec]) -> list[Player]:
    """Return White, Black and the analyst from ``choices``; empty if ``players`` is missing."""
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
    index = optional_whole(player, "engine", 0, len(choices) - 1)
    if index is None:
        return Player(None, name=name)
    if level not in (FULL, *(named.name for named in LEVELS)):
        names = ", ".join(named.name for named in LEVELS)
        raise InputError(str(level), f"expected a level: {names} or {FULL}")
    return Player(choices[index], level, name)
