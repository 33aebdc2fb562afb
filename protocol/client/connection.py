"""A running engine and the conversation with it: greeting, readiness, ``go`` and its answers.

Tournaments use it as it is; `merels.protocol.client.engine.Engine` plays and analyses through it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from threading import Lock
from time import monotonic_ns

from merels.engine.common.errors import quoted, shorten
from merels.engine.game.position import Position
from merels.protocol.client.answers import Answer, AnswerFinder
from merels.protocol.client.any_engine import Call
from merels.protocol.client.dialects import dialect
from merels.protocol.client.engine_spec import EngineSpec
from merels.protocol.client.scanner import count_junk, last_answer
from merels.protocol.common.options import EMPTY, Options, parse_option, setoption
from merels.protocol.process.errors import EngineError, EngineTerminated, EngineTimeout
from merels.protocol.process.pipe import MILLISECOND, Trace
from merels.protocol.process.poll_pipe import open_pipe
from merels.protocol.process.process import QUIT_SECONDS, EngineProcess

START_SECONDS = 10.0
PING_SECONDS = 15.0
SEND_SECONDS = 5.0
"""Time for an engine to read a command, in seconds."""
QUIT_SEND_SECONDS = 0.1
"""Seconds that it may take to send ``quit``."""
STOP_SECONDS = 1.0
"""Time for an engine to answer ``stop``, in seconds."""
STRAY_SECONDS = 0.5
"""Time for an engine to end a search after an invalid ``bestmove``, in seconds."""
FOREVER = 1 << 60
"""Nanoseconds: 36 years."""
MOST_OUTPUT = 1 << 30
"""Bytes that an engine may write in one search."""
IDLE_SHARE = 0.01
"""Share of a processor below which an engine counts as idle."""
LONGEST_NAME = 200
"""Characters of an engine's name, and of its author's, that are kept."""
_MOST_OPTIONS = 512
_SLICE = 500_000_000
"""Nanoseconds after which a wait looks whether another thread has interrupted it."""
_MOST_STRAYS = 64
"""Pieces of what an engine wrote unasked that are read before it is asked something."""


class Connection:
    """A conversation with a running engine, one search at a time.

    ``name``, ``author`` and ``options`` are those of the greeting. ``timeout`` is the time to
    answer ``isready``, in seconds. ``owing`` is True while the last ``go`` is not answered yet.
    ``searches`` counts the searches, and so numbers the latest. ``strays`` counts each ``bestmove``
    that came unasked or belonged to an earlier search.

    One thread uses a connection; only `stop_search`, `send_quit`, `terminate` and `kill` are free
    for others. Any method may raise `EngineTerminated` when the process has ended, and
    `EngineTimeout` when it does not answer or does not read. Times that are arguments of searches
    are in nanoseconds, others in seconds.
    """

    name = ""
    author = ""

    def __init__(
        self, spec: EngineSpec, *, stderr: str | Callable[[bytes], object] | None = None,
        trace: Trace | None = None,
    ) -> None:
        """Start the process and send the greeting; `greet` must follow, and reads the answer.

        So several engines can start side by side. Standard error is appended to the file
        ``stderr``, or passed to that function in whole lines. `EngineError` if the engine cannot be
        started.
        """
        self.dialect = dialect(spec.protocol)
        self.options = Options()
        self.timeout = PING_SECONDS
        self.owing = False
        self._call: Call | None = None
        self._process = EngineProcess(spec.command, spec.directory, stderr, spec.resources)
        self.pid = self._process.pid
        self._pipe = open_pipe(self._process, trace)
        self._answers = AnswerFinder(self.dialect.inside, self._pipe.put_back)
        self.searches = self.strays = 0
        self._sends_stray_bestmoves = False
        """Whether it has ever sent an unasked ``bestmove``."""
        self._silence = self._idle = FOREVER
        self._search_start = 0
        """When the latest search began."""
        self._quitting = Lock()
        self._quit_sent = False
        self._printed = b""
        """Whole lines that it printed last since it was asked, and that are no answer."""
        self._started = monotonic_ns()
        # If the engine has ended, `greet` reads the rest of its output, then raises the error.
        with suppress(EngineTerminated):
            self._send(self.dialect.hello)

    # Before a search.

    def greet(self, timeout: float = START_SECONDS) -> None:
        """Read the engine's name and options, until ``timeout`` seconds after it was started."""
        deadline = self._started + int(timeout * 1e9)
        while (line := self._pipe.read_line(deadline)) is not None:
            text = line.decode("utf-8", "replace")
            words = text.split(None, 2)
            first = words[0].lower() if words else ""
            if first == self.dialect.ready.decode():
                self._printed = b""
                return
            self._note(line)
            if first == "id" and len(words) == 3 and words[1] in ("name", "author"):
                setattr(self, words[1], shorten(words[2], LONGEST_NAME))
            elif first == "option" and len(self.options) < _MOST_OPTIONS:
                if (option := parse_option(text)) is not None:
                    self.options.add(option)
        hello = self.dialect.hello.decode().strip()
        raise self.timed_out(f"gives no answer to {hello} in {timeout:g} s")

    def send_option(self, name: str, text: str) -> None:
        """Set an option whose name and text were checked; an empty text presses a button."""
        if not text and name in self.options and self.options[name].kind == "string":
            text = EMPTY
        self._send(f"{setoption(name, text or None)}\n".encode())

    def send_new_game(self) -> None:
        """Send ``ucinewgame`` and ``isready``; `await_ready` must follow."""
        self._drop()
        self._send(self.dialect.new_game + b"isready\n")

    def ping(
        self, timeout: float | None = None, reader: Callable[[bytes], None] | None = None
    ) -> None:
        """Wait until the engine has carried out every command, ``timeout`` seconds at most.

        ``reader`` takes the lines of a running search; None drops them.
        """
        if reader is None:
            self._drop()
        self._send(b"isready\n")
        self.await_ready(timeout, reader)

    def await_ready(
        self, timeout: float | None = None, reader: Callable[[bytes], None] | None = None
    ) -> None:
        """Read up to ``readyok``; ``reader`` takes the lines before it, None drops them."""
        self._printed = b""
        seconds = self.timeout if timeout is None else timeout
        deadline = monotonic_ns() + int(seconds * 1e9)
        while (line := self.read_line(deadline)) is not None:
            if line.lower() == b"readyok":
                return
            if reader is not None:
                reader(line)
        raise self.timed_out(f"gives no answer to isready in {seconds:g} s")

    def watch_silence(self, seconds: float | None, idle: float | None = None) -> None:
        """Raise `EngineTimeout` from a search whose engine is dead, deaf or idle.

        After ``seconds`` without a byte the engine is sent ``isready``, which every engine must
        answer while it searches. It is deaf when nothing arrives for as long again. An engine that
        answers, but neither writes anything else nor uses a processor for ``idle`` seconds, has
        lost its search; without ``idle``, or where the system does not count processor time, that
        is not checked. ``seconds`` None ends the watch.
        """
        self._silence = FOREVER if seconds is None else int(seconds * 1e9)
        self._idle = FOREVER if idle is None else int(idle * 1e9)

    def widen_output(self) -> None:
        """Enlarge the buffer for an engine's output while it ponders, when nobody reads it."""
        self._process.widen_output()

    # Searches.

    def ask(self, position: Position, line: bytes, go: bytes, timeout: int) -> Answer | None:
        """The engine's answer in ``position``, which the ``position`` line describes, to ``go``.

        None means that the answer is still owed: see `stop`.
        """
        if self.owing or self._sends_stray_bestmoves:
            self._settle()
        if self.dialect.in_steps:
            return self.dialect.ask(self._search, position, line, go, timeout)
        return self._search(line + b"\n" + go, timeout)

    def begin(self, request: bytes) -> int:
        """Send a request that ends in a ``go``; returns when that was: see `wait_answer`."""
        if self.owing or self._sends_stray_bestmoves:
            self._settle()
        self._clear()
        self.searches += 1
        self._send(request)
        if self._call is not None:
            self._call.started(self.searches)
        return self._search_start

    def _search(self, request: bytes, timeout: int) -> Answer | None:
        """Send a request that ends in a ``go``, and wait for the answer."""
        limit = timeout if timeout < self._silence else self._silence
        # A search that may be interrupted is waited for in `wait_answer`.
        wait = limit if self._call is None else 0
        self.owing = True
        self.searches += 1
        self._search_start = monotonic_ns()
        try:
            lines = self._pipe.exchange(request, self._search_start + limit, wait, self._clear)
        except EngineTimeout as error:
            self._printed = b""
            if limit < timeout:
                raise self.timed_out(error.what) from None
            return None
        usual = last_answer(lines, self.dialect.inside) if lines else None
        if lines and usual is not None:
            text, info = usual
            self.owing = False
            self._answers.junk += count_junk(lines)
            elapsed = self._pipe.arrived - self._search_start
            return Answer(text, info, elapsed if elapsed > 0 else 0)
        self._answers.info = b""
        found = self._answers.find(lines) if lines else None
        if found is None:
            self._printed = lines or b""
            if self._call is not None:
                self._call.started(self.searches)
            return self.wait_answer(self._search_start, timeout)
        return self._answer(found, self._search_start)

    def _clear(self) -> None:
        """Begin a search; earlier output of the engine belongs to an earlier search."""
        self.owing = False
        self._drop()
        self._answers.info = self._printed = b""
        self.owing = True
        self._search_start = monotonic_ns()

    def _settle(self) -> None:
        """Read the answer to an earlier search; `EngineTimeout` if it does not come."""
        if self.owing and self.wait_answer(monotonic_ns(), int(self.timeout * 1e9)) is None:
            raise self.timed_out(f"gives no answer to an earlier search in {self.timeout:g} s")
        if self._sends_stray_bestmoves:
            self.ping()

    def _drop(self) -> None:
        """Drop everything that has arrived unasked, and take note of a ``bestmove`` among it."""
        for _ in range(_MOST_STRAYS):
            lines = self._pipe.receive(0)
            if lines is None:
                return
            before = self.strays
            self._count_answers(lines)
            self._sends_stray_bestmoves = self._sends_stray_bestmoves or self.strays > before

    def wait_answer(self, start: int, timeout: int) -> Answer | None:
        """Wait for the ``bestmove`` of a request sent at ``start``, until ``timeout`` after it."""
        silence, most = self._silence, self._pipe.received + MOST_OUTPUT
        longest = silence if self._call is None else _SLICE
        last_read, now = start, monotonic_ns()
        idle_since, used = now, None
        probed = False
        while True:
            left = timeout - (now - start)
            if self._call is not None:
                left = self.search_deadline(start, start + timeout) - now
            if left < 0:
                return self.unended_answer(start)
            if now - last_read > silence:
                if (answer := self.unended_answer(start)) is not None:
                    return answer
                if probed:
                    raise self.timed_out(f"does not respond for {2 * silence / 1e9:g} s")
                before, used = used, self._process.cpu_seconds()
                if before is None or used is None or used - before > IDLE_SHARE * silence / 1e9:
                    idle_since = now
                elif now - idle_since > self._idle:
                    seconds = f"{self._idle / 1e9:g} s"
                    raise self.timed_out(f"answers isready but does nothing else for {seconds}")
                self._send(b"isready\n")
                probed, last_read = True, now
            wait = min(left, longest, silence - (now - last_read))
            lines = self._pipe.receive(wait // MILLISECOND + 1)
            now = monotonic_ns()
            if lines is not None:
                text = self._answers.find(lines)
                if text is not None:
                    return self._answer(text, start)
                self._note(lines)
                probed, last_read = False, now
                if lines.strip().lower() != b"readyok":
                    used = None
                if self._pipe.received > most:
                    raise self.timed_out(f"writes more than {MOST_OUTPUT >> 20} MiB for a move")

    def search_deadline(self, start: int, deadline: int) -> int:
        """The deadline of a search that began at ``start``: an interruption brings it forward."""
        if self._call is None or self._call.interrupted is None:
            return deadline
        return min(deadline, max(start, self._call.interrupted) + int(self.timeout * 1e9))

    def _answer(self, text: bytes, start: int) -> Answer:
        """The answer that was found."""
        self.owing = False
        elapsed = self._pipe.arrived - start
        return Answer(text, self._answers.info, elapsed if elapsed > 0 else 0)

    def unended_answer(self, start: int) -> Answer | None:
        """An answer whose line has not ended, taken as it is; None without one.

        It was given when it arrived, not when the wait for its end was over.
        """
        text = self._answers.find(self._pipe.tail + b"\n") if self._pipe.tail else None
        if not text:
            return None
        self._pipe.end_line()
        return self._answer(text, start)

    def read_line(self, deadline: int) -> bytes | None:
        """The next line, without its end and outer spaces, or None at the deadline."""
        line = self._pipe.read_line(deadline)
        if line is not None:
            self._note(line)
            self._count_answers(line + b"\n")
        return line

    def _count_answers(self, lines: bytes) -> None:
        """Count each ``bestmove`` that is no longer, or not, awaited."""
        if answers := self._answers.count(lines):
            self.strays += answers - self.owing
            self.owing = False

    def stop(self, seconds: float = STOP_SECONDS) -> Answer | None:
        """Stop a search and wait that long for its answer; None if the engine still owes it."""
        start = monotonic_ns()
        self._send(b"stop\n", seconds)
        return self.wait_answer(start, int(seconds * 1e9))

    def answer_after_stray(self, answer: Answer) -> Answer | None:
        """Return the answer after an invalid one, if the invalid one belonged to an earlier go.

        The search that was asked for then still runs, and is ended. None if nothing follows.
        """
        late = self.stop(STRAY_SECONDS)
        if late is None:
            return None
        self._sends_stray_bestmoves = True
        self.strays += 1
        return replace(late, elapsed=answer.elapsed + late.elapsed)

    def ponderhit(self, timeout: int) -> Answer | None:
        """The answer, as from `ask`, to the search that went on while the opponent thought."""
        start = monotonic_ns()
        wait = min(timeout, self._silence)
        try:
            self._pipe.send(b"ponderhit\n", start + wait)
        except EngineTimeout:
            if wait < timeout:
                raise
            return None
        return self.wait_answer(start, timeout)

    @property
    def junk(self) -> int:
        """The number of lines so far that were no part of the protocol."""
        return self._answers.junk

    # Its end.

    def last_error(self) -> str:
        """The last line that it has written to standard error; empty if there is none."""
        return self._process.errors.last_line()

    def last_output(self) -> str:
        """The engine's last output since its latest request, and last error output, for a message.

        Empty if there is nothing.
        """
        words = ""
        lines = [line for line in self._printed.split(b"\n") if line.strip()]
        if self._pipe.tail.strip() or not lines and self._pipe.tail:
            words = f"; last output, without a line feed: {quoted(self._pipe.tail)}"
        elif self._printed:
            words = f"; last output: {quoted(lines[-1] if lines else self._printed[:-1])}"
        error = self.last_error()
        return f"{words}; last error output: '{error}'" if error else words

    def timed_out(self, what: str) -> EngineTimeout:
        """Return the error that the engine does ``what``, with its last output."""
        return EngineTimeout(what + self.last_output())

    def _note(self, lines: bytes) -> None:
        """Keep lines that are no answer for `last_output`; blank ones only without others."""
        text = lines.strip()
        if text != b"readyok" and (text or not self._printed):
            self._printed = lines

    def stop_search(self, search: int) -> None:
        """Ask a search that another thread waits for to end now; a later one is left in peace."""
        deadline = monotonic_ns() + int(STOP_SECONDS * 1e9)
        self._pipe.interject(b"stop\n", deadline, lambda: search == self.searches)

    def enter(self, call: Call | None) -> Call | None:
        """Have searches belong to a call: see `AnyEngine.enter`."""
        before, self._call = self._call, call
        return before

    def kill(self) -> None:
        """End the process at once: the thread that waits for its answer gets `EngineTerminated`.

        `close` must still be called, and frees what the engine held.
        """
        self._process.kill()

    def terminate(self) -> None:
        """Ask the process to end, between `send_quit` and `kill`; `close` must still be called."""
        self._process.terminate()

    def send_quit(self) -> None:
        """The first half of `close`: several engines can end side by side. Any thread may."""
        with self._quitting:
            if self._quit_sent:
                return
            self._quit_sent = True
            words = b"stop\nquit\n" if self.owing else b"quit\n"
            deadline = monotonic_ns() + int(QUIT_SEND_SECONDS * 1e9)
            with suppress(EngineError):
                self._pipe.interject(words, deadline, lambda: True)
            self._pipe.close_input(QUIT_SEND_SECONDS)

    def close(self, patience: float = QUIT_SECONDS) -> None:
        """End the engine within about ``patience`` seconds, and leave no process of it."""
        try:
            self.send_quit()
            self._pipe.close_input()
        finally:
            try:
                self._process.close(patience)
            finally:
                self._pipe.close()

    def _send(self, data: bytes, seconds: float = SEND_SECONDS) -> None:
        """Send whole lines."""
        try:
            self._pipe.send(data, monotonic_ns() + int(seconds * 1e9))
        except EngineTimeout as error:
            raise self.timed_out(error.what) from None
