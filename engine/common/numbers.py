"""Numbers in text: those that others write are not trusted."""

from __future__ import annotations

import math

from merels.engine.common.errors import InputError

_BEYOND = 10**19
"""Beyond every bound. Longer numbers are not told apart: reading one costs the square of its
length."""


def parse_whole(text: str) -> int | None:
    """The decimal number that a text is, with or without a sign, or None.

    Numbers beyond 10 to the 19th, either way, count as that.
    """
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not (digits.isascii() and digits.isdigit()):
        return None
    digits = digits.lstrip("0") or "0"
    number = _BEYOND if len(digits) > len(str(_BEYOND)) else min(int(digits), _BEYOND)
    return -number if text[0] == "-" else number


def read_whole(
    text: str, low: int, high: int, where: str = "", *,
    what: str = "a whole number", index: int | None = None,
) -> int:  # fmt: skip
    """The number that a text is, or an `InputError` unless it lies from ``low`` to ``high``.

    ``where`` names what it is for, such as ``-rounds`` or ``cpu= of A``; ``index`` is the text's
    place in its list, where it has one.
    """
    number = parse_whole(text)
    if number is not None and low <= number <= high:
        return number
    purpose = where and f" for {where}"
    raise InputError(text, f"expected {what} from {low} to {high}{purpose}", index)


def counted(number: int, noun: str) -> str:
    """A number of things: ``1 game``, ``2 games``, ``2 matches``, ``2 inaccuracies``."""
    if number == 1:
        return f"1 {noun}"
    if noun.endswith("y"):
        return f"{number} {noun[:-1]}ies"
    return f"{number} {noun}{'es' if noun.endswith('ch') else 's'}"


def read_real(
    text: str, low: float, high: float, where: str = "", *, what: str = "a number"
) -> float:
    """The number that a text is, or an `InputError` unless it lies from ``low`` to ``high``."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if low <= value <= high:
        return value
    purpose = where and f" for {where}"
    raise InputError(text, f"expected {what} from {low:g} to {high:g}{purpose}")
