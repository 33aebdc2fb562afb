"""The command of an engine: splitting it into words, and finding its program."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence

from merels.protocol.process.errors import EngineError

POSIX = os.name == "posix"
_SPACES = " \t\r\n"
_PLAIN = re.compile(r"""[^ \t\r\n'"\\#]++""")
_IN_QUOTES = re.compile(r'(?>(?:[^"\\]|\\.)*)', re.DOTALL)
_ESCAPED = re.compile(r'\\(["\\])')


def split_words(text: str) -> list[str]:
    """Return the words of an engine's command line; `EngineError` where `shell_words` fails."""
    try:
        return shell_words(text)
    except ValueError as error:
        raise EngineError(f"cannot read the engine's command {text!r}: {error}") from None


def shell_words(text: str, comments: bool = False, posix: bool = POSIX) -> list[str]:
    """Return the words of a text as `shlex.split` splits it.

    With ``comments``, # begins a comment, even inside a word. Without ``posix``, as on Windows, a
    backslash is an ordinary character, but quotes are removed. `ValueError` for an unclosed quote
    or a backslash at the end.
    """
    # `shlex` itself would take a time that grows with the square of a word's length.
    words: list[str] = []
    parts: list[str] = []
    index = 0
    while index < len(text):
        char, after = text[index], index + 1
        if char in _SPACES or (char == "#" and comments):
            if parts:
                words.append("".join(parts))
            parts = []
            index = after if char != "#" else text.find("\n", after)
            if index < 0:
                break
        elif char == "\\" and posix:
            if after == len(text):
                raise ValueError("no character after the last backslash")
            parts.append(text[after])
            index += 2
        elif char in "'\"":
            escapes = char == '"' and posix
            quoted = _IN_QUOTES.match(text, after) if escapes else None
            end = quoted.end() if quoted else text.find(char, after)
            if text[end : end + 1] != char:
                raise ValueError("no closing quotation mark")
            part = text[after:end]
            parts.append(_ESCAPED.sub(r"\1", part) if escapes else part)
            index = end + 1
        else:
            plain = _PLAIN.match(text, after)
            index = plain.end() if plain else after
            parts.append(text[after - 1 : index])
    return [*words, "".join(parts)] if parts else words


def split_command(command: str | Sequence[str], directory: str | None = None) -> list[str]:
    """Return a command as a list of words; `EngineError` if it is empty. No shell is run.

    A string that names a file in ``directory``, in PATH or in the current folder is a program
    without arguments. Any other string is split by `shell_words`.
    """
    if not isinstance(command, str):
        words = list(command) if isinstance(command, Sequence) else [command]
        if not all(isinstance(word, str) for word in words):
            raise EngineError(f"cannot start {command!r}; give a text, or a list of words")
    elif locate(command, directory) is not None:
        words = [command]
    else:
        words = split_words(command)
    if not words:
        raise EngineError("the engine's command is empty; give the name of its program")
    return words


def locate(name: str, directory: str | None) -> str | None:
    """Return the path of a program in ``directory``, PATH or the current folder, or None."""
    in_directory = os.path.join(directory, name) if directory else None
    candidates = (in_directory, shutil.which(name), name)
    return next((path for path in candidates if path and os.path.isfile(path)), None)


def find_executable(words: Sequence[str], directory: str | None = None) -> str:
    """Return the absolute path of a command's program.

    If there is no such file, `EngineError` names the places that were searched.
    """
    name = words[0]
    path = locate(name, directory)
    if path is not None:
        return os.path.abspath(path)
    for text in (name, " ".join(words)):
        for candidate in (directory and os.path.join(directory, text), text):
            if candidate and os.path.isdir(candidate):
                raise EngineError(f"no such engine: '{candidate}' is a folder; name a program")
    places = [os.getcwd()] if os.path.dirname(name) else ["PATH", "the current folder"]
    missing = f"'{name}' is not in {' or '.join([*places, directory] if directory else places)}"
    if os.path.isabs(name):
        missing = f"there is no file '{name}'"
    if len(words) > 1:
        missing += f", and no file '{' '.join(words)}'; give a program's arguments as args="
    raise EngineError(f"no such engine: {missing}")
