"""The errors that a user meets, and foreign text made safe to print."""

from __future__ import annotations

from collections.abc import Iterable


class InputError(ValueError):
    """Input that is wrong.

    ``token`` is the piece at fault as it was written, ``expected`` names valid input, and
    ``index`` is the token's place in a list of tokens, counted from 0.
    """

    def __init__(self, token: str, expected: str, index: int | None = None) -> None:
        self.token = token
        self.expected = expected
        self.index = index
        super().__init__(token, expected, index)

    def at(self, index: int) -> InputError:
        """The same error with the token's index."""
        return InputError(self.token, self.expected, index)

    def __str__(self) -> str:
        place = "" if self.index is None else f" (token {self.index})"
        return f"'{shorten(self.token)}'{place}: {printable(self.expected)}"


class PlacedError(InputError):
    """Input that is wrong at known ``places`` of a text or file, the narrowest first.

    ``reason`` is what would be right, without the places.
    """

    def __init__(self, token: str, reason: str, *places: str) -> None:
        self.reason = reason
        self.places = places
        super().__init__(token, f"{reason} ({', '.join(places)})")

    def __reduce__(self) -> tuple[type[PlacedError], tuple[str, ...]]:
        return PlacedError, (self.token, self.reason, *self.places)


class SeveralErrors(InputError):
    """Several pieces of input that are wrong, each reported on a line of its own."""

    def __init__(self, errors: Iterable[InputError]) -> None:
        first, *_ = self.errors = tuple(errors)
        super().__init__(first.token, first.expected)

    def __str__(self) -> str:
        return "\n".join(dict.fromkeys(map(str, self.errors)))

    def __reduce__(self) -> tuple[type[SeveralErrors], tuple[tuple[InputError, ...]]]:
        return SeveralErrors, (self.errors,)


def placed(error: InputError, place: str) -> InputError:
    """Return the error with a place added to those that it names; an empty place adds nothing."""
    if not place:
        return error
    if isinstance(error, PlacedError):
        return PlacedError(error.token, error.reason, *error.places, place)
    return PlacedError(error.token, error.expected, place)


class Failure(Exception):
    """A valid request failed for an outside reason, such as a full disk or a dead worker."""


def printable(text: str) -> str:
    """The text with ``?`` for all that could move a cursor, end a line or hide what follows.

    That is every control character, line and paragraph separator, half of a surrogate pair and
    formatting character, such as those that turn the direction of writing.
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else "?" for c in text)


def shorten(text: str, limit: int = 60) -> str:
    """The text on one line of printable characters, at most ``limit`` of them.

    What is left out is in the middle: of a path the end tells more than the folders do.
    """
    if len(text) <= limit:
        return printable(text)
    end = limit // 2
    return f"{printable(text[: limit - end - 1])}…{printable(text[-end:])}"


def quoted(data: bytes, limit: int = 160) -> str:
    """Return bytes in quotation marks, with control characters escaped.

    Where there are more than ``limit`` characters, those in the middle are left out.
    """
    # A character has at most four bytes.
    if len(data) > 8 * limit:
        data = data[: 4 * limit] + data[-4 * limit :]
    text = "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii")
        for c in data.decode("utf-8", "backslashreplace")
    )
    return f"'{shorten(text, limit)}'"


def suggestion(text: str, known: Iterable[str]) -> str:
    """``; did you mean …?`` if a known word is close to the text in any case, else nothing."""
    import difflib  # It would cost every start of the engine a millisecond.

    words = {word.lower(): word for word in known}
    close = difflib.get_close_matches(text.lower(), words, n=1, cutoff=0.7)
    return f"; did you mean {words[close[0]]}?" if close else ""
