"""Files that a user names, and the errors when they cannot be used."""

from __future__ import annotations

import hashlib
import os

from merels.engine.errors import InputError, printable


def file_error(path: str, problem: str) -> InputError:
    """The error of a file, with its whole path: an `InputError` cuts long tokens."""
    return InputError(os.path.basename(path) or path, f"{problem} ({printable(path)})")


def system_error(path: str, action: str, error: OSError) -> InputError:
    """The error of a file that the system does not let us ``action``."""
    return file_error(path, f"cannot {action} this file: {error.strerror or error}")


def read_text(path: str) -> str:
    """A file's text."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            return file.read()
    except OSError as error:
        raise system_error(path, "read", error) from None
    except UnicodeDecodeError:
        raise file_error(path, "expected a text file in UTF-8") from None


def file_digest(path: str) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise system_error(path, "read", error) from None
