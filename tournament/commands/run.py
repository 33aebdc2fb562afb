"""Steps of a run, shared by ``merels tournament``, ``tune`` and ``league``.

A run takes these steps in this order, and none is undone: flags, settings, openings, trial of the
engines, opening of the output files and of the port, journal, games, report.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import partial
from types import FrameType
from typing import TextIO

from merels.engine import full_version
from merels.engine.common.errors import Failure, InputError, SeveralErrors
from merels.engine.common.numbers import counted
from merels.engine.common.shell import shell_text
from merels.engine.game.rules import Rules, parse_rules
from merels.protocol.client.perfect import table_coverage
from merels.protocol.commands.exit_status import FAILED, INTERRUPTED, OK
from merels.protocol.common.files import file_error
from merels.protocol.common.notices import notify
from merels.tournament.flags.command_line import (
    ParsedFlags,
    parse,
    with_absolute_paths,
    without_flags,
)
from merels.tournament.flags.name_engines import name_engines
from merels.tournament.flags.run_options import (
    RunOptions,
    load_factory,
    make_run_options,
    usable_processors,
)
from merels.tournament.journal.journal import JournalError
from merels.tournament.journal.open import (
    StoredRun,
    check_changes,
    check_new,
    continue_run,
    is_new,
    open_journal,
    open_run,
    reserved,
)
from merels.tournament.openings.reading import Openings, proof_limits
from merels.tournament.play.engine_cache import MAX_IDLE_ENGINES
from merels.tournament.play.fingerprint import changed_programs
from merels.tournament.play.preflight import AT_ONCE, Trial, check_program, preflight
from merels.tournament.records.fields import Flags
from merels.tournament.records.games import Entrant, Opening
from merels.tournament.records.output import STANDARD_OUTPUT
from merels.tournament.records.settings import Settings
from merels.tournament.run.executor import ExecutorFactory, ExecutorPool
from merels.tournament.run.local import LocalWorkers
from merels.tournament.run.plan import Plan
from merels.tournament.run.pool import Pool
from merels.tournament.run.runner import End, Runner
from merels.tournament.run.scoreboard import Scoreboard, View
from merels.tournament.views.log import LogView
from merels.tournament.views.output import put
from merels.tournament.views.pgn import GameOutput, GameWriter, PgnView
from merels.tournament.views.pgn_file import PgnFile, PgnOutput
from merels.tournament.views.plain import NoticeView, health_lines
from merels.tournament.views.terminal import is_terminal

EXIT_STATUS: dict[End, int] = {
    "finished": OK, "decided": OK, "interrupted": INTERRUPTED, "killed": INTERRUPTED,
    "faulty": FAILED, "stuck": FAILED, "timed_out": FAILED,
}
NOT_INHERITED = ("-journal", "-resume")
"""Flags that a continued run does not take from its stored command line."""


def asks_for_help(argv: list[str]) -> bool:
    """Return whether any word of the command line asks for help."""
    return any(word in ("-h", "-help", "--help") for word in argv)


@contextlib.contextmanager
def command_line(
    argv: Sequence[str], flags: Flags, command: str
) -> Iterator[tuple[ParsedFlags, StoredRun | None]]:
    """Yield the flags of a run, and the run that it continues or None.

    A continued run without engines has the flags in its journal, too, and continues in its folder.
    Other runs cannot write to the journal meanwhile. ``command``: for example ``merels tune``.
    """
    given = parse(argv, flags)
    path, resume = given.value("-journal", "file"), given.has("-resume")
    if resume:
        given.faults.raise_all()
        if path is None:
            raise InputError("-resume", "expected -journal file=, the journal to continue")
    with reserved(path):
        if path is None or not resume or is_new(path):
            if resume and not given.engines:
                raise file_error(
                    path or "", "there is no journal to continue; name engines to start one"
                )
            yield given, None
            return
        stored = open_run(path)
        with stored.journal, contextlib.ExitStack() as folder:
            _check_continues(stored, path, command)
            try:
                if not given.engines:
                    yield folder.enter_context(_stored_flags(stored, given)), stored
                else:
                    yield given, stored
            except InputError as error:
                is_here = not given.engines or stored.folder in ("", os.getcwd())
                if is_here or isinstance(error, SeveralErrors):
                    raise
                # A wrong folder is a likely cause, because paths may be relative.
                where = f"{error.expected}; the run was started in {stored.folder}"
                raise InputError(error.token, where) from None


def _check_continues(stored: StoredRun, path: str, command: str) -> None:
    """Raise `InputError` if ``command`` cannot continue the run."""
    if stored.settings.is_converted:
        raise file_error(
            path, "merels convert made this journal from a file of games, so there is no "
            "run to continue; name another file"
        )
    if json.loads(stored.notes["settings"]).get("reverse"):
        raise file_error(
            path, "this run has -reverse, a flag that merels no longer has; "
            "start a new run"
        )
    if stored.command != command:
        raise file_error(
            path, f"this journal belongs to another command; continue it with {stored.command}"
        )


@contextlib.contextmanager
def _stored_flags(stored: StoredRun, given: ParsedFlags) -> Iterator[ParsedFlags]:
    """Yield the flags of the stored command line, followed by ``given``, in the run's folder."""
    # The user must see the stored flags: a journal from elsewhere may name any program or file.
    notify(f"the journal's own command line: {shell_text(stored.words)}")
    line, folder, flags = given.line, os.getcwd(), given.flags
    if stored.folder not in ("", folder):
        if os.path.isdir(stored.folder):
            notify(f"the run was started in {stored.folder} and continues there")
            line, folder = with_absolute_paths(line, flags), stored.folder
        else:
            notify(
                f"the run was started in {stored.folder}, which does not exist; "
                f"it continues in {folder}"
            )
    configs = [os.path.abspath(path) for path in given.configs]
    with contextlib.chdir(folder):
        stored_line = without_flags(stored.words, NOT_INHERITED, flags)
        given = replace(parse([*stored_line, *line], flags), configs=configs)
        given.faults.raise_all()
        yield given


