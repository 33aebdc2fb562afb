"""Checked access to fields of an untrusted JSON object; `InputError` names an invalid field."""

from __future__ import annotations

from typing import Any, TypeVar

from merels.engine.common.errors import InputError

JSON = dict[str, Any]
FieldType = TypeVar("FieldType")


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


def optional_whole(body: JSON, name: str, low: int, high: int) -> int | None:
    """Return an integer field as `whole_field` does; None if it is missing or null."""
    return None if body.get(name) is None else whole_field(body, name, low, high)
