"""Options of one run: workers, output and files. Unlike settings, they may change on a resume."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace

from merels.engine.common.errors import InputError
from merels.engine.common.numbers import counted, read_whole
from merels.protocol.common.files import file_error, unwritable_reason
from merels.tournament.flags.command_line import ParsedFlags
from merels.tournament.openings.reading import BOOK
from merels.tournament.records.games import SECOND
from merels.tournament.records.output import STANDARD_OUTPUT, Intervals, LogOptions, PgnStyle
from merels.tournament.records.settings import LEAGUE, Settings
from merels.tournament.records.table import PGN_STYLE
from merels.tournament.run.executor import ExecutorFactory

MAX_WORKERS = 1024
"""Largest number of worker processes on this machine."""
MAX_TASKS = 1_000_000
"""Largest number of game pairs submitted to an executor at once."""
_TOPOLOGY = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"
"""File with the processors (hyperthreads) that share a processor's physical core, on Linux."""
LONG_GAME = 150
"""Number of moves of one side in a long game."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of one run of a tournament, tune or league."""

    concurrency: int
    cpus: tuple[tuple[int, ...], ...]
    """Processors of each worker; empty: workers are not pinned."""
    executor: str | None
    """``module:factory`` of a user's executor, or None."""
    executor_wait: int
    """Seconds without a result from the executor after which the run ends; 0: no limit."""
    max_faults: int
    """Games lost by the faults of one engine after which the run ends; 0: no limit."""
    shard: tuple[int, int]
    """(i, n): the run plays the i-th of n parts."""
    intervals: Intervals
    pgn_file: str | None
    pgn_append: bool
    pgn_style: PgnStyle
    log: LogOptions | None
    port: int | None
    """Port of the web page; 0: any free port; None: no page."""
    pause: float
    """Seconds between two games of a worker."""
    quiet: bool

    def continued(self) -> RunOptions:
        """Return the options for a resumed run, which appends to its files."""
        log = None if self.log is None else replace(self.log, append=True)
        return replace(self, log=log, pgn_append=True)


def make_run_options(given: ParsedFlags, settings: Settings) -> RunOptions:
    """Return the options for the flags; add errors to ``given.faults``."""
    value, faults = given.value, given.faults
    is_demo = not given.engines and settings.format != LEAGUE
    usual_concurrency = min(len(usable_processors()), 4) if is_demo else 1
    executor = value("-executor")
    concurrency = value("-concurrency", default=usual_concurrency)
    cpus: tuple[tuple[int, ...], ...] = ()
    with faults.collect():
        cpus = _cpus(given, settings, concurrency)
    with faults.collect():
        _check_files(given, settings)
    with faults.collect():
        _check_concurrency(concurrency, executor, given.has("-force-concurrency"))
    with faults.collect():
        _check_executor(given, cpus)
    with faults.collect():
        _check_shard(value("-shard"), settings)
    return RunOptions(
        concurrency=concurrency,
        cpus=cpus,
        executor=executor,
        executor_wait=value("-executorwait", default=_default_wait(settings)),
        max_faults=value("-maxfaults"),
        shard=value("-shard"),
        intervals=Intervals(
            value("-scoreinterval"),
            # The interim result of a match is short; longer rating lists need the flag.
            value("-ratinginterval", default=10 if len(settings.engines) == 2 else 0),
        ),
        pgn_file=value("-pgnout", "file"),
        pgn_append=value("-pgnout", "append"),
        pgn_style=PgnStyle(*(value("-pgnout", key) for key in PGN_STYLE)),
        log=_log(given),
        port=value("-serve"),
        pause=value("-wait") / 1000,
        quiet=given.has("-quiet"),
    )


def load_factory(name: str) -> ExecutorFactory:
    """Import the factory ``module:factory``; the module may be in the current folder.

    Raise `InputError` if the import fails or the factory is not callable. The returned function
    raises `InputError` if the factory returns no executor.
    """
    sys.path.append(os.getcwd())
    module_name, _, factory_name = name.partition(":")
    try:
        factory = getattr(importlib.import_module(module_name), factory_name)
    except Exception as error:  # A user's module may raise anything.
        raise InputError(name, f"cannot import this executor: {error!r}") from None
    expected = "expected a function that returns an executor"
    if not callable(factory):
        raise InputError(name, expected)

    def make() -> Executor:
        executor = factory()
        if not callable(getattr(executor, "submit", None)):
            raise InputError(name, f"{expected}; it returned {executor!r}")
        return executor  # type: ignore[no-any-return]

    return make


def _check_files(given: ParsedFlags, settings: Settings) -> None:
    """Raise `InputError` if two flags name one file, or -pgnout or -log cannot be written.

    This check comes before any file is truncated. Opening the journal checks the journal.
    """
    flag_of = {os.path.realpath(path): "-config" for path in given.configs}
    openings = settings.openings.file
    if openings not in (None, BOOK):
        flag_of[os.path.realpath(openings)] = "-openings"
    files = {flag: given.value(flag, "file") for flag in ("-journal", "-pgnout", "-log")}
    for flag, path in files.items():
        if path is None or flag == "-pgnout" and path == STANDARD_OUTPUT:
            continue
        if flag != "-journal" and (why := unwritable_reason(path, in_place=True)):
            raise file_error(path, f"cannot write this file: {why}")
        real = os.path.realpath(path)
        if os.path.exists(real) and not os.path.isfile(real):
            continue  # Two flags may share a device, such as /dev/null.
        if real in flag_of:
            raise file_error(path, f"{flag_of[real]} and {flag} cannot have the same file")
        flag_of[real] = flag


