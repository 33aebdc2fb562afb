"""Decoding of text files in UTF-8, UTF-16, UTF-32, Latin-1 or Windows-1252."""

from __future__ import annotations

import codecs
import io
from typing import TextIO, cast

_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32", codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}  # fmt: skip
"""Encodings by byte order mark, the longer marks first."""
_WITHOUT_MARK: dict[tuple[bool, ...], str] = {
    (False, True, False, True): "utf-16-le", (True, False, True, False): "utf-16-be"
}
"""Encodings of files without a mark, by which of the first four bytes are zero."""
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

    A byte order mark selects UTF-16 or UTF-32. A file without a mark is UTF-16 if its first four
    bytes are two ASCII characters in UTF-16. Other files are UTF-8, with invalid bytes read as
    Windows-1252, which has all letters of Latin-1. A line ends with LF, CR LF or CR.
    """
    head = file.peek(4)[:4]
    encoding = next((name for mark, name in _MARKS.items() if head.startswith(mark)), None)
    if encoding is None and len(head) == 4:
        encoding = _WITHOUT_MARK.get(tuple(byte == 0 for byte in head))
    if encoding is not None:
        return io.TextIOWrapper(file, encoding)
    return io.TextIOWrapper(file, "utf-8-sig", _WESTERN)


def without_end_mark(text: str) -> str:
    """Return the last part of a text without Control-Z, which ends the files of DOS."""
    return text.rstrip("\x1a") if text[-1:] == "\x1a" else text


def decode(data: bytes) -> str:
    """Return the text of a file's bytes as `open_text` reads it; `UnicodeError` for binary data."""
    raw = cast(io.RawIOBase, io.BytesIO(data))
    text = without_end_mark(open_text(io.BufferedReader(raw)).read())
    if "\0" in text:
        raise UnicodeError("binary data")
    return text