@dataclass(slots=True)
class Run:
    """A run that is ready: its engines can play, its outputs are open, and it has a journal."""

    board: Scoreboard
    options: RunOptions
    factory: ExecutorFactory | None
    """Factory of the user's executor, or None."""
    continuing: Sequence[str]
    """Flags that continue the run; none without a journal."""

    @property
    def out(self) -> TextIO:
        """The stream for text: standard error if games go to standard output."""
        return sys.stderr if self.options.pgn_file == STANDARD_OUTPUT else sys.stdout

    def play(self, view: View) -> int:
        """Play the games, shown by ``view`` unless the run is quiet; return the exit status."""
        status = play(self.board, self.options, self.factory, view)
        if status:
            notify(self.advice())
        return status

    def finish(self, status: int) -> int:
        """Print the health of the engines after the report; return the final exit status."""
        lines, is_failing = health_lines(self.board.standings.health.engines)
        put(self.out, "".join(line + "\n" for line in lines))
        return status or (FAILED if is_failing or self.board.is_incomplete else OK)

    def advice(self) -> str:
        """Return a sentence: the number of finished games, and the flags that continue the run."""
        count, journal, flags = len(self.board.played), self.board.journal, self.continuing
        text = f"stopped; {counted(count, 'game')} {'is' if count == 1 else 'are'} finished"
        if journal.copy_path is not None:
            text = "stopped"
            copied = {f"file={journal.path}": f"file={journal.copy_path}"}
            flags = [copied.get(word, word) for word in flags]
        if flags:
            text += f"; continue with: {shell_text(flags)}"
        elif journal.path is None:
            text += (
                "; the run cannot be continued, because its games are not stored: add -journal FILE"
            )
        return text


