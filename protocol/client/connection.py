"""The connection to a running engine: greeting, ``isready``, ``go`` and the answers.

Tournaments use it directly; `merels.protocol.client.engine.Engine` is the interface for programs.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from threading import Lock
from time import monotonic_ns

from merels.engine.common.errors import quoted, shorten
from merels.engine.game.position import Position
from merels.protocol.client.answers import Answer, AnswerFinder
from merels.protocol.client.any_engine import Stop
from merels.protocol.client.dialects import dialect
from merels.protocol.client.engine_spec import EngineSpec
from merels.protocol.common.options import EMPTY, Options, parse_option, setoption
from merels.protocol.process.errors import EngineError, EngineTerminated, EngineTimeout
from merels.protocol.process.pipe import MILLISECOND, Trace
from merels.protocol.process.process import QUIT_SECONDS, EngineProcess
from merels.protocol.process.windows import open_pipe

START_SECONDS = 10.0
"""Time for an engine to start and answer the greeting, in seconds."""
PING_SECONDS = 15.0
"""Time for an engine to answer ``isready``, in seconds."""
SEND_SECONDS = 5.0
"""Time for an engine to read a command, in seconds."""
QUIT_SEND_SECONDS = 0.1
"""Time for an engine to read ``quit``, in seconds."""
STOP_SECONDS = 1.0
"""Time for an engine to answer ``stop``, in seconds."""
STRAY_SECONDS = 0.5
"""Time for an engine to end a search after an invalid ``bestmove``, in seconds."""
FOREVER = 1 << 60
"""A timeout of 36 years, in nanoseconds."""
MAX_OUTPUT = 1 << 30
"""Maximum output of one search, in bytes."""
IDLE_SHARE = 0.01
"""Share of one processor below which an engine is idle."""
CHECK_INTERVAL = 500_000_000
"""Interval at which a wait checks for a stop by another thread, in nanoseconds."""
_WORD = re.compile(rb"\w+")
_LIMIT_WORDS = frozenset((b"go", b"depth", b"nodes", b"mate"))
"""One of these words is in an error about a ``go`` without a time limit."""
_MAX_NAME_LENGTH = 200
"""Maximum length of an engine's name and of its author's, in characters."""
_MAX_OPTIONS = 512
"""Maximum number of options that are kept."""
_MAX_KEPT_LINES = 1 << 12
"""Maximum number of lines of a search that a ping keeps; older lines are dropped."""
_MAX_CHUNKS = 64
"""Maximum number of chunks read before a request, since an engine may never stop writing."""


class Connection:
    """A connection to a running engine, which runs one search at a time.

    name, author, options  from the engine's greeting
    timeout   time to answer ``isready``, in seconds
    owing     whether the engine still owes the answer to the last ``go``
    searches  number of searches so far, which is also the number of the latest search
    strays    number of ``bestmove`` lines without a search, or for an earlier search

    One thread uses a connection; other threads may call `stop_search`, `send_quit`, `terminate` and
    `kill` only. Any method may raise `EngineTerminated` if the process has ended, and
    `EngineTimeout` if the engine does not answer or does not read its input. A ``start``, a
    ``deadline`` and the ``timeout`` of a search are in nanoseconds, all other times in seconds.
    """

    name = ""
    author = ""

    def __init__(
        self, spec: EngineSpec, *, stderr: str | Callable[[bytes], object] | None = None,
        trace: Trace | None = None,
    ) -> None:
        """Start the process and send the greeting; call `greet` to read the answer.

        The two steps are separate so that several engines can start in parallel. Standard error is
        appended to the file ``stderr``, or passed to the function ``stderr`` in whole lines.
        ``trace`` is called with all lines sent and received. `EngineError` if the engine cannot be
        started.
        """
        self.dialect = dialect(spec.protocol)
        self.options = Options()
        self.timeout = PING_SECONDS
        self.owing = False
        self._process = EngineProcess(spec.command, spec.directory, stderr, spec.resources)
        self.pid = self._process.pid
        self._pipe = open_pipe(self._process, trace)
        self._answers = AnswerFinder(self.dialect.inside, self._pipe.put_back)
        self.searches = self.strays = 0
        self._silence = self._idle = FOREVER
        """The limits of `watch_silence`, in nanoseconds."""
        self._search_start = 0
        """Start of the latest search, in nanoseconds of `monotonic_ns`."""
        self._quit_lock = Lock()
        self._quit_sent = False
        self._last_lines = b""
        """The latest lines since the last request, other than its answer."""
        self._started = monotonic_ns()
        # If the engine has ended, `greet` reads its remaining output and raises the error.
        with suppress(EngineTerminated):
            self._send(self.dialect.hello)

    # Before a search.

    def greet(self, timeout: float = START_SECONDS) -> None:
        """Read the engine's name and options.

        `EngineTimeout` if the greeting is not complete ``timeout`` seconds after the start.
        """
        deadline = self._started + int(timeout * 1e9)
        hello, ready = self.dialect.hello.decode().strip(), self.dialect.ready.decode()
        while (line := self._greeting_line(deadline, ready)) is not None:
            text = line.decode("utf-8", "replace")
            words = text.split(None, 2)
            first = words[0].lower() if words else ""
            if first == ready:
                self._last_lines = b""
                return
            self._keep_last(line)
            if first == "id" and len(words) == 3 and words[1] in ("name", "author"):
                setattr(self, words[1], shorten(words[2], _MAX_NAME_LENGTH))
            elif first == "option" and len(self.options) >= _MAX_OPTIONS:
                self.options.dropped += 1
            elif first == "option" and (option := parse_option(text)) is not None:
                self.options.add(option)
        raise self.timeout_error(f"gives no answer to {hello} in {timeout:g} s")

    def _greeting_line(self, deadline: int, ready: str) -> bytes | None:
        """Return the next line, or None at the deadline; if the process ends, name ``ready``."""
        try:
            return self._pipe.read_line(deadline)
        except EngineTerminated as error:
            raise EngineTerminated(f"ends before {ready}, {error.how}") from None

    def send_option(self, name: str, text: str) -> None:
        """Set an option to a text from `Option.check`.

        An empty text empties a string option, and presses a button.
        """
        if not text and name in self.options and self.options[name].kind == "string":
            text = EMPTY
        self._send(f"{setoption(name, text or None)}\n".encode())

    def send_new_game(self) -> None:
        """Send ``ucinewgame`` and ``isready``; call `await_ready` next."""
        self._drop_output()
        self._send(self.dialect.new_game + b"isready\n")

    def ping(self, timeout: float | None = None, keep: bool = False) -> None:
        """Send ``isready`` and wait for ``readyok``; see `await_ready`.

        The engine has then executed every earlier command, except a search, which goes on.
        """
        if not keep:
            self._drop_output()
        self._send(b"isready\n")
        self.await_ready(timeout, keep)

    def await_ready(self, timeout: float | None = None, keep: bool = False) -> None:
        """Wait for ``readyok``, at most ``timeout`` seconds; None is the connection's timeout.

        Lines before it are dropped. With ``keep``, they are those of a running search, and the last
        4096 of them can be read again. `EngineTimeout` if ``readyok`` does not arrive.
        """
        self._last_lines = b""
        seconds = self.timeout if timeout is None else timeout
        deadline = monotonic_ns() + int(seconds * 1e9)
        kept = deque[bytes](maxlen=_MAX_KEPT_LINES)
        try:
            while (line := self._pipe.read_line(deadline)) is not None:
                if line.lower() == b"readyok":
                    return
                self._keep_last(line)
                if keep:
                    kept.append(line + b"\n")
                else:
                    self._count_answers(line + b"\n")
        finally:
            self._pipe.put_back(b"".join(kept))
        raise self.timeout_error(f"gives no answer to isready in {seconds:g} s")

    def watch_silence(self, seconds: float | None, idle: float | None = None) -> None:
        """Let later searches raise `EngineTimeout` if the engine hangs.

        After ``seconds`` without output the engine is sent ``isready``, which an engine must answer
        during a search. It hangs if it sends nothing for another ``seconds``, or if it only answers
        ``isready`` for ``idle`` seconds without using a processor. The second check is left out if
        ``idle`` is None, or if the system reports no processor time. If ``seconds`` is None,
        nothing is checked.
        """
        self._silence = FOREVER if seconds is None else int(seconds * 1e9)
        self._idle = FOREVER if idle is None else int(idle * 1e9)

    def widen_output(self) -> None:
        """Enlarge the buffer for output, which is not read while the engine ponders."""
        self._process.widen_output()

    # Searches.

    def ask(
        self, position: Position, line: bytes, go: bytes, timeout: int, stop: Stop | None = None
    ) -> Answer | None:
        """Send a position and a ``go`` line, and return the answer.

        ``line`` is the ``position`` line for ``position``. Return None after ``timeout``
        nanoseconds, or `timeout` seconds after ``stop`` was set; the engine then still owes its
        answer, and `stop` asks for it.
        """
        if self.owing or self.strays:
            self._finish_earlier_search()
        if self.dialect.in_steps:
            search = partial(self._search, stop=stop)
            return self.dialect.ask(search, position, line, go, timeout)
        return self._search(line + b"\n" + go, timeout, stop)

    def begin(self, request: bytes) -> int:
        """Send a request that ends in ``go``; return the time of sending, for `wait_answer`."""
        if self.owing or self.strays:
            self._finish_earlier_search()
        self.searches += 1
        self._clear()
        self._send(request)
        return max(self._search_start, self._pipe.sent)

    def _search(self, request: bytes, timeout: int, stop: Stop | None) -> Answer | None:
        """Send a request that ends in ``go``, and return the answer, or None at the timeout."""
        lines = None
        self.owing = True
        self.searches += 1
        self._search_start = monotonic_ns()
        try:
            # Only `wait_answer` checks for a stop while it waits.
            wait = 0
            if stop is None:  # Comparisons are faster than `min` and `max`.
                wait = timeout if timeout < self._silence else self._silence
            lines = self._pipe.exchange(request, wait)
            self._answers.info = self._answers.error = b""
        except BlockingIOError:
            self._clear()
            if not self._send_in_search(request, timeout):
                return None
        start = self._search_start
        if self._pipe.sent > start:  # The engine's clock starts after its log is written.
            start = self._pipe.sent
        text = self._answers.find(lines) if lines else None
        if text is not None:
            return self._answer(text, start)
        self._last_lines = lines or b""
        if stop is None:
            return self.wait_answer(start, timeout)
        stop.attach(partial(self.stop_search, self.searches))
        try:
            return self.wait_answer(start, timeout, stop)
        finally:
            stop.attach(None)

    def _send_in_search(self, data: bytes, timeout: int) -> bool:
        """Send lines at the cost of the engine's time; return False if ``timeout`` is too short.

        `EngineTimeout` if the engine reads nothing for the time of `watch_silence`.
        """
        wait = min(timeout, self._silence)
        try:
            self._send(data, wait / 1e9)
        except EngineTimeout:
            if wait < timeout:
                raise
            return False
        return True

    def _clear(self) -> None:
        """Drop the output of earlier searches, and store the start time of the next search."""
        self.owing = False
        self._drop_output()
        self._answers.info = self._answers.error = self._last_lines = b""
        self.owing = True
        self._search_start = monotonic_ns()

    def _finish_earlier_search(self) -> None:
        """Wait until the engine owes no answer to an earlier search.

        `EngineTimeout` if the answer does not arrive. An engine that has sent strays is also sent
        ``isready``: a ``bestmove`` before ``readyok`` cannot belong to the next search.
        """
        if self.owing and self.wait_answer(monotonic_ns(), int(self.timeout * 1e9)) is None:
            raise self.timeout_error(f"gives no answer to an earlier search in {self.timeout:g} s")
        if self.strays:
            self.ping()

    def _drop_output(self) -> None:
        """Drop the output that has arrived, and count each ``bestmove`` in it as a stray."""
        for lines in self._arrived():
            self._count_answers(lines)

    def _arrived(self) -> Iterator[bytes]:
        """Yield the output that has arrived, in chunks of whole lines."""
        for _ in range(_MAX_CHUNKS):
            lines = self._pipe.receive(0)
            if lines is None:
                return
            yield lines

    def wait_answer(self, start: int, timeout: int, stop: Stop | None = None) -> Answer | None:
        """Wait for the answer to a request sent at ``start``, a time of `monotonic_ns`.

        Return None if the answer has not arrived ``timeout`` nanoseconds after ``start``, or
        `timeout` seconds after ``stop`` was set. If the timeout is `FOREVER`, see `check_limit`.
        """
        if timeout == FOREVER:
            self.check_limit(self._last_lines)
        silence, output_limit = self._silence, self._pipe.received + MAX_OUTPUT
        max_wait = silence if stop is None else CHECK_INTERVAL
        silent_since, now = start, monotonic_ns()
        idle_since, cpu = now, None
        probed = False
        while True:
            remaining = timeout - (now - start)
            if stop is not None:
                remaining = stop.deadline(start, start + timeout, self.timeout) - now
            if remaining < 0:
                return self.unterminated_answer(start)
            if now - silent_since > silence:
                if (answer := self.unterminated_answer(start)) is not None:
                    return answer
                if probed:
                    raise self.timeout_error(f"does not respond for {2 * silence / 1e9:g} s")
                last_cpu, cpu = cpu, self._process.cpu_seconds()
                if last_cpu is None or cpu is None or cpu - last_cpu > IDLE_SHARE * silence / 1e9:
                    idle_since = now
                elif now - idle_since > self._idle:
                    seconds = f"{self._idle / 1e9:g} s"
                    raise self.timeout_error(f"answers isready but does nothing else for {seconds}")
                self._send(b"isready\n")
                probed, silent_since = True, now
            wait = min(remaining, max_wait, silence - (now - silent_since))
            lines = self._pipe.receive(wait // MILLISECOND + 1)
            now = monotonic_ns()
            if lines is not None:
                text = self._answers.find(lines)
                if text is not None:
                    return self._answer(text, start)
                self._keep_last(lines)
                if timeout == FOREVER:
                    self.check_limit(lines)
                probed, silent_since = False, now
                if lines.strip().lower() != b"readyok":
                    cpu = None
                if self._pipe.received > output_limit:
                    raise self.timeout_error(f"writes more than {MAX_OUTPUT >> 20} MiB for a move")

    def _answer(self, text: bytes, start: int) -> Answer:
        """Return the answer with ``text`` to the request sent at ``start``."""
        self.owing = False
        elapsed = self._pipe.arrived - start
        return Answer(text, self._answers.info, elapsed if elapsed > 0 else 0)

    def unterminated_answer(self, start: int) -> Answer | None:
        """Return an answer that lacks only its line feed, or None.

        The answer's time ends at its arrival: waiting for the line feed is not thinking time.
        """
        text = self._answers.find(self._pipe.tail + b"\n") if self._pipe.tail else None
        if not text:
            return None
        self._pipe.end_line()
        return self._answer(text, start)

    def read_line(self, deadline: int) -> bytes | None:
        """Return the next line without surrounding white space, or None at the deadline."""
        line = self._pipe.read_line(deadline)
        if line is not None:
            self._keep_last(line)
            self._count_answers(line + b"\n")
        return line

    def check_limit(self, lines: bytes) -> None:
        """Stop the search and raise `EngineError` if ``lines`` report an error in ``go``.

        An engine that cannot read a limit may search without one.
        """
        for line in lines.split(b"\n") if b"string error" in lines.lower() else ():
            words = _WORD.findall(line.lower())
            if words[:3] == [b"info", b"string", b"error"] and not _LIMIT_WORDS.isdisjoint(words):
                self.stop()
                raise EngineError(f"cannot read the limit of its search: {quoted(line.strip())}")

    def _count_answers(self, lines: bytes) -> None:
        """Count each ``bestmove`` in ``lines`` as a stray, except the answer that is owed."""
        if answers := self._answers.count(lines):
            self.strays += answers - self.owing
            self.owing = False

    def stop(self, seconds: float = STOP_SECONDS) -> Answer | None:
        """Send ``stop`` and return the answer; None if it does not arrive within ``seconds``."""
        start = monotonic_ns()
        self._send(b"stop\n", seconds)
        return self.wait_answer(start, int(seconds * 1e9))

    def answer_after_stray(self, answer: Answer) -> Answer | None:
        """Return the engine's next answer if the invalid ``answer`` was for an earlier search.

        In that case the current search still runs. It is stopped, and its answer is returned.
        Return None if no answer follows: ``answer`` was then for the current search.
        """
        late = self.stop(STRAY_SECONDS)
        if late is None:
            return None
        self.strays += 1
        return replace(late, elapsed=answer.elapsed + late.elapsed)

    def check_whole(self) -> None:
        """Raise `EngineTerminated` if the engine ended without the line feed of its last line.

        Call this for an invalid answer: it may be the beginning of a move.
        """
        if self._pipe.ended_in_line:
            raise EngineTerminated(self._process.describe_end())

    def answered_early(self) -> Answer | None:
        """Return the answer that a pondering engine gave before `stop` or `ponderhit`, or None.

        The protocol forbids it, so it counts as a stray.
        """
        for lines in self._arrived():
            if (text := self._answers.find(lines)) is not None:
                self.strays += 1
                return self._answer(text, monotonic_ns())
            self._keep_last(lines)
        return None

    def stop_pondering(self, seconds: float = STOP_SECONDS) -> Answer | None:
        """Return the answer of `stop`, or that of an engine that `answered_early`."""
        return self.answered_early() or self.stop(seconds)

    def ponderhit(self, timeout: int) -> Answer | None:
        """Send ``ponderhit``; return the answer, or None after ``timeout`` nanoseconds.

        The engine was sent ``go ponder`` before, and the opponent has played the expected move. If
        it `answered_early`, nothing is sent.
        """
        if (early := self.answered_early()) is not None:
            return early
        start = monotonic_ns()
        if not self._send_in_search(b"ponderhit\n", timeout):
            return None
        return self.wait_answer(max(start, self._pipe.sent), timeout)

    @property
    def junk(self) -> int:
        """Number of lines so far that were not part of the protocol."""
        return self._answers.junk

    # Errors, interruption and end.

    def last_error(self) -> str:
        """Return the last line of standard error that is not empty, or ''."""
        return self._process.errors.last_line()

    def last_output(self) -> str:
        """Return the last output since the latest request, and the last error output.

        The text continues a message, as in ``; last output: 'info depth 3'``; '' without output.
        """
        text = ""
        lines = [line for line in self._last_lines.split(b"\n") if line.strip()]
        if self._pipe.tail.strip() or not lines and self._pipe.tail:
            text = f"; last output, without a line feed: {quoted(self._pipe.tail)}"
        elif self._last_lines:
            text = f"; last output: {quoted(lines[-1] if lines else self._last_lines[:-1])}"
        error = self.last_error()
        return f"{text}; last error output: '{error}'" if error else text

    def reported_error(self) -> str:
        """Return the last error that the engine reported in its latest search.

        The text continues a message, as in ``; the engine reported: 'info string error …'``; ''
        without an error.
        """
        error = self._answers.last_error()
        return f"; the engine reported: {quoted(error)}" if error else ""

    def timeout_error(self, what: str) -> EngineTimeout:
        """Return an `EngineTimeout` with the failure ``what`` and the engine's last output."""
        return EngineTimeout(what + self.last_output())

    def _keep_last(self, lines: bytes) -> None:
        """Keep lines for `last_output`, except ``readyok`` and empty lines after other lines."""
        text = lines.strip()
        if text != b"readyok" and (text or not self._last_lines):
            self._last_lines = lines

    def stop_search(self, search: int) -> None:
        """Send ``stop`` if the search with that number is the latest; any thread may call this."""
        deadline = monotonic_ns() + int(STOP_SECONDS * 1e9)
        self._pipe.interject(b"stop\n", deadline, lambda: search == self.searches)

    def kill(self) -> None:
        """Kill the processes; a thread that waits for an answer gets `EngineTerminated`.

        `close` must still be called. Any thread may call `kill`.
        """
        self._process.kill()

    def terminate(self) -> None:
        """Send SIGTERM to the processes; `close` must still be called. Any thread may call this."""
        self._process.terminate()

    def send_quit(self) -> None:
        """Send ``quit`` and close the engine's input; `close` must still be called.

        Several engines end in parallel if all are sent ``quit`` before the first is closed. Any
        thread may call this.
        """
        with self._quit_lock:
            if self._quit_sent:
                return
            self._quit_sent = True
            lines = b"stop\nquit\n" if self.owing else b"quit\n"
            deadline = monotonic_ns() + int(QUIT_SEND_SECONDS * 1e9)
            with suppress(EngineError):
                self._pipe.interject(lines, deadline, lambda: True)
            self._pipe.close_input(QUIT_SEND_SECONDS)

    def close(self, patience: float = QUIT_SECONDS) -> None:
        """End the engine and its processes within about ``patience`` seconds."""
        try:
            self.send_quit()
            self._pipe.close_input()
        finally:
            try:
                self._process.close(patience)
            finally:
                self._pipe.close()

    def _send(self, data: bytes, seconds: float = SEND_SECONDS) -> None:
        """Send whole lines; `EngineTimeout` if the engine does not read them in ``seconds``."""
        try:
            self._pipe.send(data, monotonic_ns() + int(seconds * 1e9))
        except EngineTimeout as error:
            raise self.timeout_error(error.what) from None
