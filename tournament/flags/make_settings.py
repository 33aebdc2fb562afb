"""Settings of a tournament, made from the flags of a command line."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from merels.engine.common.errors import InputError
from merels.engine.common.files import file_digest
from merels.engine.common.numbers import read_real, read_whole
from merels.engine.game.rules import DEFAULT_RULES, DEFAULT_VARIANT, Rules, make_rules, preset
from merels.engine.tablebase.probe import build_command, open_tables
from merels.protocol.client.dialects import DIALECTS
from merels.protocol.client.engine_spec import make_engine, program_name
from merels.tournament.flags.command_line import FlagFaults, ParsedFlags, choice, read_sprt, switch
from merels.tournament.flags.table import LEVEL_LIMIT
from merels.tournament.openings.reading import BOOK, shipped_book
from merels.tournament.pairing.swiss import usual_rounds
from merels.tournament.play.clock import MILLISECOND
from merels.tournament.records.games import (
    NANOSECONDS,
    TABLE_RESULTS,
    Adjudication,
    Entrant,
    TimeControl,
)
from merels.tournament.records.settings import FORMATS, POLICIES, OpeningSettings, Settings
from merels.tournament.statistics.sprt import Sprt

MAX_ENGINES = 1000
MAX_SECONDS = 1e6
"""Largest time of a clock or a move, in seconds."""
SPRT_ROUNDS = 100_000
"""Default number of rounds of a match with an SPRT."""

DEMO_LEVELS = ("Beginner", "Casual", "Club", "Expert", "Master", "Champion")
DEMO_ROUNDS = 5


def make_settings(given: ParsedFlags, seed: int | None) -> Settings:
    """Return the settings for the flags; ``seed``: the seed of the resumed journal, or None.

    Without engines, `DEMO_LEVELS` play each other. Errors are added to ``given.faults``.
    """
    each = given.pairs.get("-each", {})
    entries = given.engines or [{"level": name} for name in DEMO_LEVELS]
    attempt = given.faults.attempt
    engines = make_engines(entries, each, given.faults)
    sprt = attempt(None, _sprt, given, len(entries))
    kind = given.text("-tournament", FORMATS[0])
    kind = attempt(FORMATS[0], choice, kind, "-tournament", FORMATS)
    rounds = SPRT_ROUNDS if sprt is not None else 2 if given.engines else DEMO_ROUNDS
    if kind in ("swiss", "knockout"):
        rounds = usual_rounds(len(entries)) if kind == "swiss" else 1
    games = given.number("-games", 2, 1, 10_000)
    if "-repeat" in given.words:
        games = max(games, given.number("-repeat", 2, 1, 10_000))
    penta = given.key_switch("-report", "penta", True)
    # Estimates count pairs. A stored run continues unchanged, and a knockout has no estimate.
    is_match = len(entries) == 2 and kind != "knockout"
    if games % 2 and games > 1 and penta and is_match and seed is None:
        given.faults.add(InputError(
            f"-games {games}", "the last game of a match has no pair, and neither Elo nor a test "
            f"would count it; give -games {games - 1} or {games + 1}, or -report penta=false",
        ))
    if "-seeds" in given.words and kind != "gauntlet":
        given.faults.add(InputError("-seeds", "expected -tournament gauntlet as well"))
    variant = given.text("-variant", DEFAULT_VARIANT)
    rules = attempt(DEFAULT_RULES, make_rules, variant, given.words.get("-set", []))
    return Settings(
        engines=engines,
        seed=given.number("-srand", secrets.randbits(32) if seed is None else seed, 0, 2**63 - 1),
        format=kind,
        rounds=given.number("-rounds", rounds, 1, 10**6),
        games=games,
        swap="-noswap" not in given.words,
        seeds=given.number("-seeds", 1, 1),
        rules=str(rules),
        openings=attempt(OpeningSettings(), _openings, given),
        adjudication=attempt(Adjudication(), _adjudication, given, rules),
        sprt=sprt,
        penta=penta,
        event=given.text("-event", "merels tournament"),
    )


def make_engines(
    entries: Sequence[dict[str, str]], each: dict[str, str], faults: FlagFaults
) -> tuple[Entrant, ...]:
    """Return the engines of ``-engine`` entries, with the defaults of ``-each``."""
    if "name" in each:
        faults.add(InputError(each["name"], "-each name= would give all engines one name"))
    faults.attempt("", choice, each.get("proto", "uci"), "-each proto=", tuple(DIALECTS))
    if len(entries) > MAX_ENGINES:
        raise InputError("-engine", f"expected at most {MAX_ENGINES} engines")
    names = [entry["name"] for entry in entries if entry.get("name")]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            problem = "two engines have this name; give each its own name="
            faults.add(InputError(name, problem))
    taken = set(names)
    entrants = (
        faults.attempt(None, _entrant, number, entry, each, taken, faults)
        for number, entry in enumerate(entries, 1)
    )
    return tuple(entrant for entrant in entrants if entrant is not None)


def _inherited(entry: dict[str, str], each: dict[str, str]) -> dict[str, str]:
    """Return an engine's values by key: its own, then those of ``-each``.

    An engine with tc= or st= ignores those of ``-each``. A built-in level ignores the program of
    ``-each``, and has the clock `LEVEL_LIMIT` if no limit is given.
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
    values = _inherited(entry, each)
    if not (values.get("cmd") or "level" in values):
        raise InputError("-engine", f"engine {number} has no cmd=, the program to run (or level=)")
    spec = make_engine(values, tuple(DIALECTS))
    name = entry.get("name") or free_name(spec.name or program_name(spec.command), taken)
    if not name.isprintable() or name.isspace():
        raise InputError(name, "expected a name of printable characters")
    taken.add(name)
    where = f"of {name}"
    return Entrant(
        replace(spec, name=name),
        faults.attempt(TimeControl(), _limit, values, where),
        # cpu= is per game, but the system counts processor time from the start of a process.
        restart=switch(values.get("restart", "off"), f"restart= {where}") or "cpu" in values,
        ponder=switch(values.get("ponder", "off"), f"ponder= {where}"),
        start_timeout=_seconds(values, "starttimeout", where, default="10"),
        ping_timeout=_seconds(values, "pingtimeout", where, default="15"),
    )


