"""Writing to a folder of tables: whole files only, and one program at a time."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from merels.engine.game.errors import InputError
from merels.engine.tablebase.files import CHUNK

PARTIAL = ".part"
"""The end of an unfinished file's name."""


def write_whole(path: Path, parts: Sequence[bytes | bytearray | memoryview]) -> None:
    """Write a file under another name, flush it to the disk, then give it its own name.

    `InputError` where the disk is full or cannot be written; no part of a file is left.
    """
    partial = path.with_name(path.name + PARTIAL)
    try:
        with open(partial, "wb") as file:
            for part in parts:
                for at in range(0, len(part), CHUNK):
                    file.write(memoryview(part)[at : at + CHUNK])
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
        _sync_folder(path.parent)
    except BaseException as error:
        partial.unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        size = sum(map(len, parts)) / 1e6
        raise InputError(
            str(path),
            f"cannot be written ({error.strerror}); it needs {size:.1f} MB. "
            "All finished files are kept: free the space and repeat the command",
        ) from error


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other programs from writing to a folder of tables.

    `InputError` where one already does.
    """
    try:
        file = open(folder / "lock", "w")
    except OSError as error:
        raise InputError(
            str(folder / "lock"), f"cannot be written ({error.strerror})"
        ) from error
    with file:
        try:
            _lock(file.fileno())
        except (BlockingIOError, PermissionError):  # On Windows the latter.
            raise InputError(str(folder), "another build is at work there") from None
        except OSError as error:
            raise InputError(
                str(folder), f"cannot be locked ({error.strerror}): use another file system"
            ) from error
        yield


def _lock(descriptor: int) -> None:
    """Lock a file until it is closed; `OSError` at once where another process has it locked."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _sync_folder(folder: Path) -> None:
    """Make a change of names in a folder durable, where the system knows how."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
