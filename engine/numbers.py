"""Whole numbers in text that anybody may have written."""

from __future__ import annotations

_MOST_DIGITS = 19
"""Enough for 64 bits; longer ones are no number that anything here can mean."""


def parse_whole(text: str) -> int | None:
    """The decimal number that a text is, with a sign or without, or None."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    sane = digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS
    return int(text) if sane else None
