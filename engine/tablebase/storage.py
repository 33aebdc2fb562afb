"""Writing to a folder of tables: atomic files, and a lock against other programs."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from merels.engine.common.errors import InputError
from merels.engine.common.saving import DRAFT, Part, create_lock, remove_lock, write_whole

LOCK = "lock"
"""Name of the file that a program locks while it writes to a folder of tables."""


class FolderLocked(InputError):
    """Another process is writing to the folder."""


def write_table(path: Path, parts: Sequence[Part]) -> None:
    """Write a table file; `InputError` if the system refuses."""
    try:
        write_whole(path, parts)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            needed = f"; it needs {sum(map(len, parts)) / 1e6:.1f} MB"
            advice = "free some space and repeat the command"
        else:
            needed, advice = "", "repeat the command once the cause is removed"
        problem = f"cannot write this file: {error.strerror}{needed}"
        raise InputError(
            str(path), f"{problem}. All finished files are kept: {advice}"
        ) from error


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a folder of tables against other programs inside the ``with`` block.

    `FolderLocked` if another program has locked it, `InputError` if the system refuses a lock.
    """
    path = folder / LOCK
    try:
        descriptor = create_lock(path, required=True)
    except BlockingIOError:
        raise FolderLocked(
            str(folder), "another program writes to this folder; wait until it has ended"
        ) from None
    except OSError as error:
        raise InputError(
            str(path),
            f"cannot create and lock this file: {error.strerror}; check the folder's permissions, "
            "or use another file system",
        ) from error
    try:
        yield
    finally:
        remove_lock(descriptor, path)


@contextmanager
def prepared(folder: Path) -> Iterator[None]:
    """Create a folder of tables, lock it as `locked` does, and remove drafts of killed programs.

    `InputError` if the folder cannot be created, or a draft cannot be removed.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(str(folder), f"cannot create this folder: {error.strerror}") from error
    with locked(folder):
        for draft in folder.glob(f"*{DRAFT}"):
            try:
                draft.unlink(missing_ok=True)
            except OSError as error:
                raise InputError(
                    str(draft),
                    f"cannot remove this temporary file of an interrupted run: {error.strerror}",
                ) from error
        yield