@contextlib.contextmanager
def prepared(
    given: ParsedFlags, stored: StoredRun | None, settings: Settings,
    plan_type: type[Plan] = Plan, continuing: Sequence[str] = (),
    first_trial: Trial | None = None,
) -> Iterator[Run]:  # fmt: skip
    """Yield a run that is ready for its games; ``stored``: the run that it continues, or None.

    ``continuing``: flags that continue the run, by default those of its own journal.
    ``first_trial``: as in `preflight`.
    """
    if stored is None and given.has("-shard") and not given.has("-srand"):
        error = InputError("-shard", "expected -srand N as well, the same in all parts")
        given.faults.add(error)
    if stored is not None:
        settings = _with_former_defaults(settings, given, stored.settings)
    options = make_run_options(given, settings)
    if stored is not None:
        options = options.continued()
    elif options.executor is None:
        for entrant in settings.engines:
            with given.faults.collect():
                check_program(entrant)
    given.faults.raise_all()
    factory = None if options.executor is None else load_factory(options.executor)
    path = given.value("-journal", "file")
    if stored is None:
        check_new(path, settings)
    else:
        stored.journal.path = path  # Errors must name the path as the user typed it.
        names = [engine.name for engine in stored.settings.engines]
        settings = name_engines(settings, given, stored=names)
        check_changes(stored, settings)
    rules = parse_rules(settings.rules)
    openings = Openings(settings.openings, rules, settings.seed)
    make_plan = partial(
        plan_type, part=options.shard, keep_info=options.pgn_style.needs_info,
        pause=options.pause, openings=openings,
    )
    plan = make_plan(settings)
    if options.executor is None:
        if stored is not None:
            for text in changed_programs(stored.journal, settings):
                notify(text)
        if stored is None or plan.has_left(stored.journal):
            announced = try_engines(
                plan.entrants, settings.rules, openings.trial, options, first_trial
            )
            if stored is None:
                settings = name_engines(settings, given, announced=announced)
                plan = make_plan(settings)
    for text in _notices(settings, rules, openings, options, given):
        notify(text)
    notes = {
        "id": secrets.token_hex(8),
        "arguments": json.dumps(given.line),
        "folder": os.getcwd(),
        "version": full_version(),
        "created": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }
    tournament = notes["id"] if stored is None else stored.notes["id"]
    with opened(options, settings, tournament) as views:
        if stored is None:
            journal = open_journal(path, settings, notes)
        else:
            journal = stored.journal
            continue_run(stored, settings, notes)
        with journal:
            board = Scoreboard(plan, journal, views)
            # Read now, because the advice may follow a failure of the journal.
            run = Run(board, options, factory, continuing or resume_flags(board, given))
            if not options.quiet:
                notify(f"seed {settings.seed}")
            with with_advice(options, run.advice):
                yield run
            with contextlib.suppress(JournalError):
                journal.checkpoint()


def _with_former_defaults(settings: Settings, given: ParsedFlags, stored: Settings) -> Settings:
    """Return the settings of a continued run, whose version may have had other defaults."""
    if not given.has("-openings", "policy"):
        openings = replace(settings.openings, policy=stored.openings.policy)
        settings = replace(settings, openings=openings)
    if given.has("-games") and not given.has("-rounds"):
        settings = replace(settings, rounds=stored.rounds)
    return settings


def try_engines(
    entrants: Sequence[Entrant], rules: str, opening: Opening, options: RunOptions,
    first_trial: Trial | None = None,
) -> list[str]:  # fmt: skip
    """Try every engine on this machine, and return the names that they announce."""
    result = preflight(entrants, rules, opening, AT_ONCE + 2 * options.concurrency, first_trial)
    for text in result.notices:
        notify(text)
    return result.names


def _notices(
    settings: Settings, rules: Rules, openings: Openings, options: RunOptions, given: ParsedFlags
) -> Iterator[str]:
    """Yield notices on the settings of a run."""
    for entrant in settings.engines:
        yield from table_coverage(entrant.engine, [rules])
    yield from openings.notices
    if limits := proof_limits(settings.openings, rules):
        yield f"the openings of -openings book are {limits}: one side may be winning"
    if given.ignored:
        words = ", ".join(dict.fromkeys(given.ignored))
        yield f"accepted without effect, as flags of other runners: {words}"
    processors = len(usable_processors())
    if options.executor is None and options.concurrency > processors:
        yield (
            f"-force-concurrency: {options.concurrency} games share "
            f"{counted(processors, 'processor')}; "
            "times and time forfeits are not reliable"
        )