def _log(given: ParsedFlags) -> LogOptions | None:
    path = given.value("-log", "file")
    if not path:
        return None
    return LogOptions(
        os.path.abspath(path), *(given.value("-log", key) for key in ("level", "engine", "append"))
    )


def _check_executor(given: ParsedFlags, cpus: Sequence[object]) -> None:
    """Raise `InputError` for flags that exclude ``-executor``, or that need it and lack it."""
    executor = given.value("-executor")
    if executor is None:
        # `-executor none` overrides the executor of a journal, but may keep its -executorwait.
        if given.has("-executorwait") and not given.has("-executor"):
            raise InputError("-executorwait", "expected -executor as well")
        return
    if not all(executor.partition(":")):
        raise InputError(executor, "expected -executor module:factory")
    if cpus or given.value("-log", "engine"):
        flag = "-use-affinity" if cpus else "-log engine="
        raise InputError(flag, "cannot be combined with -executor; leave one of them out")


def _check_shard(shard: tuple[int, int], settings: Settings) -> None:
    """Raise `InputError` if the tournament is to be played in parts but cannot be."""
    part, parts = shard
    if parts == 1:
        return
    text = f"-shard {part}/{parts}"
    if settings.format in ("swiss", "knockout"):
        raise InputError(
            text, f"a {settings.format} tournament cannot be split, because results decide its "
            "pairings; leave out -shard"
        )  # fmt: skip
    if settings.sprt is not None:
        raise InputError(text, "one part cannot decide an SPRT; leave out -shard or -sprt")


def _default_wait(settings: Settings) -> int:
    """Return the default of -executorwait in seconds.

    The default is an hour, or twice the clock time of a pair of long games if that is longer.
    """
    longest = 0  # Time of one side in a long game, in nanoseconds.
    for limit in (entrant.limit for entrant in settings.engines):
        periods = 1 if limit.moves is None else LONG_GAME // limit.moves + 1
        clock = (limit.time or 0) * periods + limit.increment * LONG_GAME
        longest = max(longest, clock, (limit.per_move or 0) * LONG_GAME)
    pair = 2 * 2 * longest  # Two games, each with two sides.
    return max(3600, 2 * pair // SECOND)


def usable_processors() -> list[int]:
    """Return the processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def _check_concurrency(concurrency: int, executor: str | None, is_forced: bool) -> None:
    """Raise `InputError` if ``concurrency`` exceeds its maximum, or the usable processors.

    On shared processors, engines might lose on time; ``is_forced`` allows it.
    """
    maximum = MAX_WORKERS if executor is None else MAX_TASKS
    processors = len(usable_processors())
    if concurrency > maximum:
        expected = f"expected a whole number from 1 to {maximum} for -concurrency"
        raise InputError(str(concurrency), expected)
    if executor is None and not is_forced and concurrency > processors:
        raise InputError(
            f"-concurrency {concurrency}",
            f"merels may use {counted(processors, 'processor')}: give -concurrency {processors}, "
            "or add -force-concurrency if the engines may share them",
        )


def _spread(processors: list[int]) -> list[int]:
    """Return processors in an order that uses second hyperthreads of physical cores last.

    Only Linux lists the hyperthreads of a core; on other systems the order is kept.
    """
    numbers: dict[str, int] = {}
    """Number of processors so far, by the hyperthreads of their physical core."""
    order = []
    for processor in processors:
        try:
            with open(_TOPOLOGY.format(processor), encoding="ascii") as file:
                siblings = file.read()
        except (OSError, ValueError):
            siblings = str(processor)
        numbers[siblings] = numbers.get(siblings, 0) + 1
        order.append((numbers[siblings], processor))
    return [processor for _, processor in sorted(order)]


def _cpus(given: ParsedFlags, settings: Settings, concurrency: int) -> tuple[tuple[int, ...], ...]:
    """Return each worker's processors by ``-use-affinity``: two if an engine ponders, else one.

    Raise `InputError` if the system cannot pin processes, processors are lacking, or an engine has
    several threads.
    """
    flag = "-use-affinity"
    if not given.has(flag):
        return ()
    if not hasattr(os, "sched_setaffinity"):
        raise InputError(flag, "this system cannot pin processes to processors; leave it out")
    available = usable_processors()
    text = given.value(flag)
    cpus = _parse_cpus(text) if text else _spread(available)
    missing = sorted(set(cpus) - set(available))
    if missing:
        raise InputError(text, f"processor {missing[0]} is not available; available: {available}")
    each = 2 if any(entrant.ponder for entrant in settings.engines) else 1
    if concurrency * each > len(cpus):
        purpose = f", {each} for each game with ponder;" if each > 1 else ","
        raise InputError(
            flag, f"-concurrency {concurrency} needs {concurrency * each} processors{purpose} "
            f"found {len(cpus)}"
        )  # fmt: skip
    for engine in (entrant.engine for entrant in settings.engines):
        threads = {name.lower(): value for name, value in engine.options}.get("threads", "1")
        if threads != "1":
            raise InputError(
                flag,
                f"would pin the {threads} threads of {engine.name} to "
                f"{counted(each, 'processor')}; leave the flag out, or give the engine one thread",
            )
    return tuple(
        tuple(cpus[first : first + each]) for first in range(0, len(cpus) - each + 1, each)
    )


def _parse_cpus(text: str) -> list[int]:
    """Return the numbers of a list such as ``0,2-5`` in rising order, each once."""
    cpus: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        low = read_whole(first, 0, 4095, "-use-affinity")
        high = read_whole(last, low, 4095, "-use-affinity") if dash else low
        cpus.update(range(low, high + 1))
    return sorted(cpus)
