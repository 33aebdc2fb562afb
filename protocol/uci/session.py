"""One conversation with a client: its state, and a handler for each command."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from merels.engine import __version__
from merels.engine.game.errors import InputError, shorten
from merels.engine.game.notation import format_position, format_seventeen
from merels.engine.game.position import WHITE, Move, Position
from merels.engine.search.levels import Level, level_for
from merels.engine.search.limits import Info, Limit
from merels.engine.search.searcher import Searcher
from merels.engine.tools.perft import divide
from merels.protocol.client.options import Option
from merels.protocol.uci.dialects import Uci, Ugi
from merels.protocol.uci.go_command import Go, parse_go
from merels.protocol.uci.options import RULE_OPTIONS, TABLE, Settings, split_setting
from merels.protocol.uci.output import Output
from merels.protocol.uci.position_command import Setup, read_setup, replay
from merels.protocol.uci.show import bench_lines, board_lines, evaluation_lines
from merels.protocol.uci.worker import Worker

if TYPE_CHECKING:
    from merels.protocol.uci.table_cache import TableCache

PATIENCE = 2.0
"""Seconds that a count or a benchmark gets to end by itself when another command would end it: a
script that writes ``go perft 5`` and ``quit`` at once wants the count."""
FAREWELL = 1.0
"""Seconds that work which cannot be stopped is waited for when the process ends."""


class Session:
    """What is known between two lines, and what each command does with it.

    All commands are handled on the thread that calls `handle`; searches and counts run on the
    worker's. A running search has its own position and limits, so no command can disturb it.
    """

    def __init__(self, output: Output) -> None:
        self.over = False
        self._output = output
        self._dialect = Uci()
        self._options = Settings()
        self._setup = Setup()
        self._searcher = Searcher(hash_mb=self._options.number("Hash"))
        self._worker = Worker()
        self._stopping = threading.Event()
        self._hit = threading.Event()
        self._debug = False
        self._patience = 0.0
        self._table_cache: TableCache | None = None

    def handle(self, line: str) -> None:
        """Does what one line says; whatever it holds, the session goes on."""
        self._output.received(line)
        words = line.split()
        start = _first_command(words)
        if start:
            noise = " ".join(words[:start])
            self._output.note(f"unknown command '{shorten(noise)}' is ignored; try help")
        if start == len(words):
            return
        name = words[start].lower()
        rest = "".join(line.split(None, start + 1)[start + 1 :])
        if rest and name in _ALONE:
            self._output.note(f"'{shorten(rest)}' behind {name} is ignored")
        try:
            COMMANDS[name][0](self, rest)
        except Exception as error:
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        """Says what is wrong; even a defect, which is named as one, must not cost the game."""
        if isinstance(error, InputError):
            self._output.error(error)
        else:
            self._output.error(f"internal, {type(error).__name__}: {shorten(str(error), 200)}")

    def close(self, at_once: bool = False) -> None:
        """Ends whatever runs; ends the process where that does not end.

        A count or a benchmark gets some time to end by itself, but not ``at_once``.
        """
        if not at_once:
            self._worker.join(self._patience)
        self._stop()
        self._worker.close()
        if not self._worker.join(FAREWELL):
            os._exit(0)
        self._output.close_log()

    # The conversation.

    def _uci(self, rest: str) -> None:
        self._greet(Uci())

    def _ugi(self, rest: str) -> None:
        self._greet(Ugi())

    def _greet(self, dialect: Uci) -> None:
        """Answers the handshake, which chooses the dialect of all that follows."""
        self._dialect = dialect
        self._output.write(
            f"id name merels {__version__}",
            "id author the merels authors",
            *map(str, TABLE.values()),
            f"{dialect.name}ok",
        )

    def _set_debug(self, rest: str) -> None:
        if rest.lower() not in ("on", "off"):
            raise InputError(rest, "expected debug on or debug off")
        self._debug = rest.lower() == "on"

    def _is_ready(self, rest: str) -> None:
        """Allocates what is put off until now, unless a search is using it, and answers."""
        if not self._worker.busy:
            self._worker.join()
            try:
                self._prepare()
            except Exception as error:
                self._fail(error)
        self._output.write("readyok")

    def _prepare(self, limit: Limit = Limit()) -> None:
        """Gets what a search needs: tables, and memory, with less for Hash where it is short."""
        if self._table_cache is None:
            # Put off until now: the handshake must not wait for what opening tables needs.
            from merels.protocol.uci.table_cache import TableCache

            self._table_cache = TableCache()
        self._searcher.tables, problems = self._table_cache.fetch(
            self._options.rules,
            self._options["TablePath"],
            wait=limit.untimed,
            stopped=self._stopping.is_set,
        )
        for problem in problems:
            self._output.note(f"error {problem}; the engine plays on without it")
        try:
            self._searcher.prepare()
        except InputError as error:
            wanted = self._options.number("Hash")
            if wanted <= self._searcher.hash_mb:
                self._searcher.resize(wanted)
                raise
            self._output.error(f"{error}; {self._searcher.hash_mb} MiB are used instead")
            self._options.set("Hash", str(self._searcher.hash_mb))
            self._searcher.prepare()

    def _register(self, rest: str) -> None:
        self._output.note("no registration is needed")

    def _quit(self, rest: str) -> None:
        self.over = True

    def _help(self, rest: str) -> None:
        width = max(map(len, COMMANDS))
        self._output.write(*(f"{name:<{width}}  {text}" for name, (_, text) in COMMANDS.items()))

    def _compiler(self, rest: str) -> None:
        implementation = sys.implementation.name
        python = ".".join(map(str, sys.version_info[:3]))
        self._output.write(f"merels {__version__}, {implementation} {python}, {sys.platform}")

    # Options.

    def _set_option(self, rest: str) -> None:
        name, text = split_setting(rest)
        if self._worker.busy and not self._stopping.is_set():
            raise InputError(name, "expected no setoption during a search; the old value is kept")
        self._worker.join()
        kept = self._options.copy()
        try:
            option = self._options.set(name, text)
            self._apply(option)
        except InputError:
            self._options = kept
            raise
        if self._debug and option.kind != "button":
            self._output.note(f"{option.name} is {self._options[option.name]}")

    def _apply(self, option: Option) -> None:
        """Makes an option's new value felt where it is not just looked up."""
        options = self._options
        if option.name == "Hash":
            self._searcher.resize(options.number("Hash"))
        elif option.name == "Threads":
            self._searcher.threads = options.number("Threads")
        elif option.name == "Clear Hash":
            self._searcher.clear()
        elif option.name == "Debug Log File":
            self._output.open_log(options["Debug Log File"])
        elif option.name in RULE_OPTIONS:
            self._change_rules()

    def _change_rules(self) -> None:
        """Reads the position and its moves again under the rules that the options now say."""
        rules = self._options.rules
        try:
            self._setup = self._setup.under(rules)
        except InputError as error:
            self._setup = Setup().under(rules)
            self._output.note(f"the moves are not legal under {rules}: {error}; back to the start")

    # The position.

    def _position(self, rest: str) -> None:
        self._setup = read_setup(rest.split(), self._options.rules, known=self._setup)
        if self._debug:
            self._output.note(f"position {format_position(self._setup.position)}")

    def _new_game(self, rest: str) -> None:
        self._finish()
        self._searcher.clear()
        self._setup = Setup().under(self._options.rules)

    def _flip(self, rest: str) -> None:
        """Swaps the colours: the same position for the side to move, seen from the other side."""
        old = self._setup.position
        flipped = Position(
            old.rules, old.men[::-1], old.hands[::-1], 1 - old.side, old.plies, old.number
        )
        self._setup = replay(format_position(flipped), (), old.rules)

    def _draw(self, rest: str) -> None:
        self._output.write(*board_lines(self._setup.position))

    def _fen(self, rest: str) -> None:
        if rest not in ("", "17"):
            raise InputError(rest, "expected fen or fen 17")
        write = format_seventeen if rest else format_position
        self._output.write(write(self._setup.position))

    def _eval(self, rest: str) -> None:
        self._output.write(*evaluation_lines(self._setup.position))

    def _query(self, rest: str) -> None:
        """Answers a question about the position on the board."""
        position = self._setup.position
        outcome = position.outcome()
        answers = {
            "p1turn": _boolean(position.side == WHITE),
            "gameover": _boolean(outcome is not None),
            "result": "none"
            if outcome is None
            else "draw"
            if outcome.winner is None
            else ("p1win", "p2win")[outcome.winner],
        }
        answer = answers.get(rest.lower())
        if answer is None:
            raise InputError(rest, f"expected query {' or '.join(answers)}")
        self._output.write(f"response {answer}")

    # Searching and counting.

    def _go(self, rest: str) -> None:
        go = parse_go(rest.split(), self._setup.position, self._dialect)
        self._finish()
        for complaint in go.complaints:
            self._output.error(complaint)
        if go.perft is not None:
            self._count(go.perft)
            return
        self._search(go)

    def _stop(self, rest: str = "") -> None:
        if self._worker.busy:
            self._stopping.set()
            self._hit.set()
            self._searcher.stop()

    def _ponder_hit(self, rest: str) -> None:
        if self._worker.busy:
            self._hit.set()
            self._searcher.ponderhit()

    def _perft(self, rest: str) -> None:
        """Counts; without a number nothing happens, where ``go`` alone would search for ever."""
        if parse_go(["perft", *rest.split()], self._setup.position, self._dialect).perft is None:
            raise InputError(rest or "perft", "expected perft N, the plies to count")
        self._go(f"perft {rest}")

    def _search(self, go: Go) -> None:
        """Searches on the worker; whatever happens there, one bestmove comes of it."""
        position, dialect, options = self._setup.position, self._dialect, self._options
        show_wdl = options.flag("UCI_ShowWDL")
        multipv, overhead = options.number("MultiPV"), options.number("Move Overhead") / 1000
        level = self._level()

        def report(info: Info) -> None:
            self._output.write(dialect.info(info, show_wdl))

        def job() -> None:
            try:
                self._prepare(Limit() if go.infinite or go.ponder else go.limit)
                result = self._searcher.search(
                    position, go.limit, report, root_moves=go.root_moves, infinite=go.infinite,
                    ponder=go.ponder, multipv=multipv, overhead=overhead, level=level,
                )
                move, ponder = result.move, result.ponder
                if result.missing:
                    wanted = self._searcher.threads
                    had = wanted - result.missing
                    self._output.error(f"the system allows {had} of {wanted} threads; using those")
                if result.cut:
                    self._output.note(f"depth {(result.info.depth or 0) + 1} was cut short")
            except Exception as error:
                self._fail(error)
                if go.infinite:
                    self._stopping.wait()
                elif go.ponder:
                    self._hit.wait()
                move, ponder = self._any_move(position, go.root_moves), None
            self._worker.done()
            self._output.write(dialect.bestmove(move, ponder))

        try:
            self._begin(job)
        except RuntimeError as error:  # No thread is to be had, so none can wait for stop either.
            self._fail(error)
            self._output.write(dialect.bestmove(self._any_move(position, go.root_moves), None))

    def _any_move(self, position: Position, root_moves: Sequence[Move]) -> Move | None:
        """A move that needs no search, for where none can be made."""
        self._output.write("info depth 0 score cp 0")
        return None if position.outcome() else (root_moves or position.legal_moves())[0]

    def _level(self) -> Level | None:
        """The level to play at; full strength in analysis, where a weak answer is of no use."""
        if self._options.flag("UCI_LimitStrength") and not self._options.flag("UCI_AnalyseMode"):
            level = level_for(self._options.number("UCI_Elo"))
            return replace(level, seed=self._options.number("LevelSeed"))
        return None

    def _count(self, depth: int) -> None:
        """Prints the leaves below each move, and their sum, from the worker."""
        position = self._setup.position

        def job() -> None:
            total = 0 if depth else 1
            for move, leaves in divide(position, depth, self._stopping.is_set) if depth else ():
                total += leaves
                self._output.write(f"{move}: {leaves}")
            if self._stopping.is_set():
                self._output.note("the count was stopped; its sum is of what was counted")
            self._worker.done()
            self._output.write("", f"Nodes searched: {total}")

        self._begin(job, PATIENCE)

    def _bench(self, rest: str) -> None:
        """Runs the benchmark on the worker; it has a search of its own."""
        from merels.engine.tools.bench import run

        self._finish()

        def job() -> None:
            nodes, seconds = run()
            self._worker.done()
            self._output.write(*bench_lines(nodes, seconds))

        self._begin(job, PATIENCE)

    def _finish(self) -> None:
        """Ends what runs, and waits for its last line."""
        self._worker.join(self._patience)
        self._stop()
        self._worker.join()

    def _begin(self, job: Callable[[], None], patience: float = 0.0) -> None:
        """Starts a job that a later stop reaches, even one that comes before the job is at work.

        Other commands that end it give it ``patience`` seconds to end by itself.
        """

        def guarded() -> None:
            try:
                job()
            except Exception as error:
                self._fail(error)

        self._stopping.clear()
        self._hit.clear()
        self._patience = patience
        self._searcher.arm()
        self._worker.start(guarded)


