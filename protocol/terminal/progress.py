"""The progress of a long command, written to standard error."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import time
from typing import TYPE_CHECKING, Self, TextIO

if TYPE_CHECKING:
    from merels.engine.tablebase.build import Progress

_STEPS = 20
"""Maximum number of lines that are written if standard error is not a terminal."""
_WIDTH = 24
"""Width of the bar, in characters."""
_REDRAW_SECONDS = 0.1
"""Shortest time between two redraws of the bar, in seconds."""


_ECHO = 2
"""Columns of the ``^C`` that a terminal prints behind the bar after Ctrl-C."""


class ProgressLine:
    """A progress bar on a terminal; elsewhere, a new line for each twentieth of the work.

    As a context manager, it removes the bar at the end of the block, also after Ctrl-C.
    """

    def __init__(self) -> None:
        self._width = 0
        self._steps = 0
        self._next = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def show(self, share: float, text: str) -> None:
        """Show the ``share`` of the work that is done, from 0 to 1, and a text."""
        if not sys.stderr.isatty():
            if int(share * _STEPS) > self._steps:
                self._steps = int(share * _STEPS)
                self._write(f"{100 * share:3.0f}% {text}\n")
        elif time.monotonic() >= self._next:
            self._next = time.monotonic() + _REDRAW_SECONDS
            filled = int(share * _WIDTH)
            line = f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {100 * share:3.0f}% {text}"
            # A return moves the cursor only to the start of the last line of a wrapped text.
            line = line[: max(0, terminal_size(sys.stderr)[0] - 1 - _ECHO)]
            self._width = max(self._width, len(line))
            self._write(f"\r{line:<{self._width}}")

    def clear(self) -> None:
        """Remove the bar from the terminal."""
        if self._width:
            self._write(f"\r{' ' * (self._width + _ECHO)}\r")
            self._width = 0

    def _write(self, text: str) -> None:
        """Write text, and ignore errors: the work must not fail because of its progress bar."""
        with contextlib.suppress(OSError):
            print(text, end="", file=sys.stderr, flush=True)


def terminal_size(out: TextIO) -> tuple[int, int]:
    """Return columns and lines of the terminal ``out``; ``COLUMNS`` and ``LINES`` override them."""
    columns, lines = 80, 24
    with contextlib.suppress(OSError):
        size = os.get_terminal_size(out.fileno())
        # Some terminals report the size 0 x 0.
        columns, lines = size.columns or columns, size.lines or lines
    return shutil.get_terminal_size((columns, lines))


def show_progress(bar: ProgressLine, progress: Progress) -> None:
    """Show the progress of building or packing tables."""
    bar.show(
        progress.done / progress.total if progress.total else 1.0,
        f"{progress.step:<12} "
        f"{progress.done / 1e6:,.0f} of {progress.total / 1e6:,.0f} million entries, "
        f"{progress.rate / 1e6:.1f} million/s, {_duration(progress.seconds_left)} left",
    )


def _duration(seconds: float) -> str:
    """Return a time in seconds as m:ss or h:mm:ss."""
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
