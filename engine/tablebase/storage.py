"""Writing to a folder of tables: whole files only, and one program at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from merels.engine.common.errors import InputError
from merels.engine.common.saving import DRAFT, Part, lock, write_whole

LOCK = "lock"
"""The name of the file that a program locks while it writes to a folder."""


class FolderLocked(InputError):
    """Another process writes to the folder."""


def write_table(path: Path, parts: Sequence[Part]) -> None:
    """Write a table's file; `InputError` where the disk is full or the file cannot be written."""
    try:
        write_whole(path, parts)
    except OSError as error:
        size = sum(map(len, parts)) / 1e6
        raise InputError(
            str(path),
            f"cannot be written ({error.strerror}); it needs {size:.1f} MB. "
            "All finished files are kept: free the space and repeat the command",
        ) from error


def remove_drafts(folder: Path) -> None:
    """Remove the drafts of killed programs from a folder that is locked."""
    for draft in folder.glob(f"*{DRAFT}"):
        try:
            draft.unlink(missing_ok=True)
        except OSError as error:
            raise InputError(
                str(draft), f"a killed program's draft cannot be removed ({error.strerror})"
            ) from error


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other programs from writing to a folder of tables.

    `FolderLocked` where one already does, `InputError` where no lock can be had.
    """
    try:
        descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise InputError(
            str(folder / LOCK), f"cannot be written ({error.strerror})"
        ) from error
    try:
        try:
            lock(descriptor)
        except (BlockingIOError, PermissionError):  # On Windows the latter.
            raise FolderLocked(str(folder), "another build is at work there") from None
        except OSError as error:
            raise InputError(
                str(folder), f"cannot be locked ({error.strerror}): use another file system"
            ) from error
        yield
    finally:
        os.close(descriptor)