@contextlib.contextmanager
def opened(options: RunOptions, settings: Settings, tournament: str) -> Iterator[list[View]]:
    """Yield the views that write files or serve a page; ``tournament`` is the journal's id.

    Their files and the port are open; `InputError` if one of them cannot be opened.
    """
    with contextlib.ExitStack() as closing:
        views = list[View]()
        if options.port is not None:
            from merels.protocol.terminal.log import log_to_terminal
            from merels.tournament.views.web import WebView

            log_to_terminal()
            web = WebView(settings, options.port, options.executor is None)
            notify(f"standings at {web.address}")
            views.append(web)
            closing.callback(web.close)
        if options.log is not None:
            views.append(log := LogView(options.log))
            closing.callback(log.close)
        if options.pgn_file is not None:
            file: GameOutput = PgnOutput()
            if options.pgn_file != STANDARD_OUTPUT:
                file = PgnFile(options.pgn_file, tournament, options.pgn_append)
            pgn = PgnView(file, GameWriter(settings, tournament, options.pgn_style))
            views.append(pgn)
            closing.callback(pgn.close)
        yield views
        if sys.stderr.isatty():  # A view that stays prints there how to end it.
            for view in views:
                view.stay()


def play(
    board: Scoreboard, options: RunOptions, factory: ExecutorFactory | None, view: View
) -> int:
    """Play the games, and close the views; return the exit status without that of the outputs.

    ``view`` shows the games unless the run is quiet.
    """
    runner = Runner(board, max_faults=options.max_faults)
    board.add_view(NoticeView() if options.quiet else view, first=True)
    with contextlib.ExitStack() as closing:
        for each in board.views:
            closing.callback(each.close)
        closing.enter_context(_interrupts(runner))
        end = runner.run(partial(_make_pool, options, factory, len(board.plan.entrants)))
    board.journal.check_files()
    return EXIT_STATUS[end]


@contextlib.contextmanager
def with_advice(options: RunOptions, advice: Callable[[], str]) -> Iterator[None]:
    """Add ``advice`` to a `Failure`; turn other errors of a user's executor into a `Failure`.

    Print ``advice`` after a `KeyboardInterrupt`.
    """
    try:
        yield
    except KeyboardInterrupt:
        notify(advice())
        raise
    except Failure as error:
        error.add_note(advice())
        raise
    except Exception as error:
        if options.executor is None or isinstance(error, InputError):
            raise
        # A user's executor may raise anything; a traceback of merels would blame the wrong program.
        failure = Failure(f"the executor {options.executor} failed: {error!r}")
        failure.add_note(advice())
        raise failure from None


@contextlib.contextmanager
def _interrupts(runner: Runner) -> Iterator[None]:
    """Handle signals during a run.

    The first Ctrl-C ends the run after the games in progress, the second Ctrl-C at once. SIGTERM
    and SIGHUP also end it at once. If SIGHUP is ignored, as under ``nohup``, it stays ignored. If
    the runner is blocked, a further signal raises `KeyboardInterrupt`, see `Runner.interrupt`.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        runner.interrupt(now=number != signal.SIGINT)

    numbers = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    previous = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def resume_flags(board: Scoreboard, given: ParsedFlags) -> list[str]:
    """Return the flags that continue a run as it was given; [] without a journal.

    They are added to the command line in the journal, or replace it if it does not begin the given
    one.
    """
    journal = board.journal
    if journal.path is None:
        return []
    stored, now = (
        without_flags(line, NOT_INHERITED, given.flags)
        for line in (json.loads(journal.meta()["arguments"]), given.line)
    )
    added = now[len(stored) :] if now[: len(stored)] == stored else now
    return ["-journal", f"file={journal.path}", "-resume", *added]


def is_live(out: TextIO) -> bool:
    """Return whether a table can be redrawn on ``out``: a terminal that does not show PGN."""
    return is_terminal(out) and not (out is sys.stderr and sys.stdout.isatty())


def _make_pool(options: RunOptions, factory: ExecutorFactory | None, engines: int) -> Pool:
    """Return the workers: local processes, or a user's executor. ``engines``: their number."""
    if factory is not None:
        return ExecutorPool(factory, options.concurrency, options.executor_wait)
    log = options.log.file if options.log is not None and options.log.engines else None
    # A worker that may not keep all engines chooses from `engines` pairs, in which each engine
    # occurs twice on average.
    ahead = engines if engines > MAX_IDLE_ENGINES else 1
    return LocalWorkers(options.concurrency, options.cpus, log, options.port is not None, ahead)
