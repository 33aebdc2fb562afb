"""The engine's options and their values."""

from __future__ import annotations

from merels.engine.common.errors import InputError
from merels.engine.core.core import MAX_LINES, parameters, set_parameter
from merels.engine.game.rules import DEFAULT_RULES, DEFAULT_VARIANT, FIELDS, PRESETS, Rules, preset
from merels.engine.search.levels import MAXIMUM_ELO, MAXIMUM_SEED, MINIMUM_ELO
from merels.engine.search.searcher import DEFAULT_HASH, MAX_THREADS
from merels.protocol.common.options import Option, Options


def _spin(name: str, default: int, low: int, high: int) -> Option:
    return Option(name, "spin", str(default), low, high)


def _rule_options() -> list[Option]:
    """Return the options for the rule set and its fields."""
    options = [Option("UCI_Variant", "combo", DEFAULT_VARIANT, choices=tuple(PRESETS))]
    for field in FIELDS:
        default = getattr(DEFAULT_RULES, field.attribute)
        if field.choices:
            options.append(Option(field.name, "combo", default, choices=field.choices))
        else:
            options.append(_spin(field.name, default, 0, field.maximum))
    return options


RULE_OPTIONS = Options(_rule_options())

PARAMETERS = Options([_spin(*parameter) for parameter in parameters()])
"""The constants of the search in a build for tuning; empty in any other build."""

OPTIONS = Options(
    [
        _spin("Hash", DEFAULT_HASH, 1, 1 << 18),
        Option("Clear Hash", "button"),
        _spin("Threads", 1, 1, MAX_THREADS),
        Option("Ponder", "check", "false"),
        _spin("MultiPV", 1, 1, MAX_LINES),
        _spin("Move Overhead", 10, 0, 5000),
        *RULE_OPTIONS.values(),
        Option("UCI_LimitStrength", "check", "false"),
        _spin("UCI_Elo", MAXIMUM_ELO, MINIMUM_ELO, MAXIMUM_ELO),
        _spin("LevelSeed", 0, 0, MAXIMUM_SEED),
        Option("UCI_AnalyseMode", "check", "false"),
        Option("UCI_ShowWDL", "check", "false"),
        Option("UCI_Opponent", "string"),
        Option("TablePath", "string"),
        Option("OpeningTables", "check", "true"),
        Option("Debug Log File", "string"),
        *PARAMETERS.values(),
    ]
)
"""All options, in the order in which ``uci`` prints them; engine-options.md describes them."""


class Settings:
    """The values of all options, as texts."""

    def __init__(self) -> None:
        self._values = {option.name: option.default for option in OPTIONS.values()}

    def __getitem__(self, name: str) -> str:
        """Return the value of an option, whose name is spelled as in `OPTIONS`."""
        return self._values[name]

    def set(self, name: str, text: str) -> Option:
        """Set an option by case-insensitive name, and return it.

        `InputError` for an unknown name or an invalid value; the old value is kept.
        """
        option = OPTIONS.find(name)
        value = option.check(text)
        if option.name in RULE_OPTIONS and option.name != "UCI_Variant":
            DEFAULT_RULES.with_field(option.name, value)
        self._values[option.name] = value
        if option.name == "UCI_Variant":
            rules = preset(value)
            self._values |= {field.name: str(getattr(rules, field.attribute)) for field in FIELDS}
        if option.name in PARAMETERS:
            set_parameter(list(PARAMETERS).index(option.name), int(value))
        return option

    def number(self, name: str) -> int:
        """Return the value of a spin option."""
        return int(self._values[name])

    def flag(self, name: str) -> bool:
        """Return the value of a check option."""
        return self._values[name] == "true"

    @property
    def rules(self) -> Rules:
        """The rules that the options describe."""
        rules = preset(self["UCI_Variant"])
        for field in FIELDS:
            rules = rules.with_field(field.name, self[field.name])
        return rules


def split_setting(text: str) -> tuple[str, str]:
    """Return name and value from the text after ``setoption``: ``name N… [value V…]``.

    Name and value may contain spaces. A missing value is ''.
    """
    words = text.split()
    if not words or words[0].lower() != "name":
        raise InputError(words[0] if words else text, "expected setoption name N [value V]")
    lowered = [word.lower() for word in words]
    if "value" not in lowered[2:]:
        return " ".join(words[1:]), ""
    index = lowered.index("value", 2)
    value = "".join(text.split(None, index + 1)[index + 1 :])
    return " ".join(words[1:index]), value.rstrip()
