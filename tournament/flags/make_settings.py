"""Settings of a tournament, made from the flags of a command line."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from merels.engine.common.errors import InputError
from merels.engine.game.rules import DEFAULT_RULES, Rules, make_rules, preset
from merels.engine.tablebase.probe import build_command, open_tables
from merels.protocol.client.dialects import DIALECTS
from merels.protocol.client.engine_spec import make_engine, program_name
from merels.protocol.common.files import file_digest
from merels.tournament.flags.command_line import FlagFaults, ParsedFlags
from merels.tournament.flags.help import LEVEL_LIMIT
from merels.tournament.openings.reading import BOOK, shipped_book
from merels.tournament.pairing.swiss import usual_rounds
from merels.tournament.records.fields import choice
from merels.tournament.records.games import Adjudication, Entrant, TimeControl
from merels.tournament.records.settings import OpeningSettings, Settings
from merels.tournament.records.table import LIMITS
from merels.tournament.statistics.sprt import Sprt

MAX_ENGINES = 1000
SPRT_ROUNDS = 100_000
"""Default number of rounds of a match with an SPRT."""

DEMO_LEVELS = ("Beginner", "Casual", "Club", "Expert", "Master", "Champion")
DEMO_ROUNDS = 5


def make_settings(given: ParsedFlags, seed: int | None) -> Settings:
    """Return the settings for the flags; ``seed``: the seed of the resumed journal, or None.

    Without engines, `DEMO_LEVELS` play each other. Errors are added to ``given.faults``.
    """
    value, faults = given.value, given.faults
    entries = given.engines or [{"level": name} for name in DEMO_LEVELS]
    sprt, rules = None, DEFAULT_RULES
    with faults.collect():
        sprt = _sprt(given, len(entries))
    with faults.collect():
        rules = make_rules(value("-variant"), value("-set"))
    kind = value("-tournament")
    games = value("-games")
    if given.has("-repeat"):
        games = max(games, value("-repeat"))
    penta = value("-report", "penta")
    # Estimates of a match count only pairs. A knockout has no estimates, and a journal's settings
    # stay as they are.
    is_match = len(entries) == 2 and kind != "knockout"
    if games % 2 and games > 1 and penta and is_match and seed is None:
        faults.add(InputError(
            f"-games {games}", "the last game of a match has no pair, and neither Elo nor a test "
            f"would count it; give -games {games - 1} or {games + 1}, or -report penta=false",
        ))
    if given.has("-seeds") and kind != "gauntlet":
        faults.add(InputError("-seeds", "expected -tournament gauntlet as well"))
    openings, adjudication = OpeningSettings(), Adjudication()
    with faults.collect():
        openings = _openings(given)
    with faults.collect():
        adjudication = _adjudication(given, rules)
    return Settings(
        engines=make_engines(entries, given.each, faults),
        seed=value("-srand", default=secrets.randbits(32) if seed is None else seed),
        format=kind,
        rounds=value("-rounds", default=_usual_rounds(given, kind, len(entries), sprt)),
        games=games,
        swap=not given.has("-noswap"),
        seeds=value("-seeds"),
        rules=str(rules),
        openings=openings,
        adjudication=adjudication,
        sprt=sprt,
        penta=penta,
        event=value("-event"),
    )


def _usual_rounds(given: ParsedFlags, kind: str, engines: int, sprt: Sprt | None) -> int:
    """Return the default of ``-rounds``."""
    if kind == "knockout":
        return 1
    if kind == "swiss":
        return usual_rounds(engines)
    if sprt is not None:
        return SPRT_ROUNDS
    if not given.engines:
        return DEMO_ROUNDS
    return 1 if given.has("-games") else 2


def make_engines(
    entries: Sequence[dict[str, str]], each: dict[str, str], faults: FlagFaults
) -> tuple[Entrant, ...]:
    """Return the engines of ``-engine`` entries, with the defaults of ``-each``.

    An engine with an error is left out, and the error is added to ``faults``.
    """
    if len(entries) > MAX_ENGINES:
        raise InputError("-engine", f"expected at most {MAX_ENGINES} engines")
    if not _check_each(each, faults):
        return ()  # Otherwise each engine would repeat the errors.
    names = [entry["name"] for entry in entries if entry.get("name")]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            problem = "two engines have this name; give each its own name="
            faults.add(InputError(name, problem))
    taken, entrants = set(names), []
    for number, entry in enumerate(entries, 1):
        with faults.collect():
            entrants.append(_entrant(number, entry, each, taken, faults))
    return tuple(entrants)


def _check_each(each: dict[str, str], faults: FlagFaults) -> bool:
    """Add the errors in the values of ``-each`` to ``faults``; return whether there are none."""
    count = len(faults.errors)
    if "name" in each:
        problem = "-each name= would give all engines one name; use -engine name="
        faults.add(InputError(each["name"], problem))
    # An engine needs a program; any existing one serves to check the other values.
    program = {} if "level" in each else {"cmd": sys.executable}
    with faults.collect():
        make_engine(program | each | {"name": "-each"}, tuple(DIALECTS))
    _read_conditions(each, "-each", faults)
    return len(faults.errors) == count


def _with_defaults(entry: dict[str, str], each: dict[str, str]) -> dict[str, str]:
    """Return an engine's values by key, with the values of ``-each`` for the keys that it lacks.

    An engine with tc= or st= ignores both in ``-each``. An engine with level= ignores the program
    of ``-each``. A level without a limit has the clock `LEVEL_LIMIT`.
    """
    common = dict(each)
    if "level" in entry:
        for key in ("cmd", "args", "proto"):
            common.pop(key, None)
    if "tc" in entry or "st" in entry:
        common.pop("tc", None)
        common.pop("st", None)
    values = common | entry
    if "level" in values and not {"tc", "st", "nodes", "depth"} & values.keys():
        values["tc"] = LEVEL_LIMIT
    return values


def free_name(base: str, taken: set[str]) -> str:
    """Return ``base``, with a number added if the name is taken."""
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base} {number}"
    return name


def _entrant(
    number: int, entry: dict[str, str], each: dict[str, str], taken: set[str], faults: FlagFaults
) -> Entrant:
    """Return the engine of an entry with its limits, and add its name to ``taken``."""
    values = _with_defaults(entry, each)
    if not (values.get("cmd") or "level" in values):
        raise InputError("-engine", f"engine {number} has no cmd=, the program to run (or level=)")
    spec = make_engine(values, tuple(DIALECTS))
    name = entry.get("name") or free_name(spec.name or program_name(spec.command), taken)
    if not name.isprintable() or name.isspace():
        raise InputError(name, "expected a name of printable characters")
    taken.add(name)
    limits = [values.get(key, "inf").lower() for key in ("tc", "st", "nodes", "depth")]
    if all(text in ("inf", "infinite") for text in limits):
        problem = f"no limit for {name}; add tc=, st=, nodes= or depth= to -engine or -each"
        faults.add(InputError("-engine", problem))
    conditions = _read_conditions(values, name, faults)
    clock = conditions.pop("limit", TimeControl())
    limits_by_field = {
        path.removeprefix("limit."): conditions.pop(path)
        for path in list(conditions) if path.startswith("limit.")
    }  # fmt: skip
    # The limit cpu= is per game, but the system counts from the start of a process.
    if "cpu" in values:
        conditions["restart"] = True
    spec = replace(spec, name=name, rules_known="rules" in values)
    return Entrant(spec, replace(clock, **limits_by_field), **conditions)


def _read_conditions(values: dict[str, str], name: str, faults: FlagFaults) -> dict[str, Any]:
    """Return an engine's limits and conditions by their paths in an `Entrant`.

    A path is, for example, ``ponder`` or ``limit.nodes``. Errors are added to ``faults``.
    """
    if "rules" in values:
        with faults.collect():
            choice("known")(values["rules"], f"rules= of {name}")  # Only to check the value.
    if "tc" in values and "st" in values:
        faults.add(InputError(values["st"], f"give tc= or st= of {name}, not both"))
    parsed: dict[str, Any] = {}
    for key, field in LIMITS.items():
        if key in values:
            with faults.collect():
                parsed[field.path] = field.read(values[key], f"{key}= of {name}")
    return parsed


def _openings(given: ParsedFlags) -> OpeningSettings:
    """Return the settings of ``-openings``."""
    flag, value = "-openings", given.value
    file = value(flag, "file")
    for key in ("format", "order", "start"):
        # Without a file, openings are random in any case, so order=random is allowed.
        if not file and given.has(flag, key) and value(flag, key) != "random":
            raise InputError(f"{key}=", f"expected file= as well after {flag}: a file or book")
    file_format = value(flag, "format", "pgn" if file.lower().endswith(".pgn") else "pos")
    stored_name, digest = None, ""
    if file == BOOK:
        stored_name, digest = BOOK, file_digest(shipped_book(preset(value("-variant"))))
    elif file:
        stored_name, digest = os.path.abspath(file), file_digest(file)
    return OpeningSettings(**given.record("openings.") | {
        "file": stored_name, "format": file_format, "digest": digest,
    })


def _adjudication(given: ParsedFlags, rules: Rules) -> Adjudication:
    """Return the settings of -draw, -resign, -maxmoves, -tb and -tbadjudicate."""
    if given.has("-tbadjudicate") and not given.has("-tb"):
        raise InputError("-tbadjudicate", "expected -tb as well, the folder of tables")
    adjudication = Adjudication(**given.record("adjudication."))
    return replace(
        adjudication,
        draw_count=adjudication.draw_count if given.has("-draw") else 0,
        resign_count=adjudication.resign_count if given.has("-resign") else 0,
        tables=_tables_folder(given, rules),
    )


def _tables_folder(given: ParsedFlags, rules: Rules) -> str:
    """Return the folder of ``-tb``; '' without the flag.

    Raise `InputError` if the folder has no tables for the tournament's rules, or a damaged one.
    """
    if not given.has("-tb"):
        return ""
    folder: str = os.path.abspath(given.value("-tb"))
    tables = open_tables(Path(folder), rules)
    if tables.problems:
        raise InputError("-tb", tables.problems[0])
    if not tables.headers:
        command = build_command(rules, Path(folder))
        raise InputError(folder, f"expected tables for {rules}; make them with {command}")
    return folder


def _sprt(given: ParsedFlags, engines: int) -> Sprt | None:
    """Return the SPRT of ``-sprt``, or None; raise `InputError` unless there are two engines."""
    if not given.has("-sprt"):
        return None
    if engines != 2:
        raise InputError("-sprt", f"expected two engines for a test, found {engines}")
    values = given.record("sprt.")
    if None in values.values():
        return None  # The parser has reported that elo0= or elo1= is missing.
    return make_sprt(values)


def make_sprt(values: Mapping[str, Any]) -> Sprt:
    """Return an SPRT of values by key; raise `InputError` for a test that cannot decide."""
    try:
        return Sprt(**values)
    except ValueError as error:
        raise InputError("-sprt", str(error)) from None
