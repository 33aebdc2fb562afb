"""Decoding of text files in UTF-8, UTF-16, UTF-32, Latin-1 or Windows-1252."""

from __future__ import annotations

import codecs
import errno
import io
import os
import stat
from typing import TextIO, cast

_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32", codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}  # fmt: skip
"""Encodings by byte order mark, the longer marks first."""
_WESTERN = "merels-western"
"""Name of the codec error handler that reads invalid UTF-8 as Windows-1252."""


def _as_western(error: UnicodeError) -> tuple[str, int]:
    """Return invalid UTF-8 bytes as the Windows-1252 letters that older programs write."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    wrong = error.object[error.start : error.end]
    return "".join(_LETTERS[byte] for byte in wrong), error.end


_LETTERS = [bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(256)]
codecs.register_error(_WESTERN, _as_western)


def open_text(file: io.BufferedReader) -> TextIO:
    """Return a text stream over a binary file.

    A byte order mark selects UTF-16 or UTF-32; other files are UTF-8, with invalid bytes read as
    Windows-1252, which has all letters of Latin-1. A line ends with LF, CR LF or CR.
    """
    head = file.peek(4)
    encoding = next((name for mark, name in _MARKS.items() if head.startswith(mark)), None)
    if encoding is not None:
        return io.TextIOWrapper(file, encoding)
    return io.TextIOWrapper(file, "utf-8-sig", _WESTERN)


def decode(data: bytes) -> str:
    """Return the text of a file's bytes as `open_text` reads it; `UnicodeError` for binary data."""
    raw = cast(io.RawIOBase, io.BytesIO(data))
    text = open_text(io.BufferedReader(raw)).read()
    if "\0" in text:
        raise UnicodeError("binary data")
    return text


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
