"""Command lines as a person types them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence


def shell_text(words: Sequence[str], posix: bool = os.name == "posix") -> str:
    """The words in one line, quoted where the system's shell would take them for something else."""
    if posix:
        return shlex.join(words)
    import subprocess  # It would cost every start of the engine some milliseconds.

    return subprocess.list2cmdline(words)
