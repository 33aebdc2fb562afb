"""Atomic replacement of files, and file locks.

A reader sees the old file or the complete new one at any time. The new content goes to a draft in
the same folder, which is flushed to the disk and then renamed. A draft that cannot be completed is
removed; only a killed process leaves one.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

Name = str | os.PathLike[str]
Part = bytes | bytearray | memoryview
Stamp = tuple[int, int, int]

DRAFT = ".part"
"""Suffix of a draft's name."""
CHUNK = 1 << 22
"""Bytes in one write call; Ctrl-C takes effect between calls."""
_NAME_LENGTH = 50
"""Characters of a file's name that its draft's name repeats: file systems allow 255 bytes."""
LOCK_SECONDS, LOCK_PAUSE = 60.0, 0.01
"""Longest wait for a locked file, and the pause between two tries, in seconds."""
_BINARY = getattr(os, "O_BINARY", 0)


def write_whole(path: Name, parts: Iterable[Part]) -> None:
    """Create a file, or replace it by a new one with the same permissions.

    A symbolic link at ``path`` is replaced; its target is unchanged. After an `OSError` the old
    file is unchanged and no draft is left. `PermissionError` if the file is read-only.
    """
    draft = ""
    try:
        draft = create_draft(path)
        descriptor = os.open(draft, os.O_WRONLY | _BINARY)
        try:
            for part in parts:
                _write(descriptor, part)
        finally:
            os.close(descriptor)
        publish(draft, path)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(draft)
        if isinstance(error, OSError):
            error.filename, error.filename2 = os.fspath(path), None
        raise


def write_named(path: Name, parts: Iterable[Part]) -> None:
    """Write a file that a user has named: `write_whole` with two exceptions.

    A symbolic link stays, and its target is replaced. A device, a pipe and the process's own
    output, such as /dev/stdout, are written to directly.
    """
    try:
        target = os.stat(path)
    except FileNotFoundError:
        target = None
    stream = None if target is None else _open_stream(path, target)
    if stream is None:
        write_whole(os.path.realpath(path), parts)
        return
    try:
        for part in parts:
            _write(stream, part)
    finally:
        os.close(stream)


def append_whole(path: Name, part: Part) -> None:
    """Append to a file, or create it; after an `OSError` its old content is unchanged."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _BINARY, 0o666)
    try:
        append_open(descriptor, part)
    finally:
        os.close(descriptor)


@contextmanager
def locked(path: Name) -> Iterator[int]:
    """Lock a file, which is created if it is missing; yield a descriptor that appends to it.

    Processes that append to a file and replace it lose no data if all do so inside this context.
    `BlockingIOError` if another process holds the lock for `LOCK_SECONDS`. The file is not locked
    on Windows, where an open file cannot be replaced, or on a file system without locks.
    """
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _BINARY, 0o666)
        try:
            if sys.platform != "win32":
                try:
                    lock(descriptor)
                except BlockingIOError:
                    if time.monotonic() > deadline:
                        raise
                    time.sleep(LOCK_PAUSE)
                    continue
                except OSError:
                    pass  # The file system has no locks.
                if not _is_same_file(path, descriptor):
                    continue  # Another program has just replaced or removed the file.
            yield descriptor
            return
        finally:
            os.close(descriptor)


def append_open(descriptor: int, part: Part) -> None:
    """Append to an open file as `append_whole` does.

    No other process may append at the same time: after an error the file is cut to its old size.
    """
    old = os.fstat(descriptor)
    try:
        _write(descriptor, part)
    except OSError:
        if stat.S_ISREG(old.st_mode):
            os.ftruncate(descriptor, old.st_size)
        raise


def open_to_append(path: Name, truncate: bool = False) -> int:
    """Return a descriptor that appends to a file, which is created if it is missing.

    With ``truncate``, a regular file is emptied. `OSError` for a named pipe that no program reads,
    because opening it would wait for a reader.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | _BINARY | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(path, flags | (os.O_TRUNC if truncate else 0), 0o666)
    except OSError as error:
        if error.errno == errno.ENXIO and stat.S_ISFIFO(os.stat(path).st_mode):
            why = "no program reads this pipe; start its reader first"
            raise OSError(error.errno, why, os.fspath(path)) from None
        raise
    if os.name == "posix":
        os.set_blocking(descriptor, True)
    return descriptor


