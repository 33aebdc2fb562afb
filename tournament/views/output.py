"""What the views have in common: text on standard output."""

from __future__ import annotations

from typing import TextIO

from merels.engine.game.errors import Failure, printable


class OutputError(Failure):
    """What is shown cannot be written: the reader has left, or the disk is full."""


def put(out: TextIO, text: str) -> None:
    """Write a text at once; `OutputError` where that fails."""
    try:
        out.write(text)
        out.flush()
    except OSError as error:
        raise OutputError(f"standard output cannot be written: {error.strerror or error}") from None


def versus(white: str, black: str) -> str:
    """The names of two engines that meet, as they are shown."""
    return f"{printable(white)} vs {printable(black)}"
