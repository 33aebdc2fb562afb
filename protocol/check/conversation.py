"""The engine's process, and the lines that it has printed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic_ns

from merels.protocol.client.connection import PING_SECONDS, START_SECONDS
from merels.protocol.client.engine_spec import EngineSpec
from merels.protocol.process.pipe import LONGEST_LINE, Pipe
from merels.protocol.process.process import EngineProcess
from merels.protocol.process.windows import open_pipe

MAX_LINES = 200_000
"""Maximum number of lines in `Conversation.transcript`."""
MAX_BYTES = 1 << 25
"""Maximum size of the lines in `Conversation.transcript`, and of the output before one answer."""
WARN_DELAY = 0.1
"""Delay above which an answer gets a warning, in seconds."""
FAIL_DELAY = 1.0
"""Delay above which the step fails, in seconds."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Timeouts and waiting times, and the sizes of the longer steps."""

    answer: float = 5.0
    """Timeout of an answer, in seconds."""
    start: float = START_SECONDS
    """Timeout of the greeting, in seconds."""
    ready: float = PING_SECONDS
    """Timeout of the first readyok after a start or after setoption, in seconds."""
    watch: float = 1.0
    """Time for which a search that must wait for stop is watched, in seconds."""
    listen: float = 0.2
    """Time to wait for unwanted lines, in seconds."""
    movetime: int = 500
    """Limit of a timed search, in milliseconds."""
    plies: int = 60
    """Maximum length of a game that the engine plays against itself, in plies."""
    games: int = 2
    """Number of games that the engine plays against itself."""


FAST = Pace(answer=3.0, watch=0.2, listen=0.1, movetime=100, plies=16, games=1)
"""The pace of ``merels check -fast``."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the engine's output."""

    raw: bytes
    """The line without its line feed."""
    arrived: int
    """Time of arrival, by `time.monotonic_ns`."""

    @property
    def text(self) -> str:
        """The line without white space at its ends."""
        return self.raw.decode("utf-8", "replace").strip()

    @property
    def words(self) -> list[str]:
        """The line's words."""
        return self.text.split()

    @property
    def first(self) -> str:
        """The first word in lower case, from the line's first 80 bytes: a line may be long."""
        words = self.raw[:80].decode("utf-8", "replace").split(None, 1)
        return words[0].lower() if words else ""


class Fault(Exception):
    """A violation of the protocol, or output that the protocol allows and a step warns of.

    ``line`` is the engine's line at fault, or None.
    """

    def __init__(self, reason: str, line: Line | bytes | None = None) -> None:
        self.reason = reason
        self.line = line.raw if isinstance(line, Line) else line
        super().__init__(reason)


class Skip(Exception):
    """The step does not apply to this engine, or the searches that it would judge failed."""