def create_draft(path: Name) -> str:
    """Create an empty draft of ``path`` in the same folder; return its unique name.

    Its permissions are at most those of the file that it will replace.
    """
    folder, name = os.path.split(os.fspath(path))
    draft = os.path.join(folder, f"{name[:_NAME_LENGTH]}.{os.urandom(4).hex()}{DRAFT}")
    try:
        mode = os.lstat(path).st_mode & 0o666
    except FileNotFoundError:
        mode = 0o666
    os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
    return draft


def publish(draft: Name, path: Name) -> None:
    """Flush a complete draft to the disk and rename it to ``path``.

    The draft first gets the permissions of the file that it replaces, if there is one.
    """
    descriptor = os.open(draft, os.O_WRONLY)  # Windows flushes no file opened for reading.
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    _copy_permissions(draft, path)
    os.replace(draft, path)
    _sync_folder(os.path.dirname(path) or os.curdir)


def stamp(path: Name) -> Stamp | None:
    """Return a file's inode, size in bytes and time of last change; None if there is no file."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def lock(descriptor: int) -> None:
    """Lock a file until it is closed, without waiting.

    `BlockingIOError` or, on Windows, `PermissionError` if another program has locked the file;
    another `OSError` if the file system has no locks.
    """
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def create_lock(path: Name, *, required: bool = False) -> int | None:
    """Create and lock a lock file; return its descriptor, or None if the folder allows no lock.

    `BlockingIOError` if another process has locked it; with ``required`` another `OSError` instead
    of None. The system unlocks it when this process ends.
    """
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        except OSError:  # For example in a read-only folder.
            if required:
                raise
            return None
        try:
            lock(descriptor)
        except (BlockingIOError, PermissionError) as error:
            os.close(descriptor)
            raise BlockingIOError(error.errno, error.strerror) from None
        except OSError:
            remove_lock(descriptor, path)  # The file system has no locks.
            if required:
                raise
            return None
        # The process that held the lock may have removed the file between `open` and `lock`.
        if _is_same_file(path, descriptor):
            return descriptor
        os.close(descriptor)


def remove_lock(descriptor: int | None, path: Name) -> None:
    """Remove the lock file that `create_lock` locked; do nothing if ``descriptor`` is None."""
    if descriptor is None:
        return
    with suppress(OSError):
        if os.name == "posix":
            os.unlink(path)  # Before unlocking, as another process may then lock the file.
    os.close(descriptor)
    with suppress(OSError):
        if os.name != "posix":
            os.unlink(path)  # Windows cannot remove an open file.


def _write(descriptor: int, part: Part) -> None:
    unwritten = memoryview(part).cast("B")
    while unwritten:
        unwritten = unwritten[os.write(descriptor, unwritten[:CHUNK]) :]


def _is_same_file(path: Name, descriptor: int) -> bool:
    """Return whether ``path`` still names the open file."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _output_stream(target: os.stat_result) -> int | None:
    """Return 1 or 2 if the file is this process's standard output or error, else None."""
    for stream in (1, 2):
        with suppress(OSError):  # The stream is closed.
            if os.path.samestat(target, os.fstat(stream)):
                return stream
    return None


def _open_stream(path: Name, target: os.stat_result) -> int | None:
    """Return a descriptor of this process's own output, a device or a pipe, else None."""
    if (stream := _output_stream(target)) is not None:
        (sys.stdout if stream == 1 else sys.stderr).flush()
        return os.dup(stream)
    if stat.S_ISREG(target.st_mode):
        return None
    if stat.S_ISDIR(target.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    return os.open(path, os.O_WRONLY)


def _copy_permissions(draft: Name, path: Name) -> None:
    """Give a draft the permissions of the file at ``path`` and, if the system allows, its owner.

    `PermissionError` if that file is read-only.
    """
    try:
        old = os.lstat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISREG(old.st_mode):
        return
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(path))
    if os.name == "posix":
        new = os.stat(draft)
        if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
            with suppress(OSError):
                os.chown(draft, old.st_uid, old.st_gid)
    os.chmod(draft, stat.S_IMODE(old.st_mode))


def _sync_folder(folder: str) -> None:
    """Flush a folder's entries to the disk, on systems that can; `publish` has flushed the file."""
    if os.name == "posix":
        with suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
