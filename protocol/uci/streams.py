"""The standard streams, fit for use however the process came by them."""

from __future__ import annotations

import io
import os
import stat
import sys

from merels.engine.game.errors import InputError


def make_usable() -> None:
    """Lets nothing else care how the streams were inherited.

    One that was closed is empty, or takes what nobody will see; its descriptor would otherwise go
    to the next file that is opened. Neither input nor output refuses to wait, as whoever shares
    it may have wished, or stops at a byte or a foreign name that the terminal's encoding lacks.
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
                pass  # It is none of the system's, or has no such mode.


def refuse_pipe(path: str) -> None:
    """Raise an `InputError` for a named pipe: whoever opens one to write waits for its reader."""
    try:
        found = stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return  # Whoever opens it next says why it cannot.
    if found:
        raise InputError(path, "expected a file; this is a pipe, which would wait for a reader")
