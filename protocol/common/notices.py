"""Notices to the user of a command, on standard error."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from merels.engine.common.errors import printable

_command = "merels"


def set_command(command: str) -> None:
    """Set the command that `notify` names in front of each notice."""
    global _command
    _command = command


def notify(text: str) -> None:
    """Print a notice on standard error, after the output before it.

    Drop it, and all later ones, if that fails: a reader that has exited, or a full disk, must not
    end the work.
    """
    with suppress(OSError):  # The next write to standard output raises the error again.
        sys.stdout.flush()
    try:
        print(f"{_command}: {printable(text)}", file=sys.stderr, flush=True)
    except OSError:
        # A file that cannot be flushed would change the exit status.
        sys.stderr = open(os.devnull, "w")
