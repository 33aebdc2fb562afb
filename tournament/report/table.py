"""Tables: columns and rows of values, rendered as aligned text, CSV, JSON values or HTML."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from merels.engine.common.errors import printable

MAX_NAME = 40
"""Greatest width of a name in text, in columns."""
MIN_NAME = 12
"""Least width of a name in text, in columns, before other columns are left out."""
GAP = "  "
FORMULA = ("=", "+", "-", "@")
"""First characters of a formula in a spreadsheet."""


@dataclass(frozen=True, slots=True)
class Column:
    """Column of a table: its heading, its key in data, and the format of its values."""

    head: str
    """Heading in text and on pages; a column without heading is only in CSV and JSON."""
    key: str | None = ""
    """Key in CSV and JSON; None for the heading in lower case, '' for no such column."""
    form: str | Callable[[Any], str] = "{}"
    """Format of a value in text and on pages: a format string or a function."""
    left: bool = False
    """Whether text is aligned to the left."""
    html: Callable[[Any], str] | None = None
    """Function that returns the HTML of a value, if it is not the escaped text."""
    title: str = ""
    """Meaning of a short heading, shown on pages."""
    page_only: bool = False
    is_loose: bool = False
    """Whether a narrow screen may cut the column, so that the others keep their width."""

    @property
    def name(self) -> str:
        """Key in CSV and JSON; '' if the column is not part of them."""
        return self.head.lower() if self.key is None else self.key

    def text(self, value: Any) -> str:
        """Return a value as printable text: ``-`` for None, nothing for ''."""
        if value is None or value == "":
            return "" if value == "" else "-"
        form = self.form
        return printable(form.format(value) if isinstance(form, str) else form(value))

    def cell(self, value: Any) -> str:
        """Return a value as HTML: ``–`` for None, nothing for ''."""
        if value is None or value == "":
            return "" if value == "" else "–"
        return escape(self.text(value)) if self.html is None else self.html(value)


@dataclass(frozen=True, slots=True)
class Table:
    """Columns, and rows with a value for each column; None is unknown, and '' an empty cell.

    Strings may have any characters: each rendering makes them safe.
    """

    title: str
    head: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    css: str = ""
    """Classes of the table on a page."""
    names: int = 0
    """Index of the column of names: cut in text, and always in view on a page."""
    max_name: int = MAX_NAME

    def text(
        self, columns: int | None = None, spare: Sequence[str] = (), least: int = MIN_NAME
    ) -> str:
        """Return aligned lines, without the title.

        To fit them into ``columns``, names are cut down to ``least`` columns; then the columns
        headed by ``spare`` are left out one by one; finally, names are cut down to 4 columns.
        """
        cells = {
            index: [column.head, *(column.text(row[index]) for row in self.rows)]
            for index, column in enumerate(self.head) if column.head and not column.page_only
        }
        widths = {index: max(map(width, texts)) for index, texts in cells.items()}
        kept, name_width = list(cells), self.max_name
        if columns is not None:
            for head in ("", *spare):
                kept = [index for index in kept if self.head[index].head != head]
                taken = [
                    widths[index] + len(GAP) for index in kept
                    if index != self.names and not self.head[index].is_loose
                ]
                name_width = columns - sum(taken)
                if name_width >= min(widths[self.names], least):
                    break
        cells[self.names] = [shorten(text, max(name_width, 4)) for text in cells[self.names]]
        widths[self.names] = max(map(width, cells[self.names]))
        lines = []
        for line in zip(*(cells[index] for index in kept)):
            parts = []
            for index, cell in zip(kept, line):
                gap = " " * (widths[index] - width(cell))
                parts.append(cell + gap if self.head[index].left else gap + cell)
            lines.append(GAP.join(parts).rstrip() + "\n")
        return "".join(lines)

    def html(self) -> str:
        """Return a table element in a box; its names are headings of their rows."""
        shown = [(index, column) for index, column in enumerate(self.head) if column.head]
        heads = "".join(
            f'<th{" class=name" * (index == self.names)}>'
            + (f'<abbr title="{text_html(column.title)}">{text_html(column.head)}</abbr>'
               if column.title else text_html(column.head)) + "</th>"
            for index, column in shown
        )
        lines = []
        for row in self.rows:
            cells = ((index, column.cell(row[index])) for index, column in shown)
            lines.append("".join(
                f'<th scope="row">{cell}</th>' if index == self.names else f"<td>{cell}</td>"
                for index, cell in cells
            ))
        body = "\n".join(f"<tr>{line}</tr>" for line in lines)
        return (f'<div class="wide"><table class="{self.css}"><thead><tr>{heads}</tr></thead>'
                f"<tbody>\n{body}</tbody></table></div>")

    def csv(self) -> str:
        """Return a line of keys and a line for each row."""
        # Not from `json`: players' names, which are keys of a crosstable, may be equal to others.
        kept = [index for index, column in enumerate(self.head) if column.name]
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([csv_text(self.head[index].name) for index in kept])
        writer.writerows([csv_text(row[index]) for index in kept] for row in self.rows)
        return out.getvalue()

    def json(self) -> list[dict[str, Any]]:
        """Return the values of each row by key; strings keep their control characters."""
        return [
            {column.name: value for column, value in zip(self.head, row) if column.name}
            for row in self.rows
        ]


def text_columns(*heads: str) -> list[Column]:
    """Return columns of text, aligned to the left."""
    return [Column(head, None, left=True) for head in heads]


def number_columns(*heads: str) -> list[Column]:
    """Return columns of numbers or of short texts, aligned to the right."""
    return [Column(head, None) for head in heads]


def csv_text(value: Any) -> Any:
    """Return a value for CSV: a string printable, and after ``'`` if it looks like a formula."""
    if not isinstance(value, str):
        return value
    clean = printable(value)
    return f"'{clean}" if clean.startswith(FORMULA) else clean


def text_html(text: str) -> str:
    """Return text, which another program may have written, made printable and escaped for HTML."""
    return escape(printable(text))


def width(text: str) -> int:
    """Return the columns of printed text: wide East Asian letters two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def cut(text: str, columns: int) -> str:
    """Return the longest start of ``text`` that fits into ``columns``."""
    left = columns
    for index, character in enumerate(text):
        left -= width(character)
        if left < 0:
            return text[:index]
    return text


def shorten(text: str, columns: int = MAX_NAME) -> str:
    """Return printable text, cut with ``...`` at the end if it is wider than ``columns``."""
    text = printable(text)
    return text if width(text) <= columns else cut(text, columns - 3) + "..."


def share(part: float, whole: int) -> float | None:
    """Return ``part / whole``, or None if ``whole`` is 0."""
    return part / whole if whole else None


def percent(part: float, whole: int) -> str:
    """Return a share in percent; ``-`` if ``whole`` is 0."""
    return f"{part / whole:.1%}" if whole else "-"
