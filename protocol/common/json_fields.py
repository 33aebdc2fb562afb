"""Checked access to fields of an untrusted JSON object; `InputError` names an invalid field."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from merels.engine.common.errors import InputError

JSON = dict[str, Any]
FieldType = TypeVar("FieldType")
Number = TypeVar("Number", int, float)


def typed_field(
    body: JSON, name: str, kind: type[FieldType], expected: str, default: FieldType | None = None
) -> FieldType:
    """Return a field of type ``kind``, or ``default`` if the field is missing.

    A value of another type, or a missing field without a default, raises `InputError` with the
    description of valid values ``expected``.
    """
    value = body.get(name, default)
    if isinstance(value, kind):
        return value
    raise InputError(name, f"expected {expected}")


def whole_field(body: JSON, name: str, low: int, high: int) -> int:
    """Return an integer field; `InputError` unless it is from ``low`` to ``high``."""
    value = body.get(name)
    if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
        return value
    raise InputError(f"{name} {value}", f"expected a whole number from {low} to {high}")


def seconds_field(body: JSON, name: str, low: float, high: float) -> float:
    """Return a field in seconds; `InputError` unless it is from ``low`` to ``high``."""
    value = body.get(name)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high:
        return float(value)
    raise InputError(f"{name} {value}", f"expected seconds from {low:g} to {high:g}")


def optional_field(
    read: Callable[[JSON, str, Number, Number], Number], body: JSON, name: str,
    low: Number, high: Number,
) -> Number | None:  # fmt: skip
    """Return a field's value, read by the function ``read``; None if it is missing or null."""
    return None if body.get(name) is None else read(body, name, low, high)
