"""Rule sets as data: seven fields, and five presets of their values.

The text of a rule set is a preset's name and the fields that differ from it, for example
``morris Flying=never NoRemovalPlies=0``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from merels.engine.common.errors import InputError, required, required_items, required_text, shown
from merels.engine.common.messages import message
from merels.engine.common.numbers import read_whole, whole_number

MEN_PER_SIDE = 9
FLYING_MEN = 3
"""A side that is left with this number of men may fly, if the rules allow flying."""
MINIMUM_MEN = 3
"""Number of men, on the board and in hand together, below which a side has lost."""
MAXIMUM_PLIES = 10_000
"""Largest count of plies or repetitions in a rule field, and of plies in a position's text."""


@dataclass(frozen=True, slots=True)
class Rules:
    """One rule set.

    flying              who may fly: ``never``, ``own`` (a side with three men, none in hand) or
                        ``both`` (both sides, once no man is in hand and either side has three)
    locked_mills        ``any`` or ``none`` may be removed when all opponent men are in mills
    double_mill         a move that closes two mills removes ``one`` man, or one for ``each``
    blocked             a side with no man in hand and no move ``loses``, or the game ``draws``
    repetition          occurrences of a position that draw the game, at least 2; 0: off
    no_removal_plies    plies without a removal, after placing, that draw the game; 0: off
    three_three_plies   plies without a removal, with three men each, that draw it; 0: off
    variant             name of the preset that the fields are based on
    """

    flying: str
    locked_mills: str
    double_mill: str
    blocked: str
    repetition: int
    no_removal_plies: int
    three_three_plies: int
    variant: str

    def __post_init__(self) -> None:
        """Raise `InputError` for a value that the field does not have."""
        if self.variant not in VARIANTS:
            raise InputError(shown(self.variant), f"expected a rule set: {', '.join(VARIANTS)}")
        for field in FIELDS:
            value = getattr(self, field.attribute)
            if not field.choices:
                whole_number(value, 0, field.maximum, field.name)
            elif value not in field.choices:
                choices = ", ".join(field.choices)
                raise InputError(f"{field.name}={shown(value)}", f"expected one of {choices}")
        if self.repetition == 1:  # The first occurrence of a position repeats nothing.
            raise InputError("Repetition=1", "expected 0 (off) or at least 2 occurrences")

    def with_field(self, name: str, value: str) -> Rules:
        """Return these rules with one field set from a text; the case of ``name`` is ignored.

        `InputError` for an unknown field or an invalid value.
        """
        field = _FIELDS_BY_NAME.get(required_text(name, "a rule field").lower())
        if field is None:
            raise InputError(name, f"expected a rule field: {', '.join(f.name for f in FIELDS)}")
        return replace(self, **{field.attribute: field.parse(value)})  # type: ignore[arg-type]

    def fields_text(self) -> str:
        """Return the fields that differ from the preset as ``Name=value``, separated by spaces."""
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
    """A field of a rule set: its public name, its attribute in `Rules` and its valid values.

    The value is one of ``choices`` or, if there are none, an integer from 0 to ``maximum``.
    """

    name: str
    attribute: str
    choices: tuple[str, ...] = ()
    maximum: int = 0

    def parse(self, text: str) -> str | int:
        """Return the field's value from its text; `InputError` if it is not valid."""
        required_text(text, f"a value of {self.name}")
        if self.choices:
            if text.lower() in self.choices:
                return text.lower()
            raise InputError(text, f"expected one of {', '.join(self.choices)} for {self.name}")
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

VARIANTS = ("loc", "mill", "multi", "morris", "roman")
"""Names of the presets."""
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
    """Return the preset of that name, ignoring case; `InputError` if there is none."""
    rules = PRESETS.get(required_text(name, "a rule set").lower())
    if rules is None:
        names = ", ".join(PRESETS)
        raise InputError(name, message("expected a rule set: {names}", names=names))
    return rules


def required_rules(rules: object) -> Rules:
    """Return an argument that must be `Rules`; `InputError` if it is not."""
    return required(rules, Rules, "Rules, such as make_rules('morris')")


def make_rules(variant: str, settings: Iterable[str] = ()) -> Rules:
    """Return a preset with some fields set by ``Name=value``; the last setting of a field wins.

    `InputError` for an unknown preset or field, or an invalid value.
    """
    rules = preset(variant)
    for setting in required_items(settings, "settings such as ['Flying=never']"):
        required_text(setting, "Field=value")
        name, equals, value = setting.partition("=")
        if not equals:
            raise InputError(setting, "expected Field=value, such as Flying=never")
        rules = rules.with_field(name, value)
    return rules


def parse_rules(text: str) -> Rules:
    """Return the rules of a text ``preset [Field=value …]``; an empty text is the default.

    `InputError` for an unknown preset or field, or an invalid value.
    """
    return _parse_rules(required_text(text, "a rule set such as morris Flying=never"))


@lru_cache(maxsize=64)
def _parse_rules(text: str) -> Rules:
    words = text.split() or [DEFAULT_VARIANT]
    return make_rules(words[0], words[1:])
