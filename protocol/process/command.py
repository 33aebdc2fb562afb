"""The command of an engine: its words, and the program that it names."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence

from merels.protocol.process.errors import EngineError

POSIX = os.name == "posix"
_BLANKS = " \t\r\n"
_PLAIN = re.compile(r"""[^ \t\r\n'"\\#]++""")
_ESCAPING = re.compile(r'(?:[^"\\]|\\.)*+', re.DOTALL)
_ESCAPED = re.compile(r'\\(["\\])')


def split_words(text: str) -> list[str]:
    """The words of a command line, as a shell would split it; `EngineError` for an open quote."""
    try:
        return shell_words(text)
    except ValueError as error:
        raise EngineError(f"cannot read the engine's command {text!r}: {error}") from None


def shell_words(text: str, comments: bool = False, posix: bool = POSIX) -> list[str]:
    """The words of a text, as a shell would split it; `ValueError` for an open quote.

    ``comments``: each # begins one. On Windows a backslash is a letter of a path like any other.
    """
    # `shlex` splits alike, but takes time in proportion to the square of a word's length.
    words: list[str] = []
    parts: list[str] = []
    place = 0
    while place < len(text):
        first, start = text[place], place + 1
        if first in _BLANKS or (first == "#" and comments):
            if parts:
                words.append("".join(parts))
            parts = []
            place = start if first != "#" else text.find("\n", start)
            if place < 0:
                break
        elif first == "\\" and posix:
            if start == len(text):
                raise ValueError("No escaped character")
            parts.append(text[start])
            place += 2
        elif first in "'\"":
            escapes = first == '"' and posix
            quoted = _ESCAPING.match(text, start) if escapes else None
            end = quoted.end() if quoted else text.find(first, start)
            if text[end : end + 1] != first:
                raise ValueError("No closing quotation")
            part = text[start:end]
            parts.append(_ESCAPED.sub(r"\1", part) if escapes else part)
            place = end + 1
        else:
            plain = _PLAIN.match(text, start)
            place = plain.end() if plain else start
            parts.append(text[start - 1 : place])
    return [*words, "".join(parts)] if parts else words


def split_command(command: str | Sequence[str], directory: str | None = None) -> list[str]:
    """A command as a list of words; no shell runs.

    A string that names an existing file, in ``directory``, in PATH or here, is that program;
    otherwise it is split as a shell would split it.
    """
    if not isinstance(command, str):
        words = list(command)
    elif locate(command, directory) is not None:
        words = [command]
    else:
        words = split_words(command)
    if not words:
        raise EngineError("the engine's command is empty")
    return words


def locate(name: str, directory: str | None) -> str | None:
    """The file that a program's name means: in its directory, in PATH, then from here."""
    beside = os.path.join(directory, name) if directory else None
    candidates = (beside, shutil.which(name), name)
    return next((path for path in candidates if path and os.path.isfile(path)), None)


def find_executable(words: Sequence[str], directory: str | None = None) -> str:
    """The absolute path of a command's program; `EngineError` says where it was looked for."""
    name = words[0]
    found = locate(name, directory)
    if found is not None:
        return os.path.abspath(found)
    for text in (name, " ".join(words)):
        for candidate in (directory and os.path.join(directory, text), text):
            if candidate and os.path.isdir(candidate):
                raise EngineError(f"no such engine: '{candidate}' is a folder")
    places = "PATH" if os.path.dirname(name) == "" else os.getcwd()
    also = f" or {directory}" if directory else ""
    missing = f"'{name}' is not in {places}{also}"
    if os.path.isabs(name):
        missing = f"there is no file '{name}'"
    if len(words) > 1:
        missing += f", and no file '{' '.join(words)}'; give a program's arguments as args="
    raise EngineError(f"no such engine: {missing}")
