"""The engine's options: one table that prints, parses and checks itself."""

from __future__ import annotations

from dataclasses import dataclass

from merels.engine.game.errors import InputError
from merels.engine.game.numbers import parse_whole
from merels.engine.game.rules import DEFAULT_RULES, DEFAULT_VARIANT, FIELDS, PRESETS, Rules, preset
from merels.engine.search.levels import MAXIMUM_ELO, MAXIMUM_SEED, MINIMUM_ELO
from merels.engine.search.searcher import DEFAULT_HASH

Value = int | bool | str

EMPTY = "<empty>"
"""How the protocol writes a string of no characters."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its name, its ``kind`` (check, spin, combo, button or string) and its default.

    ``low`` and ``high`` bound a spin; ``choices`` are a combo's words.
    """

    name: str
    kind: str
    default: Value = ""
    low: int = 0
    high: int = 0
    choices: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The line that declares the option to a client."""
        text = f"option name {self.name} type {self.kind}"
        if self.kind != "button":
            text += f" default {_written(self.default)}"
        if self.kind == "spin":
            text += f" min {self.low} max {self.high}"
        for choice in self.choices:
            text += f" var {choice}"
        return text

    def parse(self, text: str) -> Value:
        """The option's value from its text; `InputError` says what was expected."""
        if self.kind == "check":
            if text.lower() in ("true", "false"):
                return text.lower() == "true"
            raise InputError(text, f"expected true or false for {self.name}")
        if self.kind == "spin":
            number = parse_whole(text)
            if number is not None and self.low <= number <= self.high:
                return number
            raise InputError(
                text, f"expected a number from {self.low} to {self.high} for {self.name}"
            )
        if self.kind == "combo":
            for choice in self.choices:
                if choice.lower() == text.lower():
                    return choice
            raise InputError(text, f"expected {', '.join(self.choices)} for {self.name}")
        return "" if text == EMPTY or self.kind == "button" else text


def _written(value: Value) -> str:
    """A value as the protocol writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) or EMPTY


def _rule_options() -> tuple[Option, ...]:
    """The rule set and its fields as options."""
    fields = tuple(
        Option(
            field.name,
            "combo" if field.choices else "spin",
            getattr(DEFAULT_RULES, field.attribute),
            high=field.maximum,
            choices=field.choices,
        )
        for field in FIELDS
    )
    return (Option("UCI_Variant", "combo", DEFAULT_VARIANT, choices=tuple(PRESETS)), *fields)


TABLE: tuple[Option, ...] = (
    Option("Hash", "spin", DEFAULT_HASH, low=1, high=1 << 18),
    Option("Clear Hash", "button"),
    Option("Threads", "spin", 1, low=1, high=256),
    Option("Ponder", "check", False),
    Option("MultiPV", "spin", 1, low=1, high=64),
    Option("Move Overhead", "spin", 10, low=0, high=5000),
    *_rule_options(),
    Option("UCI_LimitStrength", "check", False),
    Option("UCI_Elo", "spin", MAXIMUM_ELO, low=MINIMUM_ELO, high=MAXIMUM_ELO),
    Option("LevelSeed", "spin", 0, high=MAXIMUM_SEED),
    Option("UCI_AnalyseMode", "check", False),
    Option("UCI_ShowWDL", "check", False),
    Option("UCI_Opponent", "string"),
    Option("TablePath", "string"),
    Option("Debug Log File", "string"),
)
"""Every option, in the order in which clients are told. Hash is in MiB, Move Overhead in ms.

LevelSeed chooses where a level errs: the same number gives the same answers.
"""

_BY_NAME = {option.name.lower(): option for option in TABLE}
RULE_OPTIONS = frozenset(option.name for option in _rule_options())


class Options:
    """The values of all options."""

    def __init__(self) -> None:
        self._values: dict[str, Value] = {option.name: option.default for option in TABLE}

    def set(self, name: str, text: str) -> Option:
        """Sets the option of that name, in any case; a bad value raises and changes nothing."""
        option = find(name)
        value = option.parse(text)
        self._values[option.name] = value
        if option.name == "UCI_Variant":
            rules = preset(str(value))
            self._values |= {field.name: getattr(rules, field.attribute) for field in FIELDS}
        return option

    def copy(self) -> Options:
        """The same values, to be changed on their own."""
        copied = Options()
        copied._values = dict(self._values)
        return copied

    def number(self, name: str) -> int:
        """A spin's value."""
        return int(self._values[name])

    def flag(self, name: str) -> bool:
        """A check's value."""
        return bool(self._values[name])

    def text(self, name: str) -> str:
        """A string's or combo's value."""
        return str(self._values[name])

    def written(self, name: str) -> str:
        """Any option's value as the protocol writes it."""
        return _written(self._values[name])

    @property
    def rules(self) -> Rules:
        """The rule set that the options describe."""
        rules = preset(self.text("UCI_Variant"))
        for field in FIELDS:
            rules = rules.with_field(field.name, str(self._values[field.name]))
        return rules


def find(name: str) -> Option:
    """The option of that name, in any case."""
    option = _BY_NAME.get(name.lower())
    if option is None:
        raise InputError(name, "expected the name of an option; 'uci' lists them")
    return option


def split_setting(text: str) -> tuple[str, str]:
    """Name and value from the rest of a ``setoption`` line: ``name N… [value V…]``.

    Both may hold blanks. The value is kept as it was written, since a path may hold two in a row.
    """
    words = text.split()
    if not words or words[0].lower() != "name":
        raise InputError(words[0] if words else text, "expected: setoption name N [value V]")
    lowered = [word.lower() for word in words]
    if "value" not in lowered[2:]:
        return " ".join(words[1:]), ""
    place = lowered.index("value", 2)
    pieces = text.split(None, place + 1)
    return " ".join(words[1:place]), pieces[place + 1].rstrip() if len(pieces) > place + 1 else ""