Handler = Callable[[Session, str], None]

COMMANDS: dict[str, tuple[Handler, str]] = {
    "uci": (Session._uci, "name the engine and its options; speak uci from now on"),
    "ugi": (Session._ugi, "the same; speak ugi from now on"),
    "debug": (Session._set_debug, "on | off: say more"),
    "isready": (Session._is_ready, "answer readyok, also during a search"),
    "setoption": (Session._set_option, "name N [value V]: set an option"),
    "register": (Session._register, "nothing to register"),
    "ucinewgame": (Session._new_game, "forget the last game"),
    "uginewgame": (Session._new_game, "the same"),
    "position": (Session._position, "startpos | fen F [moves T ...]: set the board up"),
    "go": (
        Session._go,
        "[wtime T] [btime T] [winc T] [binc T] [p1time T] [p2time T] [p1inc T] [p2inc T] "
        "[movestogo N] [movetime T] [depth N] [nodes N] [mate N] [infinite] [ponder] "
        "[searchmoves T ...] | perft N: search; times in ms",
    ),
    "stop": (Session._stop, "end the search now"),
    "ponderhit": (Session._ponder_hit, "the move pondered on was played: the clock runs"),
    "quit": (Session._quit, "end the program"),
    "query": (Session._query, "p1turn | gameover | result: ask about the position"),
    "d": (Session._draw, "draw the board"),
    "fen": (Session._fen, "[17]: print the position's text, of 6 or of 17 fields"),
    "flip": (Session._flip, "swap the colours"),
    "eval": (Session._eval, "explain the static evaluation"),
    "perft": (Session._perft, "N: count the move sequences of N plies, as go perft does"),
    "bench": (Session._bench, "search fixed positions; prints nodes and nodes per second"),
    "compiler": (Session._compiler, "print versions"),
    "help": (Session._help, "print this list"),
}

_AFTER_NOISE = frozenset(
    ("uci", "ugi", "debug", "isready", "setoption", "position", "go", "stop", "ponderhit")
)
"""The commands that are looked for behind words that are none, as the protocol asks.

Those that end the program or print a lot are not: such words occur in plain text.
"""

_ALONE = frozenset(COMMANDS) - {
    "debug", "setoption", "register", "position", "go", "query", "fen", "perft"
}
"""The commands that no word belongs behind."""


def _first_command(words: list[str]) -> int:
    """The index of the line's command; the number of words where there is none."""
    for index, word in enumerate(words):
        if word.lower() in (_AFTER_NOISE if index else COMMANDS):
            return index
    return len(words)


def _boolean(value: bool) -> str:
    return "true" if value else "false"
