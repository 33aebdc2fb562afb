"""Parsing of numbers in untrusted text."""

from __future__ import annotations

import math
import operator
from contextlib import suppress

from merels.engine.common.errors import InputError, shown

_CAP = 1 << 64
"""Above every bound. Larger numbers are read as this value, because the time of `int` grows with
the square of their length."""


def parse_whole(text: str) -> int | None:
    """Return the value of a decimal integer with or without a sign; None for other text.

    A number above 2**64 is read as 2**64, one below -2**64 as -2**64.
    """
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not (digits.isascii() and digits.isdigit()):
        return None
    digits = digits.lstrip("0") or "0"
    number = _CAP if len(digits) > len(str(_CAP)) else min(int(digits), _CAP)
    return -number if text[0] == "-" else number


def read_whole(
    text: str, low: int, high: int, where: str = "", *,
    what: str = "a whole number", index: int | None = None,
) -> int:  # fmt: skip
    """Return the integer in ``text``; `InputError` unless it is from ``low`` to ``high``.

    ``where`` is the setting that the error names, such as ``-rounds`` or ``cpu= of A``; ``index``
    is the text's position in a list of tokens.
    """
    number = parse_whole(text)
    if number is not None and low <= number <= high:
        return number
    purpose = where and f" for {where}"
    raise InputError(text, f"expected {what} from {low} to {high}{purpose}", index)


def whole_number(value: object, low: int, high: int, name: str) -> int:
    """Return the argument ``name`` of a function as an int; a whole float such as 1e3 counts.

    `InputError` unless it is a whole number from ``low`` to ``high``.
    """
    number: object = value
    if isinstance(value, float) and value.is_integer():
        number = int(value)
    elif not isinstance(value, int):
        with suppress(TypeError):  # A class such as `int` has the method, but is no number.
            number = operator.index(value)  # type: ignore[arg-type]
    if type(number) is not int or not low <= number <= high:
        raise InputError(f"{name}={shown(value)}", f"expected a whole number from {low} to {high}")
    return number


def real_number(value: object, low: float, high: float, name: str) -> float:
    """Return the argument ``name`` of a function; `InputError` unless from ``low`` to ``high``."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not low <= value <= high:  # type: ignore[operator]
        raise InputError(f"{name}={shown(value)}", f"expected a number from {low:g} to {high:g}")
    return value  # type: ignore[return-value]


def truth_value(value: object, name: str) -> bool:
    """Return the argument ``name`` of a function; `InputError` unless it is True or False."""
    if not isinstance(value, bool):
        raise InputError(f"{name}={shown(value)}", "expected True or False")
    return value


def counted(number: int, noun: str) -> str:
    """Return a number and its noun: ``1 game``, ``2 games``, ``2 matches``, ``2 inaccuracies``."""
    if number == 1:
        return f"1 {noun}"
    if noun.endswith("y"):
        return f"{number} {noun[:-1]}ies"
    return f"{number} {noun}{'es' if noun.endswith('ch') else 's'}"


def read_real(
    text: str, low: float, high: float, where: str = "", *, what: str = "a number"
) -> float:
    """Return the number in ``text``; `InputError` unless it is from ``low`` to ``high``.

    ``where`` is the setting that the error names.
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if low <= value <= high:
        return value
    purpose = where and f" for {where}"
    raise InputError(text, f"expected {what} from {low:g} to {high:g}{purpose}")
