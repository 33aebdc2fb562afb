"""The rules of a game record, from its Variant tag or stated by the user."""

from __future__ import annotations

from dataclasses import dataclass

from merels.engine.common.errors import InputError
from merels.engine.common.messages import joined
from merels.engine.game.rules import DEFAULT_RULES, PRESETS, Rules, parse_rules

_GAME_NAMES = frozenset(
    "ninemensmorris ninemenmorris ninemanmorris 9mensmorris nmm mill mills millgame themillgame "
    "gameofmill merels merrills merelles muhle muehle mühle mühlespiel muehlespiel molen molenspel "
    "moulin jeudumoulin marelle mulino młynek mlýn standard normal".split()
)
"""Names of nine men's morris that do not state a rule set, reduced to letters and digits."""


@dataclass(frozen=True, slots=True)
class RecordRules:
    """The rules by which records are read.

    default   rules of a record without a Variant tag, or with a tag that only names the game;
              they already include ``variant`` and ``settings``
    variant   a rule set that replaces the tags; None reads the tags
    settings  changes such as ``Flying=own`` to the rules of a tag
    by_flags  whether the user can give the flags -variant and -set, for messages
    advice    text that is appended to the error about the tag of another game
    """

    default: Rules = DEFAULT_RULES
    variant: str | None = None
    settings: tuple[str, ...] = ()
    by_flags: bool = False
    advice: str = ""

    def setting(self, text: str) -> str:
        """Return a setting such as ``Flying=own`` for a message, after -set if ``by_flags``."""
        return f"-set {text}" if self.by_flags else text

    def of(self, tag: str | None) -> Rules:
        """Return a record's rules; ``tag`` is its Variant tag, or None if it has no such tag."""
        if tag is None or self.variant is not None:
            return self.default
        words = tag.lower().split()
        if not (words and words[0] in PRESETS) and names_the_game(tag):
            return self.default
        try:
            rules = parse_rules(tag)
        except InputError as error:
            is_preset = bool(words) and words[0] in PRESETS
            token = error.token if is_preset else tag
            expected = joined("; ", (error.expected, self.advice))
            raise InputError(token, expected) from None
        for setting in self.settings:
            name, _, value = setting.partition("=")
            rules = rules.with_field(name, value)
        return rules


def names_the_game(tag: str) -> bool:
    """Return whether a Variant tag is empty or names nine men's morris without a rule set."""
    name = "".join(letter for letter in tag.lower() if letter.isalnum())
    return not name or name in _GAME_NAMES
