"""The standard streams, made usable however the process inherited them."""

from __future__ import annotations

import io
import os
import stat
import sys

from merels.engine.game.errors import InputError


def make_usable() -> None:
    """Open the streams that were closed, and let input and output block and take any text.

    A closed stream's descriptor would go to the next file that is opened. Whoever shares a pipe
    may have made it non-blocking, and a terminal's encoding may lack a letter of a foreign name.
    """
    sys.stdin = sys.stdin or open(os.devnull)
    sys.stdout = sys.stdout or open(os.devnull, "w")
    sys.stderr = sys.stderr or open(os.devnull, "w")
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
        if os.name == "posix":
            try:
                os.set_blocking(stream.fileno(), True)
            except OSError:
                pass  # It has no descriptor, or no such mode.


def refuse_pipe(path: str) -> None:
    """Raise an `InputError` for a named pipe: opening one to write waits for its reader."""
    try:
        found = stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return  # Opening it says what is wrong.
    if found:
        raise InputError(path, "expected a file; this is a pipe, which would wait for a reader")
