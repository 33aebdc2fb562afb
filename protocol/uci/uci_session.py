"""A session with one client: its state between two lines, and its commands.

CONTRIBUTING.md describes how a ``go`` line is processed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from merels.engine import full_version
from merels.engine.common.errors import InputError, shorten
from merels.engine.core import core
from merels.engine.game.notation import format_position, format_seventeen
from merels.engine.game.position import BLACK, WHITE, Position
from merels.engine.tools.show import board_lines, evaluation_lines
from merels.protocol.common.options import EMPTY
from merels.protocol.uci.go_command import Go, parse_go
from merels.protocol.uci.jobs import Bench, Perft, Search, Worker
from merels.protocol.uci.position_command import Setup, read_setup, replay
from merels.protocol.uci.session_engine import SessionEngine
from merels.protocol.uci.settings import OPTIONS, RULE_OPTIONS, split_setting
from merels.protocol.uci.streams import Output
from merels.protocol.uci.wording import Uci, Ugi

CLOSE_SECONDS = 1.0
"""Time for a stopped job to end before the process is ended, in seconds."""
_CHECK_SECONDS = 0.1
"""Seconds between checks of whether the output still has a reader, after the end of input."""


class Session:
    """The state between two lines, and the commands that change it.

    Commands run on the thread that calls `handle`, except for searches, perft and the benchmark.
    """

    def __init__(self, output: Output) -> None:
        self.has_quit = False
        """Whether the client has sent ``quit``."""
        self._output = output
        self._dialect = Uci()
        self._setup = Setup()
        self._engine = SessionEngine(output)
        self._worker = Worker(output)
        self._debug = False
        self._read_at = 0
        """Time at which the current line was read; clocks run from this time."""

    def handle(self, line: str, read_at: int | None = None) -> None:
        """Execute one line, read at ``read_at`` (`core.monotonic_ns`); None is now.

        Errors are reported to the client, not raised.
        """
        self._read_at = core.monotonic_ns() if read_at is None else read_at
        self._output.log_input(line)
        words = line.split()
        index = _first_command(words)
        if index:
            unknown = " ".join(words[:index])
            hint = _HINTS.get(unknown.lower(), "try help")
            self._output.note(f"unknown command '{shorten(unknown)}' is ignored; {hint}")
        if index == len(words):
            return
        name = words[index].lower()
        arguments = "".join(line.split(None, index + 1)[index + 1 :])
        if arguments and not COMMANDS[name].arguments:
            self._output.note(f"'{shorten(arguments)}' after {name} is ignored")
        try:
            COMMANDS[name].handle(self, arguments)
        except Exception as error:
            self._output.error(error)

    def end_input(self) -> None:
        """Wait for a job that outlasts the input, as long as the output has a reader."""
        job = self._worker.job
        if job is not None and job.outlasts_input():
            while not self._worker.join(_CHECK_SECONDS) and self._output.has_reader():
                pass

    def close(self, at_once: bool = False) -> None:
        """Stop the running job; if it does not end within `CLOSE_SECONDS`, end the process."""
        has_ended = self._worker.end_jobs(at_once, CLOSE_SECONDS)
        self._worker.close()
        if not has_ended:
            os._exit(0)
        self._output.close_log()

    # Handshake, options and general commands.

    def _uci(self, arguments: str) -> None:
        self._greet(Uci())

    def _ugi(self, arguments: str) -> None:
        self._greet(Ugi())

    def _greet(self, dialect: Uci) -> None:
        """Answer the handshake, which sets the dialect of the session."""
        self._dialect = dialect
        self._output.write(
            f"id name merels {full_version()}",
            "id author the merels authors",
            *map(str, OPTIONS.values()),
            f"{dialect.name}ok",
        )

    def _set_debug(self, arguments: str) -> None:
        if arguments.lower() not in ("on", "off"):
            raise InputError(arguments, "expected debug on or debug off")
        self._debug = arguments.lower() == "on"

    def _is_ready(self, arguments: str) -> None:
        """Open tables and allocate memory, unless a job is running, and answer."""
        if self._worker.job is None:
            self._worker.join()
            try:
                self._engine.prepare()
            except Exception as error:
                self._output.error(error)
        self._output.write("readyok")

    def _quit(self, arguments: str) -> None:
        self.has_quit = True

    def _help(self, arguments: str) -> None:
        lines = (
            f"{name:<10}  {command.arguments and f'{command.arguments}: '}{command.purpose}"
            for name, command in COMMANDS.items()
        )
        self._output.write(*lines)

    def _set_option(self, arguments: str) -> None:
        name, text = split_setting(arguments)
        job = self._worker.job
        if job is not None and not job.clock.stopped:
            raise InputError(name, "options cannot be set during a search; send stop first")
        self._worker.join()
        option = OPTIONS.find(name)
        if option.name == "Debug Log File":
            self._output.open_log(option.check(text))
        self._engine.set(name, text)
        if option.name in RULE_OPTIONS:
            self._change_rules()
        if self._debug and option.kind != "button":
            value = shorten(self._engine.settings[option.name]) or EMPTY
            self._output.note(f"{option.name} is {value}")

    def _change_rules(self) -> None:
        """Set up the last ``position`` line under the new rules.

        If the line is illegal under them, set up the starting position.
        """
        rules = self._engine.settings.rules
        try:
            self._setup = self._setup.under(rules)
        except InputError as error:
            self._setup = Setup().under(rules)
            self._output.note(f"illegal under {rules}: {error}; the starting position is set up")

    # The position.

    def _position(self, arguments: str) -> None:
        self._setup = read_setup(arguments.split(), self._engine.settings.rules, self._setup)
        if self._debug:
            self._output.note(f"position {format_position(self._setup.position)}")

    def _new_game(self, arguments: str) -> None:
        self._worker.end_jobs()
        self._engine.new_game()
        self._setup = Setup().under(self._engine.settings.rules)

    def _flip(self, arguments: str) -> None:
        """Exchange the colours of all men, of the hands and of the side to move."""
        old = self._setup.position
        flipped = Position.of(
            old.rules, old.men[::-1], old.hands[::-1], 1 - old.side, old.plies, old.number
        )
        self._setup = replay(format_position(flipped), (), old.rules)

    def _draw(self, arguments: str) -> None:
        self._output.write(*board_lines(self._setup.position))

    def _fen(self, arguments: str) -> None:
        if arguments not in ("", "17"):
            raise InputError(arguments, "expected fen or fen 17")
        write = format_seventeen if arguments else format_position
        self._output.write(write(self._setup.position))

    def _eval(self, arguments: str) -> None:
        self._output.write(*evaluation_lines(self._setup.position))

    def _query(self, arguments: str) -> None:
        """Answer a question about the position on the board."""
        position = self._setup.position
        outcome = position.outcome()
        results = {WHITE: "p1win", BLACK: "p2win", None: "draw"}
        answers = {
            "p1turn": str(position.side == WHITE).lower(),
            "gameover": str(outcome is not None).lower(),
            "result": "none" if outcome is None else results[outcome.winner],
        }
        if arguments.lower() not in answers:
            raise InputError(arguments, f"expected query {' or '.join(answers)}")
        self._output.write(f"response {answers[arguments.lower()]}")

    # Searching and counting.

    def _go(self, arguments: str) -> None:
        self._start(parse_go(arguments.split(), self._setup.position, self._dialect))

    def _start(self, go: Go) -> None:
        """Start a search or perft once the running job, which is stopped, has ended."""
        position = self._setup.position
        if go.perft is not None:
            for complaint in go.complaints:
                self._output.error(complaint)
            self._worker.start(Perft(self._output, position, go.perft))
        else:
            self._worker.start(Search(
                self._output, self._engine, position, go, self._dialect, self._read_at
            ))  # fmt: skip

    def _stop(self, arguments: str) -> None:
        self._worker.stop()

    def _ponder_hit(self, arguments: str) -> None:
        if (job := self._worker.job) is not None:
            job.clock.ponderhit(self._read_at)

    def _perft(self, arguments: str) -> None:
        """Run perft; without a valid number, report an error instead of starting a search."""
        go = parse_go(["perft", *arguments.split()], self._setup.position, self._dialect)
        if go.perft is None:
            raise InputError(arguments or "perft", "expected a number of plies, as in perft 5")
        self._start(go)

    def _bench(self, arguments: str) -> None:
        self._worker.start(Bench(self._output))


class Command(NamedTuple):
    """A command's handler, and its arguments and purpose as ``help`` prints them."""

    handle: Callable[[Session, str], None]
    arguments: str
    purpose: str


