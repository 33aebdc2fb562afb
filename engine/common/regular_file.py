"""Reading regular files in folders that others may write to."""

from __future__ import annotations

import errno
import io
import os
import stat


def open_regular_file(path: str | os.PathLike[str], follow: bool = False) -> io.BufferedReader:
    """Open a regular file to read from; `OSError` for any other file.

    For folders that others may write to: the call does not block on a pipe or a device, and follows
    a symbolic link at ``path`` only with ``follow``.
    """
    flags = os.O_RDONLY
    for name in ("O_NONBLOCK", "O_BINARY", *([] if follow else ["O_NOFOLLOW"])):
        flags |= getattr(os, name, 0)
    # Opening a device may change its state, so check before; the path may change, so check after.
    _check_regular(os.stat(path, follow_symlinks=follow))
    file = open(os.open(path, flags), "rb")
    try:
        _check_regular(os.fstat(file.fileno()))
    except OSError:
        file.close()
        raise
    return file


def read_regular_file(path: str | os.PathLike[str], max_bytes: int) -> bytes:
    """Return the content of a regular file of at most ``max_bytes``; `OSError` for any other file.

    A symbolic link at ``path`` is not followed.
    """
    with open_regular_file(path) as file:
        if os.fstat(file.fileno()).st_size > max_bytes:
            raise OSError(errno.EFBIG, f"larger than {max_bytes} bytes")
        return file.read(max_bytes)


def _check_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "not a regular file")