def _seconds(
    values: dict[str, str], key: str, where: str, low: float = 0.01, high: float = 3600,
    default: str = "",
) -> float:  # fmt: skip
    return read_real(values.get(key, default), low, high, f"{key}= {where}", what="seconds")


def _limit(values: dict[str, str], where: str) -> TimeControl:
    """Return an engine's limits."""
    if "tc" in values and "st" in values:
        raise InputError(values["st"], f"give tc= or st= {where}, not both")
    depth, nodes = values.get("depth"), values.get("nodes")
    if not ("tc" in values or "st" in values or depth or nodes):
        problem = f"no limit {where}; add tc=, st=, nodes= or depth= to it or to -each"
        raise InputError("-engine", problem)
    clock = parse_time_control(values.get("tc", "inf"), where)
    per_move = None
    if "st" in values:
        per_move = _nanoseconds(_seconds(values, "st", where, 1e-3, MAX_SECONDS))
    margin = read_whole(
        values.get("timemargin", "0"), 0, 10**9, f"timemargin= {where} in milliseconds"
    )
    if clock.time is None and not (per_move or depth or nodes):
        raise InputError("tc=inf", f"no limit {where}; add nodes= or depth=")
    return TimeControl(
        time=clock.time,
        increment=clock.increment,
        moves=clock.moves,
        per_move=per_move,
        nodes=None if nodes is None else read_whole(nodes, 1, 10**15, f"nodes= {where}"),
        depth=None if depth is None else read_whole(depth, 1, 10**6, f"depth= {where}"),
        margin=margin * MILLISECOND,
    )


