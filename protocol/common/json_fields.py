"""Fields of a JSON object that a page or a program sent; `InputError` names a bad one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from merels.engine.common.errors import InputError

JSON = dict[str, Any]
Value = TypeVar("Value")
Number = TypeVar("Number", int, float)


def typed_field(
    body: JSON, name: str, kind: type[Value], expected: str, default: Value | None = None
) -> Value:
    """A field of a type; ``expected`` describes it. Without a default it must be there."""
    value = body.get(name, default)
    if isinstance(value, kind):
        return value
    raise InputError(name, f"expected {expected}")


def whole_field(body: JSON, name: str, low: int, high: int) -> int:
    """A whole number within bounds."""
    value = body.get(name)
    if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
        return value
    raise InputError(f"{name} {value}", f"expected a whole number from {low} to {high}")


def seconds_field(body: JSON, name: str, low: float, high: float) -> float:
    """A time in seconds within bounds."""
    value = body.get(name)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high:
        return float(value)
    raise InputError(f"{name} {value}", f"expected seconds from {low:g} to {high:g}")


def optional(
    read: Callable[[JSON, str, Number, Number], Number], body: JSON, name: str,
    low: Number, high: Number,
) -> Number | None:  # fmt: skip
    """A number as ``read`` gives it, or None for a field that is missing or null."""
    return None if body.get(name) is None else read(body, name, low, high)
