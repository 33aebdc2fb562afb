"""Reading and writing files that a user names, with errors that name the file."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import sys
from collections.abc import Iterator, Sequence
from typing import TextIO

from merels.engine.common.errors import InputError, placed, printable, shorten
from merels.engine.common.saving import create_draft, write_named
from merels.protocol.common.text_file import open_text, without_end_mark

LONGEST_TEXT = 1 << 27
"""Maximum size of a file that is read into memory at once, in characters."""
LONGEST_LINE = 1 << 24
"""Maximum length of a line, in characters."""
CHUNK = 1 << 18
"""Characters that `read_paragraphs` reads at once."""


def file_error(path: str, problem: str) -> InputError:
    """Return an error about a file.

    If the path is too long for the error's token, the token is the file's name, and the message
    ends with the whole path.
    """
    if shorten(path) == printable(path):
        return InputError(path, problem)
    return InputError(os.path.basename(path) or path, f"{problem} ({printable(path)})")


def shown_path(path: str) -> str:
    """Return a file's name for messages; ``-`` is standard input."""
    return "standard input" if path == "-" else printable(path)


@contextlib.contextmanager
def errors_at(place: str) -> Iterator[None]:
    """Add ``place``, such as a file and line, to each `InputError` raised inside."""
    try:
        yield
    except InputError as error:
        raise placed(error, place) from None


def system_error(path: str, action: str, error: OSError) -> InputError:
    """Return the error for an ``action`` on a file, such as ``read``, that the system refused."""
    return file_error(path, f"cannot {action} this file: {error.strerror or error}")


def write_error(path: str) -> str:
    """Return the OS error on opening this file for writing, or ''; creates a missing file."""
    try:
        open(path, "ab").close()
    except OSError as error:
        return error.strerror or str(error)
    return ""


def unwritable_reason(path: str, in_place: bool = False) -> str:
    """Return the reason why a file cannot be created or replaced now, or ''.

    ``in_place``: an existing file will be written to, so its folder need not be writable.
    """
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.exists(path) and not os.path.isfile(path):  # A device or a pipe can be written to.
        return os.strerror(errno.EISDIR) if os.path.isdir(path) else ""
    if os.path.exists(path):
        why = write_error(path)
        if why or in_place:
            return why
    if not os.path.isdir(folder):
        return "there is no such folder"
    return "" if os.access(folder, os.W_OK) else "its folder cannot be written to"


def new_draft(path: str) -> str:
    """Create an empty file that will replace ``path`` once it is complete; return its name."""
    try:
        return create_draft(path)
    except OSError as error:
        raise system_error(path, "write", error) from None


def read_text(path: str) -> str:
    """Return a file's text; `InputError` if it has more than `LONGEST_TEXT` characters."""
    with _opened(path) as file:
        text = file.read(LONGEST_TEXT + 1)
    if len(text) > LONGEST_TEXT:
        raise file_error(path, f"expected at most {LONGEST_TEXT} characters in this file")
    return without_end_mark(text)


def read_lines(path: str) -> Iterator[str]:
    """Yield the lines of a text file of any size; ``-`` is standard input.

    `InputError` if a line has more than `LONGEST_LINE` characters.
    """
    with _opened(path) as file:
        while line := file.readline(LONGEST_LINE + 1):
            if len(line) > LONGEST_LINE:
                raise _long_line(path)
            if line := without_end_mark(line):
                yield line


def read_paragraphs(path: str) -> Iterator[str]:
    """Yield a text file's paragraphs, and each empty line between them, as whole lines.

    A paragraph of more than `CHUNK` characters may come in several pieces. Errors are those of
    `read_lines`.
    """
    pending = ""
    with _opened(path) as file:
        while text := file.read(CHUNK):
            *paragraphs, pending = (pending + text).split("\n\n")
            for paragraph in paragraphs:
                yield paragraph + "\n"
                yield "\n"
            if len(pending) > CHUNK and (end := pending.rfind("\n") + 1):
                yield pending[:end]
                pending = pending[end:]
            if len(pending) > LONGEST_LINE:
                raise _long_line(path)
    if pending := without_end_mark(pending):
        yield pending


def _long_line(path: str) -> InputError:
    return file_error(path, f"expected lines of at most {LONGEST_LINE} characters in this file")


@contextlib.contextmanager
def _opened(path: str) -> Iterator[TextIO]:
    """Open a text file to read from; `InputError` names the file if that fails."""
    try:
        source = 0 if path == "-" else path
        with open(source, "rb", closefd=source != 0) as file, open_text(file) as text:
            yield text
    except OSError as error:
        raise system_error(path, "read", error) from None
    except UnicodeDecodeError:
        raise file_error(path, "expected a text file in UTF-8, UTF-16 or Latin-1") from None


def file_digest(path: str) -> str:
    """Return a file's SHA-256 in hexadecimal.

    `InputError` if it is not a regular file: a pipe could not be read a second time.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        raise file_error(path, "expected a regular file, because it is read more than once")
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise system_error(path, "read", error) from None


def format_of(path: str | None, formats: Sequence[str]) -> str:
    """Return the format that a file's extension names if it is in ``formats``, else ``text``."""
    ending = os.path.splitext(path or "")[1].lower().lstrip(".")
    ending = {"htm": "html"}.get(ending, ending)
    return ending if ending in formats else "text"


def check_output(path: str | None, files: Sequence[str]) -> None:
    """Raise `InputError` if the output file ``path`` is one of the input ``files``."""
    if path is None or not os.path.exists(path):
        return
    for file in files:
        if os.path.exists(file) and os.path.samefile(path, file):
            raise file_error(path, "games are read from this file; name another for -out")


def write_report(path: str | None, text: str) -> None:
    """Write a report to a file, or to standard output if ``path`` is None."""
    if path is None:
        sys.stdout.write(text)
        return
    try:
        write_named(path, [text.encode()])
    except OSError as error:
        raise system_error(path, "write", error) from None
