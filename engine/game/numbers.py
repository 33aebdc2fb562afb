"""Whole numbers in text that anybody may have written."""

from __future__ import annotations

_BEYOND = 10**19
"""More than anything here is bounded by. Longer numbers are not told apart: reading them costs the
square of their length."""


def parse_whole(text: str) -> int | None:
    """The decimal number that a text is, with a sign or without, or None.

    Beyond 10 to the 19th, either way, it is that.
    """
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not (digits.isascii() and digits.isdigit()):
        return None
    digits = digits.lstrip("0") or "0"
    number = _BEYOND if len(digits) > len(str(_BEYOND)) else min(int(digits), _BEYOND)
    return -number if text[0] == "-" else number
