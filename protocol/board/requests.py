"""What the page's requests hold; whatever else they hold is refused by name."""

from __future__ import annotations

from typing import Any

from merels.engine.game.errors import InputError, shorten
from merels.engine.game.rules import DEFAULT_RULES, Rules, make_rules
from merels.protocol.board.view import JSON
from merels.protocol.client.options import Value

SECONDS_PER_MOVE = (0.01, 3600.0)


def read_text(body: JSON, name: str, default: str | None = None) -> str:
    """A text of a request."""
    value = body.get(name, default)
    if not isinstance(value, str):
        raise InputError(name, "expected a text")
    return value


def read_rules(body: JSON) -> Rules:
    """The rules of a request: a rule set and the fields that differ from it."""
    fields = body.get("fields") or {}
    if not isinstance(fields, dict):
        raise InputError(shorten(str(fields)), "expected rule fields and their values")
    variant = read_text(body, "variant", DEFAULT_RULES.variant)
    return make_rules(variant, [f"{name}={value}" for name, value in fields.items()])


def read_settings(body: JSON) -> dict[str, Value]:
    """The options that a request sets, by name; None presses a button."""
    settings = body.get("settings")
    if not isinstance(settings, dict) or len(settings) > 200:
        raise InputError("settings", "expected names and values")
    for value in settings.values():
        if value is not None and not isinstance(value, (str, int, bool)):
            raise InputError(str(value), "expected a text, a number, or true or false")
    return settings


def read_time(time: Any) -> JSON:
    """A time control of a request, in seconds: so many a move, or a clock with an increment."""
    if isinstance(time, dict) and time.get("kind") == "move":
        return {"kind": "move", "seconds": _seconds(time, "seconds", *SECONDS_PER_MOVE)}
    if isinstance(time, dict) and time.get("kind") == "clock":
        return {
            "kind": "clock",
            "base": _seconds(time, "base", 1.0, 86_400.0),
            "increment": _seconds(time, "increment", 0.0, 3600.0),
        }
    raise InputError("time", "expected seconds a move, or a clock")


def _seconds(time: JSON, name: str, low: float, high: float) -> float:
    value = time.get(name)
    if isinstance(value, (int, float)) and low <= value <= high:
        return float(value)
    raise InputError(str(value), f"expected from {low:g} to {high:g} seconds")
