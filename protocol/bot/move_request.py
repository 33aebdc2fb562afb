"""A bot's requests: JSON objects, read and checked."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, NoReturn

from merels.engine.common.errors import InputError
from merels.engine.game.notation import START, join_steps, parse_move, play_moves
from merels.engine.game.position import COLOURS, Move, Position
from merels.engine.game.rules import Rules, make_rules
from merels.engine.search.levels import MAXIMUM_SEED, Level, level_named
from merels.engine.search.limits import MOST_SECONDS, Limit
from merels.protocol.formats.mif_1_0.mfen import read_position

MOST_COUNT = 10**15
FIELDS = (
    "id", "new", "position", "moves", "variant", "set", "time", "depth", "nodes", "clock",
    "level", "seed", "only",
)
"""The fields of a request."""
_CLOCK = ("white", "black", "white_inc", "black_inc")


@dataclass(frozen=True, slots=True)
class Request:
    """A request for a move in ``position``, to which ``moves`` lead from ``start``.

    ``level`` is None for full strength; ``only`` lists the moves to choose from, if not all.
    """

    start: Position
    moves: tuple[Move, ...]
    position: Position
    limit: Limit
    level: Level | None
    only: tuple[Move, ...] = ()


def read_object(line: str) -> dict[str, Any]:
    """The fields of a JSON object, without those that are null."""
    try:
        body = json.loads(line, parse_constant=_no_json, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise InputError(line, f"expected a JSON object on one line ({error})") from None
    if not isinstance(body, dict):
        raise InputError(line, "expected a JSON object on one line")
    return {name: value for name, value in body.items() if value is not None}


def read_new(body: dict[str, Any]) -> bool:
    """Whether a request begins another game."""
    return bool(_typed(body, "new", bool, False, "true or false"))


def read_request(body: dict[str, Any], rules: Rules, limit: Limit) -> Request:
    """A request from its fields; ``rules`` and ``limit`` apply where they name none."""
    for name in body:
        if name not in FIELDS:
            raise InputError(name, f"expected a field: {', '.join(FIELDS)}")
    if "variant" in body or "set" in body:
        settings = _typed(body, "set", dict, {}, "an object of rule fields")
        variant = _typed(body, "variant", str, rules.variant, "a text")
        rules = make_rules(variant, [f"{name}={value}" for name, value in settings.items()])
    text = _typed(body, "position", str, "startpos", "a text")
    start = read_position(START if text == "startpos" else text, rules)
    tokens = _words(body, "moves")
    position = play_moves(start, tokens)
    only = tuple(parse_move(token) for token in _words(body, "only"))
    for index, move in enumerate(only):
        objection = position.objection(move)
        if objection is not None:
            raise InputError(str(move), f"illegal move, {objection}", index)
    if "only" in body and not only:
        raise InputError("only", "expected at least one move to choose from")
    moves = tuple(parse_move(token) for _, token in join_steps(tokens))
    side = COLOURS[position.side].lower()
    return Request(start, moves, position, _limit(body, limit, side), _level(body), only)


def _limit(body: dict[str, Any], default: Limit, side: str) -> Limit:
    """The limit of the search for a side."""
    if not {"time", "depth", "nodes", "clock"} & set(body):
        return default
    clock = _typed(body, "clock", dict, {}, f"an object of {', '.join(_CLOCK)}")
    if not set(clock) <= set(_CLOCK):
        raise InputError("clock", f"expected an object of {', '.join(_CLOCK)}")
    if clock.get(side) is None and not {"time", "depth", "nodes"} & set(body):
        raise InputError("clock", f"expected {side}, the side to move, or time, depth or nodes")
    return Limit(
        time=_seconds(body, "time", 0.001),
        depth=_whole(body, "depth", 1, MOST_COUNT),
        nodes=_whole(body, "nodes", 1, MOST_COUNT),
        white_clock=_seconds(clock, "white", -MOST_SECONDS),
        black_clock=_seconds(clock, "black", -MOST_SECONDS),
        white_inc=_seconds(clock, "white_inc", 0.0),
        black_inc=_seconds(clock, "black_inc", 0.0),
    )


def _level(body: dict[str, Any]) -> Level | None:
    """A level by its name or rating, with its seed; None for full strength.

    To an engine seed 0 is any seed; here it is always the same one.
    """
    seed = _whole(body, "seed", 0, MAXIMUM_SEED) or MAXIMUM_SEED
    value = body.get("level")
    return None if value is None else replace(level_named(str(value)), seed=seed)


def _no_json(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


def _finite(text: str) -> float:
    """A number that JSON can express."""
    number = float(text)
    return number if isfinite(number) else _no_json(text)


def _typed(body: dict[str, Any], name: str, kind: type, default: Any, expected: str) -> Any:
    """A field of a type."""
    value = body.get(name, default)
    if isinstance(value, kind):
        return value
    raise InputError(name, f"expected {expected}")


def _words(body: dict[str, Any], name: str) -> list[str]:
    """A list of moves, or a text of moves separated by spaces."""
    value = body.get(name, [])
    if isinstance(value, str):
        return value.split()
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        return value
    raise InputError(name, "expected a list of moves")


def _seconds(body: dict[str, Any], name: str, low: float) -> float | None:
    value = body.get(name)
    if value is None:
        return None
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if number and low <= value <= MOST_SECONDS:
        return float(value)
    raise InputError(f"{name} {value}", f"expected seconds from {low:g} to {MOST_SECONDS:g}")


def _whole(body: dict[str, Any], name: str, low: int, high: int) -> int | None:
    value = body.get(name)
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
        return value
    raise InputError(f"{name} {value}", f"expected a whole number from {low} to {high}")
