"""The rule sets as data: five presets, each a choice of the same seven fields.

A rule set is written as its preset's name and the fields that differ from it, for example
``morris Flying=never NoRemovalPlies=0``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from merels.engine.common.errors import InputError
from merels.engine.common.numbers import read_whole

MEN_PER_SIDE = 9
FLYING_MEN = 3
"""A side with this many men on the board, and none in hand, may fly where the rules have it."""
MINIMUM_MEN = 3
"""A side with fewer men than this, on the board and in hand together, has lost."""
MAXIMUM_PLIES = 10_000
"""The largest value of a limit that counts plies."""


@dataclass(frozen=True, slots=True)
class Rules:
    """One rule set.

    flying              who may fly: ``never``, ``own`` (the side with three men) or ``both``
                        (both sides, once no man is in hand and either side has three)
    locked_mills        when all the opponent's men are in mills, ``any`` may go, or ``none``
    double_mill         a move that closes two mills removes ``one`` man, or one for ``each``
    blocked             a side with no man in hand and no move ``loses``, or the game ``draws``
    repetition          the occurrence of a position that makes a draw; 0: off
    no_removal_plies    plies without a removal, after placing, that make a draw; 0: off
    three_three_plies   the same, while each side has three men; 0: off
    variant             the preset that the fields started from
    """

    flying: str
    locked_mills: str
    double_mill: str
    blocked: str
    repetition: int
    no_removal_plies: int
    three_three_plies: int
    variant: str

    def with_field(self, name: str, value: str) -> Rules:
        """These rules with one field (``Flying`` …, any case) set from its text."""
        field = _FIELDS_BY_NAME.get(name.lower())
        if field is None:
            raise InputError(name, f"expected a rule field: {', '.join(f.name for f in FIELDS)}")
        return replace(self, **{field.attribute: field.parse(value)})  # type: ignore[arg-type]

    def fields_text(self) -> str:
        """The fields that differ from the preset, each ``Name=value``, separated by spaces."""
        preset = PRESETS[self.variant]
        return " ".join(
            f"{field.name}={getattr(self, field.attribute)}"
            for field in FIELDS
            if getattr(self, field.attribute) != getattr(preset, field.attribute)
        )

    def __str__(self) -> str:
        return f"{self.variant} {self.fields_text()}".rstrip()


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a rule set by its public name: one of ``choices``, or a number to ``maximum``."""

    name: str
    attribute: str
    choices: tuple[str, ...] = ()
    maximum: int = 0

    def parse(self, text: str) -> str | int:
        """The field's value from its text."""
        if self.choices:
            if text.lower() in self.choices:
                return text.lower()
            raise InputError(text, f"expected {' or '.join(self.choices)} for {self.name}")
        return read_whole(text, 0, self.maximum, f"{self.name} (0: off)")


FIELDS: tuple[Field, ...] = (
    Field("Flying", "flying", choices=("never", "own", "both")),
    Field("LockedMills", "locked_mills", choices=("any", "none")),
    Field("DoubleMill", "double_mill", choices=("one", "each")),
    Field("Blocked", "blocked", choices=("loses", "draws")),
    Field("Repetition", "repetition", maximum=MAXIMUM_PLIES),
    Field("NoRemovalPlies", "no_removal_plies", maximum=MAXIMUM_PLIES),
    Field("ThreeThreePlies", "three_three_plies", maximum=MAXIMUM_PLIES),
)
_FIELDS_BY_NAME = {field.name.lower(): field for field in FIELDS}

PRESETS: dict[str, Rules] = {
    rules.variant: rules
    for rules in (
        Rules("never", "none", "one", "loses", 3, 80, 0, "loc"),
        Rules("own", "any", "one", "loses", 3, 80, 4, "mill"),
        Rules("both", "none", "each", "loses", 3, 80, 0, "multi"),
        Rules("own", "any", "one", "loses", 3, 80, 0, "morris"),
        Rules("own", "any", "one", "loses", 3, 80, 0, "roman"),
    )
}
DEFAULT_VARIANT = "mill"
DEFAULT_RULES = PRESETS[DEFAULT_VARIANT]


def preset(name: str) -> Rules:
    """The preset of that name, in any case."""
    rules = PRESETS.get(name.lower())
    if rules is None:
        raise InputError(name, f"expected a rule set: {', '.join(PRESETS)}")
    return rules


def make_rules(variant: str, settings: Iterable[str] = ()) -> Rules:
    """A preset with ``Name=value`` settings over it, in their order."""
    rules = preset(variant)
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise InputError(setting, "expected Field=value")
        rules = rules.with_field(name, value)
    return rules


@lru_cache(maxsize=64)
def parse_rules(text: str) -> Rules:
    """Rules from their text, ``preset [Field=value …]``; an empty text is the default."""
    words = text.split() or [DEFAULT_VARIANT]
    return make_rules(words[0], words[1:])
