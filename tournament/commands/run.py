"""Starting and continuing runs, shared by ``merels tournament``, ``tune`` and ``league``."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial
from types import FrameType
from typing import TextIO

from merels.engine import full_version
from merels.engine.common.errors import Failure, InputError, SeveralErrors
from merels.engine.common.files import file_error
from merels.engine.common.notices import notify
from merels.engine.common.numbers import counted
from merels.engine.common.shell import shell_text
from merels.engine.game.rules import parse_rules
from merels.protocol.client.perfect import table_coverage
from merels.protocol.commands.exit_status import FAILED, INTERRUPTED, OK
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
    rules_known_engines,
    usable_cores,
)
from merels.tournament.journal.journal import Journal, JournalError
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
from merels.tournament.play.engine_cache import KEPT
from merels.tournament.play.fingerprint import changed_programs
from merels.tournament.play.preflight import AT_ONCE, Passed, check_program, preflight
from merels.tournament.records.fields import Flags
from merels.tournament.records.output import STANDARD_OUTPUT
from merels.tournament.records.settings import Settings
from merels.tournament.run.executor import ExecutorFactory, ExecutorPool
from merels.tournament.run.local import LocalWorkers
from merels.tournament.run.plan import Plan
from merels.tournament.run.pool import Pool
from merels.tournament.run.runner import End, Runner, Trial
from merels.tournament.run.scoreboard import Scoreboard
from merels.tournament.run.view import View
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


class Command:
    """What ``merels tournament`` and ``merels tune`` do differently."""

    name: str
    flags: Flags
    plan: type[Plan] = Plan
    continuing: Sequence[str] = ()
    """Flags that continue the run; if empty, those of its own journal."""

    def settings(self, given: ParsedFlags, seed: int | None) -> Settings:
        """Return the settings of a run; ``seed``: that of a continued run, or None."""
        raise NotImplementedError

    def view(
        self, board: Scoreboard, options: RunOptions, given: ParsedFlags, out: TextIO
    ) -> View:
        """Return the view that shows the games on a stream."""
        raise NotImplementedError

    def finish(self, board: Scoreboard, given: ParsedFlags, out: TextIO, status: int) -> int:
        """Print the result of a run with the exit status ``status``; return the final status."""
        raise NotImplementedError


def asks_for_help(argv: list[str]) -> bool:
    """Return whether any word of the command line asks for help."""
    return any(word in ("-h", "-help", "--help") for word in argv)


def run(argv: list[str], command: Command) -> int:
    """Run a command line without a help flag; return the exit status."""
    given = parse(argv, command.flags)
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
            return _run(given, None, command)
        stored = open_run(path)
        with stored.journal:
            if stored.settings.is_converted:
                raise file_error(
                    path, "merels convert made this journal from a file of games, so there is no "
                    "run to continue; name another file"
                )
            if json.loads(stored.notes["settings"]).get("reverse"):
                raise file_error(
                    path, "its run swaps all colours by -reverse, which merels no longer has; "
                    "start a new run"
                )
            if stored.command != command.name:
                raise file_error(
                    path,
                    f"this journal belongs to another command; continue it with {stored.command}",
                )
            try:
                if not given.engines:
                    return _run_as_stored(stored, given, command)
                return _run(given, stored, command)
            except InputError as error:
                is_here = not given.engines or stored.folder in ("", os.getcwd())
                if is_here or isinstance(error, SeveralErrors):
                    raise
                # A wrong folder is a likely cause, because paths may be relative.
                where = f"{error.expected}; the run was started in {stored.folder}"
                raise InputError(error.token, where) from None


def _run_as_stored(stored: StoredRun, given: ParsedFlags, command: Command) -> int:
    """Continue a run in its folder by its stored command line, followed by the given flags."""
    # The user must see the stored flags: a journal from elsewhere may name any program or file.
    notify(f"the journal's own command line: {shell_text(stored.words)}")
    line, folder = given.line, os.getcwd()
    if stored.folder not in ("", folder):
        if os.path.isdir(stored.folder):
            notify(f"the run was started in {stored.folder} and continues there")
            line, folder = with_absolute_paths(line, command.flags), stored.folder
        else:
            notify(
                f"the run was started in {stored.folder}, which does not exist; "
                f"it continues in {folder}"
            )
    configs = [os.path.abspath(path) for path in given.configs]
    with contextlib.chdir(folder):
        stored_line = without_flags(stored.words, NOT_INHERITED, command.flags)
        given = replace(parse([*stored_line, *line], command.flags), configs=configs)
        given.faults.raise_all()
        return _run(given, stored, command)


def _run(given: ParsedFlags, stored: StoredRun | None, command: Command) -> int:
    """Start a run, or continue the run ``stored``; return the exit status."""
    seed = None if stored is None else stored.settings.seed
    if given.has("-shard") and not given.has("-srand") and seed is None:
        error = InputError("-shard", "expected -srand N as well, the same in all parts")
        given.faults.add(error)
    settings = command.settings(given, seed)
    if stored is not None and not given.has("-openings", "policy"):
        policy = stored.settings.openings.policy
        settings = replace(settings, openings=replace(settings.openings, policy=policy))
    if stored is not None and given.has("-games") and not given.has("-rounds"):
        settings = replace(settings, rounds=stored.settings.rounds)  # The default has changed.
    options = make_run_options(given, settings)
    if stored is not None:
        options = options.continued()
    if options.executor is None and stored is None:
        for entrant in settings.engines:
            with given.faults.kept():
                check_program(entrant)
    given.faults.raise_all()
    if stored is not None:
        names = [engine.name for engine in stored.settings.engines]
        settings = name_engines(settings, given, stored=names)
        options = replace(options, rules_known=rules_known_engines(given, settings))
    foreign = None if options.executor is None else load_factory(options.executor)
    path = given.value("-journal", "file")
    rules = parse_rules(settings.rules)
    openings = Openings(settings.openings, rules, settings.seed)
    make_plan = partial(
        command.plan, part=options.shard, keep_info=options.pgn_style.needs_info,
        pause=options.pause, openings=openings,
    )
    plan = make_plan(settings)
    trial = _trial(plan, options)
    has_left = stored is None or plan.has_left(stored.journal)
    if stored is None:
        check_new(path)
        if foreign is None:
            passed = _try_here(trial)
            settings = name_engines(settings, given, announced=passed.names)
            plan = make_plan(settings)
    else:
        stored.journal.path = path  # Errors must name the path as the user typed it.
        check_changes(stored, settings)
        if foreign is None:
            for text in changed_programs(stored.journal, settings):
                notify(text)
        if has_left and foreign is None:
            _try_here(trial)
    notices = [
        text for entrant in settings.engines for text in table_coverage(entrant.engine, [rules])
    ]
    notices += openings.notices
    if limits := proof_limits(settings.openings, rules):
        notices.append(f"the openings of -openings book are {limits}: one side may be winning")
    if given.ignored:
        words = ", ".join(dict.fromkeys(given.ignored))
        notices.append(f"accepted without effect, as flags of other runners: {words}")
    cores = len(usable_cores())
    if options.executor is None and options.concurrency > cores:
        notices.append(
            f"-force-concurrency: {options.concurrency} games share {counted(cores, 'processor')}; "
            "times and time forfeits are not reliable"
        )
    notes = {
        "id": secrets.token_hex(8),
        "arguments": json.dumps(given.line),
        "folder": os.getcwd(),
        "version": full_version(),
        "created": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }
    if stored is None:
        journal = open_journal(path, settings, notes)
    else:
        journal = stored.journal
        continue_run(stored, settings, notes)
    with journal:
        board = Scoreboard(plan, journal)
        played = len(board.played)
        try:
            for notice in notices:
                notify(notice)
            first = trial if foreign is not None and has_left else None
            status = _play(board, options, foreign, first, given, command)
        except InputError:
            # An output file cannot be written, the port is in use, or a worker refused an engine.
            # Without a new game, the journal is restored for the corrected command line.
            if len(board.played) == played:
                if stored is None:
                    journal.remove()
                else:
                    journal.set_meta(stored.notes)
            raise
        with contextlib.suppress(JournalError):
            journal.fold()
        return status


def _trial(plan: Plan, options: RunOptions) -> Trial:
    """Return the call that tries every engine: here, or in a worker of an executor."""
    # A worker of an executor has one core, or an unknown number of cores.
    at_once = AT_ONCE + (2 * options.concurrency if options.executor is None else 0)
    return partial(
        preflight, plan.entrants, options.rules_known, plan.settings.rules, plan.openings.trial,
        at_once,
    )


def _try_here(trial: Trial) -> Passed:
    passed = trial()
    for text in passed.notices:
        notify(text)
    return passed


def _play(
    board: Scoreboard, options: RunOptions, foreign: ExecutorFactory | None, trial: Trial | None,
    given: ParsedFlags, command: Command,
) -> int:  # fmt: skip
    """Play the games and print the result; return the exit status."""
    runner = Runner(board, trial=trial, max_faults=options.max_faults)
    if not options.quiet:
        notify(f"seed {board.settings.seed}")
    # Read now, because the advice may follow a failure of the journal.
    continuing = command.continuing or resume_flags(board.journal, given, command.flags)
    with with_advice(options, lambda: _resume_advice(board, continuing)):
        with contextlib.ExitStack() as closing:
            for view in _make_views(options, board, given, command):
                board.views.append(view)
                closing.callback(view.close)
            closing.enter_context(interrupts(runner))
            end = runner.run(pool_factory(options, board, foreign))
        board.journal.check_files()
        if status := EXIT_STATUS[end]:
            notify(_resume_advice(board, continuing))
        status = command.finish(board, given, _stream(options), status)
        lines, is_failing = health_lines(board.journal)
        put(_stream(options), "".join(line + "\n" for line in lines))
        if is_failing:
            status = status or FAILED
        return status_with_outputs(status, board)


def status_with_outputs(status: int, board: Scoreboard) -> int:
    """Return ``status``, or `FAILED` if it is `OK` and an output of the run is incomplete."""
    return status or (FAILED if any(view.incomplete for view in board.views) else OK)


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
def interrupts(runner: Runner) -> Iterator[None]:
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


def _resume_advice(board: Scoreboard, continuing: Sequence[str]) -> str:
    """Return a sentence: the number of finished games, and the flags that continue the run."""
    count, journal = len(board.played), board.journal
    text = f"stopped; {counted(count, 'game')} {'is' if count == 1 else 'are'} finished"
    if journal.copy_path is not None:
        text = "stopped"
        copied = {f"file={journal.path}": f"file={journal.copy_path}"}
        continuing = [copied.get(word, word) for word in continuing]
    if continuing:
        text += f"; continue with: {shell_text(continuing)}"
    elif journal.path is None:
        text += "; the run cannot be continued, because its games are not stored: add -journal FILE"
    return text


def resume_flags(journal: Journal, given: ParsedFlags, flags: Flags) -> list[str]:
    """Return the flags that continue a run as it was given; [] without a journal.

    They are added to the command line in the journal, or replace it if it does not begin the given
    one.
    """
    if journal.path is None:
        return []
    stored, now = (
        without_flags(line, NOT_INHERITED, flags)
        for line in (json.loads(journal.meta()["arguments"]), given.line)
    )
    added = now[len(stored) :] if now[: len(stored)] == stored else now
    return ["-journal", f"file={journal.path}", "-resume", *added]


def _stream(options: RunOptions) -> TextIO:
    """Return the stream for text: standard error if games go to standard output."""
    return sys.stderr if options.pgn_file == STANDARD_OUTPUT else sys.stdout


def _make_views(
    options: RunOptions, board: Scoreboard, given: ParsedFlags, command: Command
) -> Iterator[View]:
    """Yield the views that the options request."""
    settings, journal = board.settings, board.journal
    out = _stream(options)
    yield NoticeView() if options.quiet else command.view(board, options, given, out)
    yield from page_and_log(options, board)
    if options.pgn_file is not None:
        tournament = journal.meta()["id"]
        file: GameOutput = PgnOutput()
        if options.pgn_file != STANDARD_OUTPUT:
            file = PgnFile(options.pgn_file, tournament, options.pgn_append)
        writer = GameWriter(settings, tournament, options.pgn_style)
        yield PgnView(file, writer, board.notice, journal)


def page_and_log(options: RunOptions, board: Scoreboard) -> Iterator[View]:
    """Yield the views of ``-serve`` and ``-log``."""
    if options.port is not None:
        from merels.protocol.terminal.log import log_to_terminal
        from merels.tournament.views.web import WebView

        log_to_terminal()
        web = WebView(board, options.port, options.executor is None)
        notify(f"standings at {web.address}")
        yield web
    if options.log is not None:
        yield LogView(options.log, board.notice)


def is_live(out: TextIO) -> bool:
    """Return whether a table can be redrawn on ``out``: a terminal that does not show PGN."""
    return is_terminal(out) and not (out is sys.stderr and sys.stdout.isatty())


def pool_factory(
    options: RunOptions, board: Scoreboard, foreign: ExecutorFactory | None
) -> Callable[[], Pool]:
    """Return a function that makes the pool: local processes or a user's executor."""
    if foreign is not None:
        return partial(ExecutorPool, foreign, options.concurrency, options.executor_wait)
    log = options.log.file if options.log is not None and options.log.engines else None
    engines = len(board.plan.entrants)
    # A worker that may not keep all engines chooses from `engines` pairs, in which each engine
    # occurs twice on average.
    ahead = engines if engines > KEPT else 1
    return partial(
        LocalWorkers, options.concurrency, options.cpus, log, options.port is not None, ahead
    )
