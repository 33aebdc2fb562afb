"""The options that an engine says it has, read from its ``option`` lines."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NoReturn

from merels.engine.game.errors import shorten
from merels.engine.game.numbers import parse_whole
from merels.protocol.process.errors import EngineError

_WORDS = ("name", "type", "default", "min", "max", "var")

Value = str | int | bool | None
"""What an option can be set to: None presses a button."""


def value_text(value: Value) -> str:
    """A value as the protocol writes it."""
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True)
class Option:
    """One option: ``kind`` is ``check``, ``spin``, ``combo``, ``string`` or ``button``."""

    name: str
    kind: str
    default: str = ""
    minimum: int | None = None
    maximum: int | None = None
    choices: tuple[str, ...] = ()

    def check(self, value: Value) -> str:
        """The text to send for a value; `EngineError` says what the option takes."""
        if self.kind == "button":
            return ""
        if value is None:
            self._refuse("None", "a value")
        text = value_text(value)
        try:
            text.encode()
        except UnicodeEncodeError:
            self._refuse(text, "text that can be sent")
        if self.kind == "check":
            if text.lower() not in ("true", "false"):
                self._refuse(text, "true or false")
            return text.lower()
        if self.kind == "spin":
            amount = parse_whole(text)
            if amount is None:
                self._refuse(text, "a whole number")
            low, high = self.minimum, self.maximum
            if low is not None and amount < low or high is not None and amount > high:
                bounds = (("from", low), ("to", high))
                known = " ".join(f"{word} {bound}" for word, bound in bounds if bound is not None)
                self._refuse(text, f"a number {known}")
        if self.kind == "combo" and self.choices:
            for choice in self.choices:
                if choice.lower() == text.lower():
                    return choice
            self._refuse(text, f"one of {', '.join(self.choices)}")
        return text

    def _refuse(self, text: str, expected: str) -> NoReturn:
        raise EngineError(f"option {self.name} takes {expected}, not '{shorten(text)}'")


class Options(Mapping[str, Option]):
    """An engine's options by name, in any case, in the order in which the engine gave them."""

    def __init__(self) -> None:
        self._options: dict[str, Option] = {}

    def add(self, option: Option) -> None:
        """Add an option, or replace one of the same name."""
        self._options[option.name.lower()] = option

    def __getitem__(self, name: str) -> Option:
        return self._options[name.lower()]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.lower() in self._options

    def __iter__(self) -> Iterator[str]:
        return (option.name for option in self._options.values())

    def __len__(self) -> int:
        return len(self._options)

    def find(self, name: str) -> Option:
        """The option of that name, or an `EngineError` that names the nearest."""
        if name in self:
            return self[name]
        near = difflib.get_close_matches(name.lower(), self._options, 1)
        hint = f"; did you mean '{self[near[0]].name}'?" if near else ""
        raise EngineError(f"no option '{shorten(name)}'{hint}")


def parse_option(line: str) -> Option | None:
    """The option of an ``option name … type …`` line, or None for a line that is none.

    Names, defaults and choices may hold blanks. ``<empty>`` is the empty default.
    """
    parts: dict[str, list[str]] = {}
    current = ""
    for word in line.split()[1:]:
        key = word.lower()
        starts = key in _WORDS and (key == "var" or key not in parts)
        # Words of the name come before the type, whatever they are.
        if starts and (key in ("name", "type") or "type" in parts):
            current = key
            parts.setdefault(key, []).append("\n" if key == "var" else "")
        elif current:
            parts[current].append(word)
    name, kind = _join(parts, "name"), _join(parts, "type").lower()
    if not name or not kind:
        return None
    default = _join(parts, "default")
    choices = tuple(
        choice.strip() for choice in " ".join(parts.get("var", [])).split("\n") if choice.strip()
    )
    return Option(
        name,
        kind,
        "" if default == "<empty>" else default,
        parse_whole(_join(parts, "min")),
        parse_whole(_join(parts, "max")),
        choices,
    )


def _join(parts: Mapping[str, list[str]], key: str) -> str:
    return " ".join(parts.get(key, [])).strip()
