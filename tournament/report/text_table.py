"""Aligned columns of plain text, safe on any terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Container, Sequence

from merels.engine.game.errors import printable

MAX_NAME = 40
"""Columns a name may take in a table."""


def width(text: str) -> int:
    """The columns that printed text takes: wide East Asian letters two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def shorten(text: str, columns: int = MAX_NAME) -> str:
    """The cleaned text, cut with ``...`` at the end where it is wider than ``columns``."""
    text = printable(text)
    if width(text) <= columns:
        return text
    kept, room = "", columns - 3
    for character in text:
        room -= width(character)
        if room < 0:
            break
        kept += character
    return kept + "..."


def percent(part: float, whole: int) -> str:
    """A share in percent; ``-`` of nothing."""
    return f"{100 * part / whole:.1f}%" if whole else "-"


def grid(rows: Sequence[Sequence[str]], left: int | Container[int]) -> str:
    """The rows as lines, each column as wide as its widest cell.

    Columns number ``left`` (names) are aligned to the left, the others to the right.
    """
    to_the_left = {left} if isinstance(left, int) else left
    widths = [max(map(width, column)) for column in zip(*rows)]
    lines = []
    for row in rows:
        cells = []
        for number, (cell, columns) in enumerate(zip(row, widths)):
            gap = " " * (columns - width(cell))
            cells.append(cell + gap if number in to_the_left else gap + cell)
        lines.append("  ".join(cells).rstrip() + "\n")
    return "".join(lines)
