"""Command lines quoted for the system's shell."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence


def shell_text(words: Sequence[str], posix: bool = os.name == "posix") -> str:
    """Return the words as one command line, quoted for a POSIX shell or for Windows."""
    if posix:
        return shlex.join(words)
    import subprocess  # Imported here, as it would add milliseconds to each start of the engine.

    return subprocess.list2cmdline(words)
