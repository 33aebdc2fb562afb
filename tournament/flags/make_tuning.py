"""From the flags of ``merels tune`` to its settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from merels.engine.common.errors import InputError, suggestion
from merels.engine.common.numbers import read_real, read_whole
from merels.protocol.client.engine_spec import OPTION
from merels.protocol.common.options import Option
from merels.tournament.flags.command_line import ParsedFlags, read_sprt
from merels.tournament.flags.make_settings import make_engines, make_settings
from merels.tournament.records.games import Entrant
from merels.tournament.records.settings import (
    LEAST_C_END,
    STEPS_IN_RANGE,
    USUAL_R_END,
    Parameter,
    Schedule,
    Settings,
    Tuning,
)

USUAL_PAIRS = 10_000
SIDES = ("+", "-")
"""Suffixes of the engine's name for the two sides of a pair."""
NAMED = 8
"""The options that an error names."""

Ask = Callable[[Entrant], Mapping[str, Option]]
"""Asks an engine for its options."""


def make_tuning(given: ParsedFlags, seed: int | None, ask: Ask) -> Settings:
    """The settings that the flags ask for; ``seed`` is that of the journal that is resumed."""
    if len(given.engines) != 1:
        raise InputError("-engine", f"expected one engine to tune, found {len(given.engines)}")
    read_sprt(**test_words(given))
    each = given.pairs.get("-each", {})
    engines = make_engines(given.engines, each, given.faults)
    given.faults.raise_all()
    (entrant,) = engines
    is_elsewhere = given.wanted("-executor") is not None
    options = {} if is_elsewhere else ask(entrant)
    parameters = tuple(
        _parameter(words, entrant, options, is_elsewhere) for words in given.parameters
    )
    if not parameters:
        raise InputError("-param", f"expected a spin option to tune{_spins(options)}")
    names = [parameter.name for parameter in parameters]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"-param {name}", "this option is tuned already")
    own = without_options(given.engines[0], names)
    sides = [own | {"name": entrant.name + side} for side in SIDES]
    pairs = {flag: words for flag, words in given.pairs.items() if flag != "-sprt"}
    pairs["-each"] = without_options(each, names)
    settings = make_settings(replace(given, engines=sides, pairs=pairs), seed)
    count = given.number("-pairs", USUAL_PAIRS, 1, 10**6)
    tuning = Tuning(parameters, _schedule(given, count))
    return replace(settings, rounds=count, tuning=tuning, event="merels tune")


def without_options(words: Mapping[str, str], options: Sequence[str]) -> dict[str, str]:
    """An engine's words but for those that set one of some options."""
    left_out = [OPTION + name.lower() for name in options]
    return {key: value for key, value in words.items() if key.lower() not in left_out}


def test_words(given: ParsedFlags) -> dict[str, str]:
    """The words of ``-sprt``, with those that are usual here."""
    return {"elo0": "0", "elo1": "5"} | given.pairs.get("-sprt", {})


def _schedule(given: ParsedFlags, pairs: int) -> Schedule:
    """The schedule of ``-spsa``."""

    def number(key: str, usual: float, least: float, most: float) -> float:
        return read_real(given.key("-spsa", key, str(usual)), least, most, f"-spsa {key}=")

    return Schedule(
        number("r_end", min(0.5, USUAL_R_END / pairs), 1e-9, 10), number("A", 0.1, 0, 10),
        number("alpha", 0.602, 0, 2), number("gamma", 0.101, 0, 1),
    )


def _parameter(
    words: Mapping[str, str], entrant: Entrant, options: Mapping[str, Option], is_elsewhere: bool
) -> Parameter:
    """The parameter of a ``-param``; without options it has to say everything itself."""
    if not (name := words.get("name", "")):
        raise InputError("-param", "expected the name of a spin option")
    flag = f"-param {name}"
    if is_elsewhere:
        missing = [f"{key}=" for key in ("start", "min", "max") if key not in words]
        if missing:
            why = "the engine is not asked for its options here, with -executor"
            raise InputError(flag, f"expected {', '.join(missing)} as well: {why}")
        option = Option(name, "spin")
    else:
        option = _find(name, entrant, options)
    low, high = _bound(words, "min", option, flag), _bound(words, "max", option, flag)
    if low >= high:
        raise InputError(flag, f"expected min= below max=, found {low} and {high}")
    set_now = {key.lower(): value for key, value in entrant.engine.options}.get(name.lower())
    start = words.get("start", set_now or option.default)
    if not start:
        raise InputError(flag, "expected start=: the engine declares no default")
    c_end = words.get("c_end", f"{max(LEAST_C_END, (high - low) / STEPS_IN_RANGE)}")
    most_c_end = max(LEAST_C_END, (high - low) / 2)
    return Parameter(
        option.name, read_whole(start, low, high, f"start= of {flag}"), low, high,
        read_real(c_end, LEAST_C_END, most_c_end, f"c_end= of {flag}"),
    )


def _find(name: str, entrant: Entrant, options: Mapping[str, Option]) -> Option:
    """The engine's spin option of that name."""
    if name not in options:
        hint = suggestion(name, options) or _spins(options)
        raise InputError(f"-param {name}", f"{entrant.name} has no such option{hint}")
    option = options[name]
    if option.kind != "spin":
        raise InputError(
            f"-param {name}", f"expected an option of type spin, this one is a {option.kind}"
        )
    return option


def _spins(options: Mapping[str, Option]) -> str:
    """The spin options that an engine has, in words; empty where they are not known."""
    names = [option.name for option in options.values() if option.kind == "spin"]
    if not options:
        return ""
    more = ", …" if len(names) > NAMED else ""
    return f"; it has {', '.join(names[:NAMED])}{more}" if names else "; it has no spin option"


def _bound(words: Mapping[str, str], key: str, option: Option, flag: str) -> int:
    """A bound as it is given, within those that the engine declares, or else as declared."""
    least, most = option.minimum, option.maximum
    if key in words:
        low, high = -(10**9) if least is None else least, 10**9 if most is None else most
        return read_whole(words[key], low, high, f"{key}= of {flag}")
    declared = least if key == "min" else most
    if declared is None:
        raise InputError(flag, f"expected {key}=: the engine declares none")
    return declared
