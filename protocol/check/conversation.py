"""The engine's process, and a record of all lines sent to it and received from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic_ns

from merels.protocol.check.transcript import Line
from merels.protocol.client.connection import PING_SECONDS, START_SECONDS
from merels.protocol.client.engine_spec import EngineSpec
from merels.protocol.process.pipe import LONGEST_LINE, Pipe
from merels.protocol.process.poll_pipe import open_pipe
from merels.protocol.process.process import EngineProcess

MOST_LINES = 200_000
"""Lines that are kept for the steps that judge them all."""
MOST_BYTES = 1 << 25
"""Bytes of lines that are kept for them, and that may come before one answer."""
PROMPT = 0.1
"""Seconds after which a late answer is a warning."""
LATE = 1.0
"""Seconds after which a late answer is a failure."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How long to wait, in seconds unless stated otherwise."""

    answer: float = 5.0
    """For an answer that is due."""
    start: float = START_SECONDS
    """For the greeting."""
    ready: float = PING_SECONDS
    """For the first readyok of a process, and the first after an option was set."""
    watch: float = 1.0
    """Seconds in which a search that must wait for stop has to stay silent."""
    listen: float = 0.2
    """For lines that should not come."""
    movetime: int = 500
    """Milliseconds of a timed search."""
    plies: int = 60
    """The length of a game that the engine plays against itself."""
    games: int = 2
    """The number of such games."""


FAST = Pace(answer=3.0, watch=0.2, listen=0.1, movetime=100, plies=16, games=1)


class Fault(Exception):
    """The engine broke the protocol; ``line`` is the line at fault, if there is one."""

    def __init__(self, reason: str, line: Line | bytes | None = None) -> None:
        self.reason = reason
        self.line = line.raw if isinstance(line, Line) else line
        super().__init__(reason)


class Skip(Exception):
    """The engine lacks what the step is about."""


class Conversation:
    """One process at a time, and all lines to and from it.

    Methods that wait raise `Fault` when what is due does not come, and `EngineError` when the
    process is gone.
    """

    def __init__(self, candidate: EngineSpec, pace: Pace) -> None:
        self.candidate = candidate
        self.pace = pace
        self.transcript: list[Line] = []
        """Every line that the engine wrote, of all its processes."""
        self.strays: list[tuple[Line, str]] = []
        """Each ``bestmove`` that answers no ``go``, with the last line sent before it."""
        self.warnings: list[Fault] = []
        self.sent = ""
        """The last line sent, or the end of it."""
        self.owed = 0
        """Answers to ``go`` that have not come yet."""
        self._errors = b""
        self._process: EngineProcess | None = None
        self._pipe: Pipe | None = None
        self._bytes = 0

    def spawn(self) -> None:
        """Start a new process, and send it nothing."""
        self.discard()
        candidate = self.candidate
        self._process = EngineProcess(
            candidate.command, candidate.directory, self._keep_error, candidate.resources
        )
        self._pipe = open_pipe(self._process)
        self.owed, self.sent = 0, ""

    def discard(self) -> None:
        """End the process in whatever state it is."""
        if self._process is not None and self._pipe is not None:
            self._process.close(0.0)
            self._pipe.close()
        self._process = self._pipe = None

    def _keep_error(self, data: bytes) -> None:
        """Keep the beginning of standard error."""
        self._errors = (self._errors + data)[:LONGEST_LINE]

    def stderr(self) -> bytes:
        """The engine's standard error so far, or its last line if no line has ended yet."""
        last = "" if self._process is None else self._process.errors.last_line()
        return self._errors or last.encode()

    def warn(self, reason: str, line: Line | bytes | None = None) -> None:
        """Note something that is allowed, but a problem with some clients."""
        self.warnings.append(Fault(reason, line))

    def judge_delay(
        self, seconds: float, reason: str, line: Line | None = None, *, clock: bool = False
    ) -> None:
        """Judge an answer that came ``seconds`` late.

        After its ``clock`` ran out it loses a game; a little is only a warning there, because it
        includes the time that the answer travels.
        """
        warning, failure = (0.0, PROMPT) if clock else (PROMPT, LATE)
        if seconds > failure:
            raise Fault(reason, line)
        if seconds > warning:
            self.warn(reason, line)

    def send(self, *lines: str) -> None:
        """Send lines."""
        self.raw("".join(line + "\n" for line in lines).encode())

    def raw(self, data: bytes) -> None:
        """Send bytes as they are."""
        assert self._pipe is not None
        self.sent = (data[-200:].decode("utf-8", "replace").splitlines() or [""])[-1]
        self._pipe.send(data, monotonic_ns() + int(self.pace.answer * 1e9))

    def close_input(self) -> None:
        """End the engine's input."""
        assert self._pipe is not None
        self._pipe.close_input()

    def _lines(self, seconds: float) -> Iterator[Line]:
        """Each line that comes within that many seconds."""
        assert self._pipe is not None
        deadline = monotonic_ns() + int(seconds * 1e9)
        while (raw := self._pipe.read_raw_line(deadline)) is not None:
            line = Line(raw, self._pipe.arrived)
            self._bytes += len(raw)
            if len(self.transcript) < MOST_LINES and self._bytes < MOST_BYTES:
                self.transcript.append(line)
            if line.first == "bestmove" and self.owed:
                self.owed -= 1
            elif line.first == "bestmove":
                self.strays.append((line, self.sent))
            yield line

    def until(self, word: str, seconds: float, question: str) -> list[Line]:
        """All lines up to one that begins with a word, the answer to ``question``."""
        lines: list[Line] = []
        most = self._bytes + MOST_BYTES
        for line in self._lines(seconds):
            lines.append(line)
            if line.first == word:
                return lines
            if self._bytes > most:
                raise Fault(f"more than {MOST_BYTES >> 20} MiB and no answer to '{question}'")
        assert self._process is not None and self._pipe is not None
        last = self._pipe.tail or (lines[-1].raw if lines else None)
        error = "" if last else self._process.errors.last_line()
        words = f"; last error output: '{error}'" if error else ""
        raise Fault(f"no answer to '{question}' in {seconds:g} s{words}", last)

    def listen(self, seconds: float) -> list[Line]:
        """All lines that come within that many seconds."""
        return list(self._lines(seconds))
