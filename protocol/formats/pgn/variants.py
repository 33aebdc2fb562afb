"""The rules of a record: those that its Variant tag names, unless others are stated."""

from __future__ import annotations

from dataclasses import dataclass

from merels.engine.common.errors import InputError
from merels.engine.game.rules import DEFAULT_RULES, PRESETS, Rules, parse_rules

_GAME = frozenset(
    "ninemensmorris ninemenmorris ninemanmorris 9mensmorris nmm mill mills millgame themillgame "
    "gameofmill merels merrills merelles muhle muehle mühle mühlespiel muehlespiel molen molenspel "
    "moulin jeudumoulin marelle mulino młynek mlýn standard normal".split()
)
"""Names of nine men's morris, letters and digits only, which state no rule set."""


@dataclass(frozen=True, slots=True)
class RecordRules:
    """Rules by which records are read.

    ``default`` holds for a record without a Variant tag, and where the tag only names the game. A
    stated ``variant`` replaces the tag, and stated ``settings`` change fields of the tag's rules;
    ``default`` includes both. ``by_flags``: the user states them with -variant and -set;
    ``way_out`` ends the error about the tag of another game.
    """

    default: Rules = DEFAULT_RULES
    variant: str | None = None
    settings: tuple[str, ...] = ()
    by_flags: bool = False
    way_out: str = ""

    def setting(self, text: str) -> str:
        """Return a setting such as ``Flying=own`` in words that help the user to state it."""
        return f"-set {text}" if self.by_flags else text

    def of(self, tag: str | None) -> Rules:
        """Return the rules of a record with that Variant tag, or without one."""
        if tag is None or self.variant is not None:
            return self.default
        words = tag.lower().split()
        if not (words and words[0] in PRESETS) and names_the_game(tag):
            return self.default
        try:
            rules = parse_rules(tag)
        except InputError as error:
            known = bool(words) and words[0] in PRESETS
            token = error.token if known else tag
            raise InputError(token, error.expected + self.way_out) from None
        for setting in self.settings:
            name, _, value = setting.partition("=")
            rules = rules.with_field(name, value)
        return rules


def names_the_game(tag: str) -> bool:
    """Whether a Variant tag names nine men's morris, or nothing."""
    name = "".join(letter for letter in tag.lower() if letter.isalnum())
    return not name or name in _GAME
