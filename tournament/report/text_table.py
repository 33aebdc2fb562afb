"""Aligned columns of plain text, safe on any terminal."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from merels.engine.common.errors import printable

MAX_NAME = 40
"""Greatest width of a name in a table, in columns."""
MIN_NAME = 12
"""Least width of a name, in columns, before columns of figures are left out."""
GAP = "  "


@dataclass(frozen=True, slots=True)
class Table:
    """A head and rows of text, the first cell of each a name, for a terminal or a page."""

    rows: Sequence[Sequence[str]]
    """The head, then the rows. Names may have any characters."""
    css: str
    """Classes of the table on a page."""
    title: str = ""

    def text(self) -> str:
        """Return the table as lines, with long names cut."""
        rows = [[shorten(name), *cells] for name, *cells in self.rows]
        return f"{self.title}:\n" * bool(self.title) + grid(rows, left=0)


def width(text: str) -> int:
    """Return the columns of printed text: wide East Asian letters two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def shorten(text: str, columns: int = MAX_NAME) -> str:
    """Return printable text, cut with ``...`` at the end if it is wider than ``columns``."""
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


def shorten_apart(names: Iterable[str], columns: int) -> dict[str, str]:
    """Return each name shortened; names that would look the same lose their middle instead."""
    short = {name: shorten(name, columns) for name in names}
    counts = Counter(short.values())
    half = (columns - 3) // 2
    return {
        name: text if counts[text] == 1 else f"{text[:half]}...{printable(name)[-half:]}"
        for name, text in short.items()
    }


def percent(part: float, whole: int) -> str:
    """Return a share in percent; ``-`` if ``whole`` is 0."""
    return f"{100 * part / whole:.1f}%" if whole else "-"


def fitted(
    rows: Sequence[Sequence[str]], name: int, columns: int, spare: Sequence[str],
    least: int = MIN_NAME,
) -> list[list[str]]:
    """Return the rows cut so that `grid` prints them within ``columns`` columns, if possible.

    Names, in the column with index ``name``, are cut first, down to ``least`` columns. Then the
    columns headed by ``spare`` are left out one by one. Finally, names are cut down to 4 columns.
    """
    kept = [list(row) for row in rows]
    heads = ["", *spare]
    while heads:
        if (head := heads.pop(0)) in kept[0]:
            spared = kept[0].index(head)
            kept = [row[:spared] + row[spared + 1 :] for row in kept]
            name -= spared < name
        widths = [max(map(width, column)) for column in zip(*kept)]
        room = columns - sum(widths) + widths[name] - len(GAP) * (len(widths) - 1)
        if room >= min(widths[name], least):
            break
    for row in kept:
        row[name] = shorten(row[name], max(room, 4))
    return kept


def grid(rows: Sequence[Sequence[str]], left: int | Container[int]) -> str:
    """Return the rows as lines, each column as wide as its widest cell.

    Columns whose index is ``left``, or in it, are aligned to the left, the others to the right.
    """
    left_columns = {left} if isinstance(left, int) else left
    widths = [max(map(width, column)) for column in zip(*rows)]
    lines = []
    for row in rows:
        cells = []
        for number, (cell, columns) in enumerate(zip(row, widths)):
            gap = " " * (columns - width(cell))
            cells.append(cell + gap if number in left_columns else gap + cell)
        lines.append(GAP.join(cells).rstrip() + "\n")
    return "".join(lines)
