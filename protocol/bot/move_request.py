"""Parsing of a bot's requests, which are JSON objects."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from math import isfinite
from typing import NoReturn

from merels.engine.common.errors import InputError
from merels.engine.game.notation import START, join_steps, parse_move, play_moves
from merels.engine.game.position import COLOURS, Move, Position
from merels.engine.game.rules import Rules, make_rules
from merels.engine.search.levels import MAXIMUM_SEED, Level, level_named
from merels.engine.search.limits import MAX_TIME, Limit
from merels.protocol.common.json_fields import (
    JSON,
    optional_field,
    seconds_field,
    typed_field,
    whole_field,
)
from merels.protocol.formats.mif_1_0.mfen import read_position

MAX_COUNT = 10**15
"""Largest ``depth`` and ``nodes``."""
FIELDS = (
    "id", "new", "position", "moves", "variant", "set", "time", "depth", "nodes", "clock",
    "level", "seed", "only",
)
"""The names of a request's fields."""
_CLOCK_FIELDS = ("white", "black", "white_inc", "black_inc")


@dataclass(frozen=True, slots=True)
class Request:
    """A request for a move in ``position``, which is reached from ``start`` by ``moves``.

    ``level`` is None for full strength. ``only`` lists the moves to choose from; if it is empty,
    all legal moves.
    """

    start: Position
    moves: tuple[Move, ...]
    position: Position
    limit: Limit
    level: Level | None
    only: tuple[Move, ...] = ()


def read_object(line: str) -> JSON:
    """Return the fields of a JSON object, except null fields; `InputError` for any other text."""
    try:
        body = json.loads(line, parse_constant=_reject, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise InputError(line, f"expected a JSON object on one line ({error})") from None
    if not isinstance(body, dict):
        raise InputError(line, "expected a JSON object on one line")
    return {name: value for name, value in body.items() if value is not None}


def read_new(body: JSON) -> bool:
    """Return whether a request starts another game."""
    return typed_field(body, "new", bool, "true or false", False)


def read_request(body: JSON, rules: Rules, limit: Limit) -> Request:
    """Return the request with the fields of ``body``; `InputError` names an invalid field.

    ``rules`` and ``limit`` apply if the fields state no rules or no limit.
    """
    for name in body:
        if name not in FIELDS:
            raise InputError(name, f"expected a field: {', '.join(FIELDS)}")
    if "variant" in body or "set" in body:
        settings = typed_field(body, "set", dict, "an object of rule fields", {})
        variant = typed_field(body, "variant", str, "a text", rules.variant)
        rules = make_rules(variant, [f"{name}={value}" for name, value in settings.items()])
    text = typed_field(body, "position", str, "a text", "startpos")
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


def _limit(body: JSON, default: Limit, side: str) -> Limit:
    """Return the request's limit, or ``default``; ``side`` is the mover, ``white`` or ``black``."""
    if not {"time", "depth", "nodes", "clock"} & set(body):
        return default
    clock = typed_field(body, "clock", dict, f"an object of {', '.join(_CLOCK_FIELDS)}", {})
    if not set(clock) <= set(_CLOCK_FIELDS):
        raise InputError("clock", f"expected an object of {', '.join(_CLOCK_FIELDS)}")
    if clock.get(side) is None and not {"time", "depth", "nodes"} & set(body):
        expected = f"expected the clock of {side}, the side to move, or time, depth or nodes"
        raise InputError("clock", expected)
    return Limit(
        time=optional_field(seconds_field, body, "time", 0.001, MAX_TIME),
        depth=optional_field(whole_field, body, "depth", 1, MAX_COUNT),
        nodes=optional_field(whole_field, body, "nodes", 1, MAX_COUNT),
        white_clock=_clock_time(clock, "white"),
        black_clock=_clock_time(clock, "black"),
        white_inc=optional_field(seconds_field, clock, "white_inc", 0.0, MAX_TIME),
        black_inc=optional_field(seconds_field, clock, "black_inc", 0.0, MAX_TIME),
    )


def _clock_time(clock: JSON, side: str) -> float | None:
    """Return a side's clock; 0 for a clock that is overdrawn."""
    seconds = optional_field(seconds_field, clock, side, -MAX_TIME, MAX_TIME)
    return None if seconds is None else max(0.0, seconds)


def _level(body: JSON) -> Level | None:
    """Return the level with its seed; None for full strength.

    A missing seed and seed 0 are replaced by a fixed seed: a bot's answers must be reproducible,
    and with 0 an engine chooses a random seed.
    """
    seed = optional_field(whole_field, body, "seed", 0, MAXIMUM_SEED) or MAXIMUM_SEED
    value = body.get("level")
    return None if value is None else replace(level_named(str(value)), seed=seed)


def _reject(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


def _finite(text: str) -> float:
    """Return a number; ValueError if it is infinite, which JSON cannot express in an answer."""
    number = float(text)
    return number if isfinite(number) else _reject(text)


def _words(body: JSON, name: str) -> list[str]:
    """Return the moves of a field, which is a list or a text with spaces between them."""
    value = body.get(name, [])
    if isinstance(value, str):
        return value.split()
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        return value
    raise InputError(name, "expected a list of moves")
