"""An engine's options: their types and bounds, and the lines that declare and set them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from merels.engine.common.errors import (
    InputError,
    required,
    required_items,
    required_text,
    shown,
    suggestion,
)
from merels.engine.common.numbers import parse_whole

EMPTY = "<empty>"
"""The empty string in ``option`` and ``setoption`` lines."""
_KEYWORDS = re.compile(r"(?:^| )(default|min|max|var)(?= |$)", re.IGNORECASE)

Value = str | int | bool | None
"""Value of an option; None for a button, which has no value."""


def value_text(value: Value) -> str:
    """Return a value as it is sent to an engine, such as ``true`` for True."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def setoption(name: str, text: str | None) -> str:
    """Return the line that sets an option to ``text``, or presses a button if it is None."""
    return f"setoption name {name}" + ("" if text is None else f" value {text}")


@dataclass(frozen=True, slots=True)
class Option:
    """One option: ``kind`` is ``check``, ``spin``, ``combo``, ``string`` or ``button``.

    ``minimum`` and ``maximum`` bound a spin (None: the engine declared no bound); ``choices`` are
    the values of a combo. `InputError` for a field of another type.
    """

    name: str
    kind: str
    default: str = ""
    minimum: int | None = None
    maximum: int | None = None
    choices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for field in ("name", "kind", "default"):
            required_text(getattr(self, field), f"the {field} of an option")
        for bound in (self.minimum, self.maximum):
            if bound is not None:
                required(bound, int, "an integer, the bound of an option")
        for choice in required_items(self.choices, "values of a combo"):
            required_text(choice, "a value of a combo")

    def __str__(self) -> str:
        """Return the ``option`` line that declares this option; `parse_option` reads it."""
        text = f"option name {self.name} type {self.kind}"
        if self.kind != "button":
            text += f" default {self.default or EMPTY}"
        bounds = (("min", self.minimum), ("max", self.maximum))
        text += "".join(f" {word} {bound}" for word, bound in bounds if bound is not None)
        return text + "".join(f" var {choice}" for choice in self.choices)

    def check(self, value: Value) -> str:
        """Return a valid value as the text to send; `InputError` describes the allowed values.

        The result is the empty string for a button, and for a string given as `EMPTY`.
        """
        text = "" if value is None and self.kind == "button" else value_text(value)
        if value is None and self.kind != "button":
            raise self._refused(text, "a value")
        if value is not None and not isinstance(value, (str, int, float, os.PathLike)):
            raise self._refused(shown(value), "a string, a number, True or False")
        # The engine would read text after a line break as another command.
        if any(end in self.name + text for end in "\r\n"):
            raise self._refused(text, "a name and a value without line breaks")
        if any("\ud800" <= character <= "\udfff" for character in self.name + text):
            raise self._refused(
                text, "a name and a value without lone surrogates, which UTF-8 cannot encode"
            )
        if self.kind == "button":
            return ""
        if self.kind == "check":
            if text.lower() not in ("true", "false"):
                raise self._refused(text, "true or false")
            return text.lower()
        if self.kind == "spin":
            number, low, high = parse_whole(text), self.minimum, self.maximum
            if number is None or low is not None and number < low or (
                    high is not None and number > high):
                bounds = (("from", low), ("to", high))
                limits = "".join(f" {word} {bound}" for word, bound in bounds if bound is not None)
                raise self._refused(text, f"a whole number{limits}")
            return str(number)
        if self.kind == "combo" and self.choices:
            for choice in self.choices:
                if choice.lower() == text.lower():
                    return choice
            raise self._refused(text, f"one of {', '.join(self.choices)}")
        return "" if text == EMPTY else text

    def _refused(self, text: str, expected: str) -> InputError:
        return InputError(text, f"option {self.name} takes {expected}")


class Options(Mapping[str, Option]):
    """An engine's options by case-insensitive name, in the order of declaration."""

    def __init__(self, options: Iterable[Option] = ()) -> None:
        self._options: dict[str, Option] = {}
        for option in required_items(options, "objects of the class Option"):
            self.add(option)
        self.dropped = 0
        """Number of declared options that were not kept, because there were too many."""

    def add(self, option: Option) -> None:
        """Add an option, or replace one of the same name."""
        self._options[required(option, Option, "an Option").name.lower()] = option

    def __getitem__(self, name: str) -> Option:
        return self._options[name.lower() if isinstance(name, str) else name]

    def __iter__(self) -> Iterator[str]:
        return (option.name for option in self._options.values())

    def __len__(self) -> int:
        return len(self._options)

    def find(self, name: str) -> Option:
        """Return the option of that name; `InputError` suggests the most similar name."""
        if required_text(name, "the name of an option") in self:
            return self[name]
        hint = suggestion(name, self) or "; 'uci' lists them"
        if self.dropped:
            hint = f" among the first {len(self)}; {self.dropped} more were not read"
        raise InputError(name, f"no such option{hint}")

    def check(self, name: str, value: Value) -> tuple[str, str]:
        """Return an option's declared name, and a valid value as the text to send.

        `InputError` for an unknown name or an invalid value. If there are no options, every name
        is known: a value of None presses a button, and any other value sets a string.
        """
        undeclared = Option(name, "button" if value is None else "string")
        option = self.find(name) if self else undeclared
        return option.name, option.check(value)


def parse_option(line: str) -> Option | None:
    """Return the option that an ``option name … type …`` line declares; None for any other line.

    Names, defaults and choices may contain spaces. The default `EMPTY` is read as ''.
    """
    match = re.fullmatch("option name (.+?) type (.+)", " ".join(line.split()), re.IGNORECASE)
    kind, *parts = _KEYWORDS.split(match[2]) if match else [""]
    if not match or not kind:
        return None
    values: dict[str, list[str]] = {}
    for key, value in zip(parts[::2], parts[1::2]):
        values.setdefault(key.lower(), []).append(value.strip())
    default, low, high = (values.get(key, [""])[0] for key in ("default", "min", "max"))
    return Option(
        match[1],
        kind.lower(),
        "" if default == EMPTY else default,
        parse_whole(low),
        parse_whole(high),
        tuple(filter(None, values.get("var", ()))),
    )