class Conversation:
    """The engine's current process, and the lines that all its processes have printed.

    Methods that send or receive raise `EngineError` if the process has ended, or does not read its
    input. `until` raises `Fault` on a timeout; `listen` returns.
    """

    def __init__(self, spec: EngineSpec, pace: Pace) -> None:
        self.spec = spec
        self.pace = pace
        self.transcript: list[Line] = []
        """The lines of all processes, at most `MAX_LINES` and `MAX_BYTES`."""
        self.stray_bestmoves: list[tuple[Line, str]] = []
        """Each ``bestmove`` that answers no ``go``, with the last line sent before it."""
        self.warnings: list[Fault] = []
        """Warnings of the current step."""
        self.sent = ""
        """The last line sent; of a long line, only the end."""
        self.unanswered = 0
        """Number of ``go`` commands without a ``bestmove`` yet."""
        self._errors = b""
        self._process: EngineProcess | None = None
        self._pipe: Pipe | None = None
        self._bytes = self._earlier_bytes = 0
        """Bytes of all lines, and of those that earlier processes printed."""

    def spawn(self) -> None:
        """Kill the process, if there is one, and start a new process without sending to it."""
        self.discard()
        spec = self.spec
        self._process = EngineProcess(
            spec.command, spec.directory, self._keep_error, spec.resources
        )
        self._pipe = open_pipe(self._process)
        self.unanswered, self.sent, self._earlier_bytes = 0, "", self._bytes

    def discard(self) -> None:
        """Kill the process, if there is one."""
        if self._process is not None and self._pipe is not None:
            self._process.close(0.0)
            self._pipe.close()
        self._process = self._pipe = None

    def _keep_error(self, data: bytes) -> None:
        """Add whole lines of standard error to `stderr`, up to `LONGEST_LINE` bytes."""
        self._errors = (self._errors + data)[:LONGEST_LINE]

    def stderr(self) -> bytes:
        """Return the beginning of the standard error of all processes, in whole lines.

        Before the first whole line, return the unfinished line of the current process.
        """
        last = "" if self._process is None else self._process.errors.last_line()
        return self._errors or last.encode()

    def warn(self, reason: str, line: Line | bytes | None = None) -> None:
        """Record output that the protocol allows but some clients cannot handle."""
        self.warnings.append(Fault(reason, line))

    def judge_delay(
        self, seconds: float, reason: str, line: Line | None = None, *, clock: bool = False
    ) -> None:
        """Judge an answer that came ``seconds`` late: warn, or raise `Fault`.

        A delay above `WARN_DELAY` gets a warning, and above `FAIL_DELAY` it is a fault. With
        ``clock``, ``seconds`` is an overrun of the game clock: any overrun gets a warning, and an
        overrun above `WARN_DELAY` is a fault. A shorter overrun may come from the transfer of the
        answer.
        """
        warning, failure = (0.0, WARN_DELAY) if clock else (WARN_DELAY, FAIL_DELAY)
        if seconds > failure:
            raise Fault(reason, line)
        if seconds > warning:
            self.warn(reason, line)

    def send(self, *lines: str) -> None:
        """Send lines, each with a line feed."""
        self.send_bytes("".join(line + "\n" for line in lines).encode())

    def send_bytes(self, data: bytes) -> None:
        """Send bytes unchanged."""
        assert self._pipe is not None
        self.sent = (data[-200:].decode("utf-8", "replace").splitlines() or [""])[-1]
        self._pipe.send(data, monotonic_ns() + int(self.pace.answer * 1e9))

    def close_input(self) -> None:
        """Close the engine's standard input."""
        assert self._pipe is not None
        self._pipe.close_input()

    def _lines(self, seconds: float) -> Iterator[Line]:
        """Yield the lines that arrive within ``seconds``; record them and count each bestmove."""
        assert self._pipe is not None
        deadline = monotonic_ns() + int(seconds * 1e9)
        while (raw := self._pipe.read_raw_line(deadline)) is not None:
            line = Line(raw, self._pipe.arrived)
            self._bytes += len(raw)
            if len(self.transcript) < MAX_LINES and self._bytes < MAX_BYTES:
                self.transcript.append(line)
            if line.first == "bestmove" and self.unanswered:
                self.unanswered -= 1
            elif line.first == "bestmove":
                self.stray_bestmoves.append((line, self.sent))
            yield line

    def until(self, word: str, seconds: float, command: str) -> list[Line]:
        """Return all lines up to the first that begins with ``word``.

        Raise `Fault` if that line does not arrive within ``seconds``, or only after `MAX_BYTES`.
        The reason of the fault names ``command``.
        """
        lines: list[Line] = []
        limit = self._bytes + MAX_BYTES
        for line in self._lines(seconds):
            lines.append(line)
            if line.first == word:
                return lines
            if self._bytes > limit:
                raise Fault(f"more than {MAX_BYTES >> 20} MiB and no answer to '{command}'")
        assert self._process is not None and self._pipe is not None
        last = self._pipe.tail or (lines[-1].raw if lines else None)
        error = "" if last else self._process.errors.last_line()
        detail = f"; last error output: '{error}'" if error else ""
        is_silent = self._bytes == self._earlier_bytes and not self._pipe.tail and not error
        if is_silent:  # Its output may be in a buffer.
            detail = "; an engine must flush every line that it writes"
        raise Fault(f"no answer to '{command}' in {seconds:g} s{detail}", last)

    def listen(self, seconds: float) -> list[Line]:
        """Return the lines that arrive within ``seconds``."""
        return list(self._lines(seconds))
