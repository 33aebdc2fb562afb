"""Files that others may have put into a folder of ours."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def read_regular_file(path: Path, most: int) -> bytes:
    """Return the content of a regular file of at most ``most`` bytes; OSError for any other.

    Neither a pipe nor a device makes the call wait.
    """
    if not stat.S_ISREG(path.stat().st_mode):  # Opening a device may change its state.
        raise OSError(errno.EINVAL, "not a regular file")
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        if found.st_size > most:
            raise OSError(errno.EFBIG, f"larger than {most >> 20} MiB")
        return file.read(most)
