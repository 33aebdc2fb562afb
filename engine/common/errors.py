"""Errors that are shown to a user, and functions that make untrusted text safe to print."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

Item = TypeVar("Item")

from merels.engine.common.messages import joined, message


class InputError(ValueError):
    """Invalid input.

    ``token`` is the invalid text as it was written, ``expected`` describes valid input, and
    ``index`` is the token's position in a list of tokens, counted from 0.
    """

    def __init__(self, token: str, expected: str, index: int | None = None) -> None:
        self.token = token
        self.expected = expected
        self.index = index
        super().__init__(token, expected, index)

    def at(self, index: int) -> InputError:
        """Return a copy of this error that names the token's index."""
        return InputError(self.token, self.expected, index)

    def __str__(self) -> str:
        what, fault = shorten(self.token), printable(self.expected)
        if self.index is None:
            return message("'{what}': {fault}", what=what, fault=fault)
        index = self.index
        return message("'{what}' (token {index}): {fault}", what=what, index=index, fault=fault)


def required(value: object, kind: type[Item] | tuple[type[Item], ...], expected: str) -> Item:
    """Return an argument of a function that must be of a type; `InputError` if it is not."""
    if not isinstance(value, kind):
        raise InputError(shown(value), f"expected {expected}")
    return value


def required_text(value: object, expected: str) -> str:
    """Return an argument of a function that must be a text; `InputError` if it is not."""
    return required(value, str, f"a string: {expected}")


def required_items(items: Iterable[Item], expected: str) -> Iterable[Item]:
    """Return an argument that must be a list or other iterable; `InputError` if it is a string."""
    if isinstance(items, (str, bytes)) or not isinstance(items, Iterable):
        raise InputError(shown(items), f"expected a list: {expected}")
    return items


def required_function(value: object, name: str) -> None:
    """Raise `InputError` unless the argument ``name`` is a function or None."""
    if value is not None and not callable(value):
        raise InputError(f"{name}={shown(value)}", "expected a function")


def shown(value: object) -> str:
    """Return an argument for a message, also an integer that has too many digits to be written."""
    try:
        return repr(value)
    except ValueError:
        return f"{type(value).__name__} of too many digits"


class PlacedError(InputError):
    """Invalid input whose ``places`` in a text or file are known, the narrowest first.

    ``reason`` describes valid input, without the places.
    """

    def __init__(self, token: str, reason: str, *places: str) -> None:
        self.reason = reason
        self.places = places
        where = joined(", ", places)
        super().__init__(token, message("{fault} ({where})", fault=reason, where=where))

    def __reduce__(self) -> tuple[type[PlacedError], tuple[str, ...]]:
        return PlacedError, (self.token, self.reason, *self.places)


class SeveralErrors(InputError):
    """Several errors in one input, each reported on its own line."""

    def __init__(self, errors: Iterable[InputError]) -> None:
        first, *_ = self.errors = tuple(errors)
        super().__init__(first.token, first.expected)

    def __str__(self) -> str:
        return "\n".join(dict.fromkeys(map(str, self.errors)))

    def __reduce__(self) -> tuple[type[SeveralErrors], tuple[tuple[InputError, ...]]]:
        return SeveralErrors, (self.errors,)


def placed(error: InputError, place: str) -> InputError:
    """Return the error with one more, wider place; an empty ``place`` adds nothing."""
    if not place:
        return error
    if isinstance(error, PlacedError):
        return PlacedError(error.token, error.reason, *error.places, place)
    return PlacedError(error.token, error.expected, place)


class Failure(Exception):
    """A valid request that failed for an external reason, such as a full disk or a dead worker."""


def shortage(error: Exception) -> str:
    """Return a message for a lack of memory or of threads, with the ways to go on; else ''.

    A thread that cannot be started is a `RuntimeError`; it often lacks memory for its stack.
    """
    if isinstance(error, MemoryError):
        advice = "close other programs, or raise the limit of memory (ulimit -v)"
        return f"{str(error) or 'not enough memory'}; {advice}"
    if isinstance(error, RuntimeError) and "thread" in str(error):
        advice = "use fewer threads, or raise the limit of memory or processes"
        return f"{error}; {advice} (ulimit -v, ulimit -u)"
    return ""


def printable(text: str) -> str:
    """Return the text with ``?`` for each character that is not printable.

    Such characters could move the cursor, end the line or hide text: control characters, line
    and paragraph separators, lone surrogates, and marks that change the direction of writing.
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else "?" for c in text)


def shorten(text: str, limit: int = 60) -> str:
    """Return the text on one line of at most ``limit`` printable characters.

    Characters are omitted from the middle, because the end of a path identifies the file.
    """
    if len(text) <= limit:
        return printable(text)
    end = limit // 2
    return f"{printable(text[: limit - end - 1])}…{printable(text[-end:])}"


def quoted(data: bytes, limit: int = 160) -> str:
    """Return bytes as at most ``limit`` characters in quotes; unprintable ones are escaped.

    Characters are omitted from the middle.
    """
    # A character has at most four bytes, so that each half keeps at least ``limit`` characters.
    if len(data) > 8 * limit:
        data = data[: 4 * limit] + data[-4 * limit :]
    text = "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii")
        for c in data.decode("utf-8", "backslashreplace")
    )
    return f"'{shorten(text, limit)}'"


def suggestion(text: str, known: Iterable[str]) -> str:
    """Return ``; did you mean …?`` with the known word closest to the text, or ''; ignores case."""
    import difflib  # Imported here, as it would add a millisecond to each start of the engine.

    words = {word.lower(): word for word in known}
    close = difflib.get_close_matches(text.lower(), words, n=1, cutoff=0.7)
    return f"; did you mean {words[close[0]]}?" if close else ""
