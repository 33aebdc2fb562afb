"""Settings of a tune, made from the flags of ``merels tune``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from merels.engine.common.errors import InputError, suggestion
from merels.engine.common.numbers import read_real, read_whole
from merels.protocol.client.engine_spec import OPTION
from merels.protocol.common.options import Option
from merels.tournament.flags.command_line import ParsedFlags
from merels.tournament.flags.make_settings import make_engines, make_settings, make_sprt
from merels.tournament.records.games import Entrant
from merels.tournament.records.settings import (
    LEAST_C_END,
    MOST_R_END,
    STEPS_IN_RANGE,
    USUAL_R_END,
    Parameter,
    Schedule,
    Settings,
    Tuning,
)
from merels.tournament.records.table import SPRT

SIDES = ("+", "-")
"""Suffixes of the engine's name for the two sides of a pair."""
MAX_NAMED = 8
"""Largest number of options that an error message lists."""


def engine_to_tune(given: ParsedFlags) -> Entrant:
    """Return the engine of the flags; raise `InputError` if it, or the final SPRT, is invalid."""
    if len(given.engines) != 1:
        raise InputError("-engine", f"expected one engine to tune, found {len(given.engines)}")
    make_sprt(sprt_values(given))
    engines = make_engines(given.engines, given.each, given.faults)
    given.faults.raise_all()
    return engines[0]


def make_tuning(
    given: ParsedFlags, seed: int | None, entrant: Entrant, options: Mapping[str, Option] | None
) -> Settings:
    """Return the settings for the flags; ``seed``: the seed of the resumed journal, or None.

    ``options``: those that ``entrant``, from `engine_to_tune`, declares; None if they are unknown,
    because it runs on an executor.
    """
    parameters = tuple(_parameter(entry, entrant, options) for entry in given.parameters)
    if not parameters:
        raise InputError("-param", f"expected a spin option to tune{_spins(options or {})}")
    names = [parameter.name for parameter in parameters]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"-param {name}", "this option is given twice; leave one of them out")
    words = without_options(given.engines[0], names)
    sides = [words | {"name": entrant.name + side} for side in SIDES]
    settings = make_settings(replace(
        given, engines=sides, each=without_options(given.each, names),
        present=given.present - {"-sprt"},
    ), seed)
    count = given.value("-pairs")
    r_end = given.value("-spsa", "r_end", min(MOST_R_END, USUAL_R_END / count))
    others = (given.value("-spsa", key) for key in ("A", "alpha", "gamma"))
    tuning = Tuning(parameters, Schedule(r_end, *others))
    return replace(settings, rounds=count, tuning=tuning, event="merels tune")


def without_options(words: Mapping[str, str], options: Sequence[str]) -> dict[str, str]:
    """Return an engine's values by key, without those that set one of ``options``."""
    keys = [OPTION + name.lower() for name in options]
    return {key: value for key, value in words.items() if key.lower() not in keys}


def sprt_values(given: ParsedFlags) -> dict[str, Any]:
    """Return the values of ``-sprt`` by key, with the defaults of ``merels tune``."""
    defaults = {"elo0": 0.0, "elo1": 5.0}
    return {key: given.value("-sprt", key, defaults.get(key)) for key in SPRT}


def _parameter(
    words: Mapping[str, str], entrant: Entrant, options: Mapping[str, Option] | None
) -> Parameter:
    """Return the parameter of a ``-param``, with defaults from the engine's options.

    If these are unknown, start=, min= and max= are required.
    """
    if not (name := words.get("name", "")):
        raise InputError("-param", "expected the name of a spin option")
    flag = f"-param {name}"
    if options is None:
        missing = [f"{key}=" for key in ("start", "min", "max") if key not in words]
        if missing:
            why = "with -executor, the engine's declared values are not read"
            raise InputError(flag, f"expected {', '.join(missing)} as well: {why}")
        option = Option(name, "spin")
    else:
        option = _find(name, entrant, options)
    low, high = _bound(words, "min", option, flag), _bound(words, "max", option, flag)
    if low >= high:
        raise InputError(flag, f"expected min= below max=, found {low} and {high}")
    set_value = {key.lower(): value for key, value in entrant.engine.options}.get(name.lower())
    start = words.get("start", set_value or option.default)
    if not start:
        raise InputError(flag, "expected start=, because the engine declares no default")
    c_end = words.get("c_end", f"{max(LEAST_C_END, (high - low) / STEPS_IN_RANGE)}")
    most_c_end = max(LEAST_C_END, (high - low) / 2)
    return Parameter(
        option.name, read_whole(start, low, high, f"start= of {flag}"), low, high,
        read_real(c_end, LEAST_C_END, most_c_end, f"c_end= of {flag}"),
    )


def _find(name: str, entrant: Entrant, options: Mapping[str, Option]) -> Option:
    """Return the engine's spin option ``name``."""
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
    """Return the end of an error message: the engine's spin options, or '' if unknown."""
    names = [option.name for option in options.values() if option.kind == "spin"]
    if not options:
        return ""
    more = ", …" if len(names) > MAX_NAMED else ""
    return f"; it has {', '.join(names[:MAX_NAMED])}{more}" if names else "; it has no spin option"


def _bound(words: Mapping[str, str], key: str, option: Option, flag: str) -> int:
    """Return min= or max=, within the declared bounds; by default the declared bound."""
    least, most = option.minimum, option.maximum
    if key in words:
        low, high = -(10**9) if least is None else least, 10**9 if most is None else most
        return read_whole(words[key], low, high, f"{key}= of {flag}")
    declared = least if key == "min" else most
    if declared is None:
        raise InputError(flag, f"expected {key}=, because the engine declares none")
    return declared