def parse_time_control(text: str, where: str = "") -> TimeControl:
    """Parse ``moves/min:sec+inc``, where moves, min and inc are optional, or ``inf`` (no clock).

    ``where`` names the engine in the `InputError` for an invalid text.
    """
    if text.lower() in ("inf", "infinite"):
        return TimeControl()
    expected = f"expected tc=moves/min:sec+inc {where}, such as 40/1:30+0.5 or 10+0.1"
    move_count, slash, clock = text.rpartition("/")
    main, plus, increment = clock.partition("+")
    minutes, colon, seconds = main.rpartition(":")
    try:
        total = 60 * _unsigned(minutes if colon else "0") + _unsigned(seconds)
        extra = _unsigned(increment if plus else "0")
        moves = None
        if slash and move_count.isascii() and move_count.isdigit():
            moves = int(move_count)
    except ValueError:
        raise InputError(text, expected) from None
    if (slash and not moves) or not 0 < total <= MAX_SECONDS or extra > MAX_SECONDS:
        raise InputError(text, expected)
    return TimeControl(time=_nanoseconds(total), increment=_nanoseconds(extra), moves=moves)


def _unsigned(text: str) -> float:
    """Parse a decimal number without sign, exponent or spaces."""
    if not text or not set(text) <= set("0123456789."):
        raise ValueError(text)
    return float(text)


def _nanoseconds(seconds: float) -> int:
    return round(seconds * NANOSECONDS)


def _openings(given: ParsedFlags) -> OpeningSettings:
    flag = "-openings"
    plies = given.pairs.get(flag, {}).get("plies")
    file = given.key(flag, "file", "")
    for key in ("format", "order", "start"):
        # Without a file, openings are random in any case, so order=random is allowed.
        if not file and given.key(flag, key, "random") != "random":
            raise InputError(f"{key}=", f"expected file= as well after {flag}: a file or book")
    path = file
    if file == BOOK:
        path = shipped_book(preset(given.text("-variant", DEFAULT_VARIANT)))
    form = given.key(flag, "format", "pgn" if file.lower().endswith(".pgn") else "pos")
    return OpeningSettings(
        file=file if file == BOOK else os.path.abspath(file) if file else None,
        format=choice(
            {"epd": "pos", "fen": "pos"}.get(form, form), f"{flag} format=", ("pos", "pgn")
        ),
        order=choice(given.key(flag, "order", "sequential"), f"{flag} order=",
                     ("sequential", "random")),
        plies=None if plies is None else read_whole(plies, 0, 10_000, f"{flag} plies="),
        start=given.key_number(flag, "start", 1, 1),
        policy=choice(given.key(flag, "policy", POLICIES[0]), f"{flag} policy=", POLICIES),
        digest=file_digest(path) if file else "",
    )


def _adjudication(given: ParsedFlags, rules: Rules) -> Adjudication:
    """Return the settings of -draw, -resign, -maxmoves, -tb and -tbadjudicate."""
    if given.has("-resign") and "score" not in given.pairs["-resign"]:
        raise InputError("-resign", "expected score=, in hundredths of a man")
    return Adjudication(
        draw_number=given.key_number("-draw", "movenumber", 0),
        draw_count=given.key_number("-draw", "movecount", 1, 1) if given.has("-draw") else 0,
        draw_score=given.key_number("-draw", "score", 0),
        resign_number=given.key_number("-resign", "movenumber", 0),
        resign_count=given.key_number("-resign", "movecount", 1, 1) if given.has("-resign") else 0,
        resign_score=given.key_number("-resign", "score", 0),
        resign_twosided=given.key_switch("-resign", "twosided", False),
        max_moves=given.number("-maxmoves", 0),
        tables=_tables_folder(given, rules),
        table_results=_table_results(given),
    )


def _table_results(given: ParsedFlags) -> str:
    """Return the results that -tbadjudicate names."""
    if "-tbadjudicate" not in given.words:
        return TABLE_RESULTS[0]
    if "-tb" not in given.words:
        raise InputError("-tbadjudicate", "expected -tb as well, the folder of tables")
    names = [name.lower() for name in TABLE_RESULTS]
    return choice(given.words["-tbadjudicate"][0], "-tbadjudicate", names).upper()


def _tables_folder(given: ParsedFlags, rules: Rules) -> str:
    """Return the folder of ``-tb``, or an empty text without the flag.

    Raise `InputError` if the folder has no tables for the tournament's rules.
    """
    if "-tb" not in given.words:
        return ""
    folder = os.path.abspath(given.words["-tb"][0])
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
    keys = given.pairs["-sprt"]
    if not (keys.get("elo0") and keys.get("elo1")):
        raise InputError("-sprt", "expected elo0= and elo1=")
    return read_sprt(**keys)
