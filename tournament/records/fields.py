"""Fields of the command line: how a value is read, its default, its place, and how it is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from merels.engine.common.errors import InputError, suggestion
from merels.engine.common.numbers import read_real, read_whole
from merels.tournament.records.games import SECOND, TimeControl, clock_text, seconds_text

Reader = Callable[[str, str], Any]
"""Reads a text; its second argument names the flag or key, for the error about an invalid text."""
MAX_SECONDS = 1e6
"""Largest time of a clock or a move, in seconds."""
NONE = "none"
"""Value that turns off a flag that the command line in a journal gives."""


def read_text(text: str, where: str) -> str:
    return text


def show(value: object) -> str:
    """Return a value as it is typed, whole numbers without ``.0``; empty for None."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return "" if value is None else str(value).removesuffix(".0")


@dataclass(frozen=True, slots=True)
class Field:
    """A value of the command line."""

    read: Reader = read_text
    default: Any = None
    path: str = ""
    """Place in the `Settings` or the `Entrant`, with dots; empty if it is not stored there."""
    show: Callable[[Any], str] = show

    def text(self, record: object) -> str:
        """Return the value in a record as it is typed; empty for None."""
        value: Any = record
        for name in self.path.split("."):
            value = None if value is None else getattr(value, name)
        return self.show(value)


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag, which takes either ``key=value`` words or plain words."""

    help: str
    value: Field = Field()
    """Field of a flag without keys. A flag that takes no word has the value True if given; one that
    repeats has a tuple of values."""
    keys: Mapping[str, Field] = field(default_factory=dict)
    first_key: str = ""
    """Key of a first word without ``=``; empty if the flag refuses such a word."""
    words: tuple[int, int] = (1, 1)
    """Smallest and largest number of words of a flag without keys."""
    repeats: bool = False
    """Whether a repeated flag adds values instead of replacing them."""
    required: tuple[str, ...] = ()
    """Keys that must be given with the flag."""

    def fields(self, name: str) -> dict[str, Field]:
        """Return the fields by the words that select them, such as ``-draw score``."""
        if self.keys:
            return {f"{name} {key}": field for key, field in self.keys.items()}
        return {name: self.value}


Flags = Mapping[str, Flag]
"""The flags of a command, by name."""


def whole(low: int = 0, high: int = 10**9, unit: int = 1) -> Reader:
    """Return a reader of whole numbers, which are multiplied by ``unit``."""
    return lambda text, where: unit * read_whole(text, low, high, where)


def real(low: float, high: float, noun: str = "a number") -> Reader:
    """Return a reader of numbers; ``noun`` describes them in errors."""
    return lambda text, where: read_real(text, low, high, where, what=noun)


def choice(*names: str, **others: str) -> Reader:
    """Return a reader of names in any case; ``others``: other spellings."""

    def read(text: str, where: str) -> str:
        known = {name.lower(): name for name in names} | others
        if text.lower() in known:
            return known[text.lower()]
        expected = f"expected {', '.join(names)} for {where}{suggestion(text, names)}"
        raise InputError(text, expected)

    return read


def read_switch(text: str, where: str) -> bool:
    """Parse a boolean such as ``true``, ``off`` or ``1``."""
    if text.lower() in ("true", "on", "yes", "1"):
        return True
    if text.lower() in ("false", "off", "no", "0"):
        return False
    raise InputError(text, f"expected true or false for {where}")


def or_none(read: Reader) -> Reader:
    """Return a reader that reads ``none`` as None."""
    return lambda text, where: None if text == NONE else read(text, where)


def read_seconds(text: str, where: str) -> int:
    """Parse a time per move in seconds; return nanoseconds."""
    return round(read_real(text, 1e-3, MAX_SECONDS, where, what="seconds") * SECOND)


def show_nanoseconds(time: int | None) -> str:
    return "" if time is None else seconds_text(time)


def read_clock(text: str, where: str = "tc=") -> TimeControl:
    """Parse ``moves/min:sec+inc``, where moves, min and inc are optional, or ``inf`` (no clock)."""
    if text.lower() in ("inf", "infinite"):
        return TimeControl()
    engine = where.removeprefix("tc=")  # `` of A``, or nothing.
    expected = f"expected tc=moves/min:sec+inc{engine}, such as 40/1:30+0.5 or 10+0.1"
    move_count, slash, clock = text.rpartition("/")
    main, plus, increment = clock.partition("+")
    minutes, colon, seconds = main.rpartition(":")
    try:
        total = 60 * _unsigned(minutes if colon else "0") + _unsigned(seconds)
        extra = _unsigned(increment if plus else "0")
        moves = None
        if slash and move_count.isascii() and move_count.isdigit():
            moves = int(move_count)
    except ValueError:
        raise InputError(text, expected) from None
    if (slash and not moves) or not 0 < total <= MAX_SECONDS or extra > MAX_SECONDS:
        raise InputError(text, expected)
    return TimeControl(round(total * SECOND), round(extra * SECOND), moves)


def _unsigned(text: str) -> float:
    """Parse a decimal number without sign, exponent or spaces."""
    if not text or not set(text) <= set("0123456789."):
        raise ValueError(text)
    return float(text)


def show_clock(limit: TimeControl) -> str:
    return "" if limit.time is None else clock_text(limit)