_GO = """\
[wtime T] [btime T] [winc T] [binc T] [p1time T] [p2time T] [p1inc T] [p2inc T] [movestogo N] \
[movetime T] [depth N] [nodes N] [mate N] [infinite] [ponder] [searchmoves M ...] | perft N"""

COMMANDS = {
    "uci": Command(Session._uci, "", "print name and options, and use the uci dialect"),
    "ugi": Command(Session._ugi, "", "print name and options, and use the ugi dialect"),
    "debug": Command(Session._set_debug, "on | off", "report each option and position that is set"),
    "isready": Command(Session._is_ready, "", "print readyok, also during a search"),
    "setoption": Command(Session._set_option, "name N [value V]", "set an option"),
    "ucinewgame": Command(Session._new_game, "", "clear the hash table; go back to startpos"),
    "uginewgame": Command(Session._new_game, "", "clear the hash table; go back to startpos"),
    "position": Command(Session._position, "startpos | fen F [moves M ...]", "set up a position"),
    "go": Command(Session._go, _GO, "search; times are in milliseconds"),
    "stop": Command(Session._stop, "", "stop the search"),
    "ponderhit": Command(Session._ponder_hit, "", "start the clock: the expected move was played"),
    "quit": Command(Session._quit, "", "end the program"),
    "query": Command(Session._query, "p1turn | gameover | result", "print a fact of the position"),
    "d": Command(Session._draw, "", "draw the board"),
    "fen": Command(Session._fen, "[17]", "print the position in 6 or 17 fields"),
    "flip": Command(Session._flip, "", "exchange the colours"),
    "eval": Command(Session._eval, "", "print the terms of the static evaluation"),
    "perft": Command(Session._perft, "N", "count the move sequences of N plies, as go perft does"),
    "bench": Command(Session._bench, "", "search fixed positions, and print nodes and speed"),
    "help": Command(Session._help, "", "print this list"),
}

_HINTS = {
    "?": "help lists the commands",
    "exit": "quit ends the program",
    "start": "quit, and run 'merels play' or 'merels board' to play a game",
}
"""Hints for words that people try at a terminal."""

_AFTER_UNKNOWN = frozenset(
    ("uci", "ugi", "debug", "isready", "setoption", "position", "go", "stop", "ponderhit")
)
"""Commands that are also recognised after unknown words, as UCI requires.

The other commands, such as ``quit`` and ``help``, must be the first word, because they occur in
ordinary sentences.
"""


def _first_command(words: list[str]) -> int:
    """Return the index of the command in a line; the number of words if there is none."""
    for index, word in enumerate(words):
        if word.lower() in (_AFTER_UNKNOWN if index else COMMANDS):
            return index
    return len(words)
