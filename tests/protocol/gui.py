"""A client for tests: it drives an engine process, with a timeout on every wait."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from merels.engine.core import core
from merels.protocol.uci import uci_session
from merels.protocol.uci.loop import read_lines
from merels.protocol.uci.streams import Output
from merels.protocol.uci.uci_session import Session
from tests.processes import end, start_watchdog

# A job that lasts longer would end this process.
uci_session.CLOSE_SECONDS = 600.0

ENGINE = [sys.executable, "-m", "merels.protocol"]
"""Command of the engine."""

PATIENCE = 60.0
"""Timeout of an answer, in seconds."""

LIFETIME = 400.0
"""Time after which the process is killed, in seconds."""


class Gui:
    """An engine process that runs the protocol loop; a ``with`` block kills it at its end."""

    def __init__(
        self, directory: Path | None = None, environment: Mapping[str, str] | None = None,
        command: Sequence[str] = ENGINE,
    ) -> None:
        """Start the process in ``directory``, with further environment variables."""
        self._stderr = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr,
            cwd=directory, env={**os.environ, **(environment or {})},
        )
        # Writing to a full pipe blocks without a timeout, so the watchdog kills the process.
        self._watchdog = start_watchdog(self.process, LIFETIME)
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Gui:
        return self

    def __exit__(self, *_: object) -> None:
        self._watchdog.cancel()
        self.process.kill()
        self._reader.join(PATIENCE)
        end(self.process)
        self._stderr.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        try:
            for line in self.process.stdout:
                self._lines.put(line)
        except (OSError, ValueError):
            pass
        self._lines.put(None)

    def raw(self, data: bytes) -> None:
        """Send bytes unchanged."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, *lines: str) -> None:
        """Send lines, each with a line feed."""
        self.raw("".join(line + "\n" for line in lines).encode())

    def _next(self, timeout: float) -> str | None:
        """Return the next line, or None after the timeout; fail at the end of the output."""
        try:
            line = self._lines.get(timeout=timeout)
        except queue.Empty:
            return None
        assert line is not None, f"the output has ended; stderr: {self.errors()!r}"
        assert line.endswith(b"\n"), f"a line without a line feed: {line!r}"
        return line[:-1].decode()

    def line(self, timeout: float = PATIENCE) -> str:
        """Return the next line, with all its spaces; fail after the timeout."""
        line = self._next(timeout)
        assert line is not None, f"no line within {timeout} s"
        return line

    def until(self, wanted: str | Callable[[str], bool]) -> list[str]:
        """Return the lines up to one that starts with ``wanted``, or that ``wanted`` accepts."""
        lines: list[str] = []
        deadline = time.monotonic() + PATIENCE
        while True:
            line = self.line(max(0.0, deadline - time.monotonic()))
            lines.append(line)
            if line.startswith(wanted) if isinstance(wanted, str) else wanted(line):
                return lines

    def ask(self, *lines: str) -> list[str]:
        """Send lines and ``isready``, and return the lines before ``readyok``."""
        self.send(*lines, "isready")
        return self.until("readyok")[:-1]

    def go(self, go_line: str, *earlier_lines: str) -> list[str]:
        """Send ``earlier_lines`` and a ``go`` line; return the lines up to ``bestmove``."""
        self.send(*earlier_lines, go_line)
        return self.until("bestmove")

    def stop(self) -> list[str]:
        """Stop the search, and return the lines up to ``bestmove``."""
        return self.go("stop")

    def greet(self, dialect: str = "uci") -> list[str]:
        """Send the handshake of a dialect, and return the answer."""
        self.send(dialect)
        return self.until(f"{dialect}ok")

    def several_answers(self) -> list[str]:
        """Return the lines that arrive while many ``isready`` are answered one after the other.

        A search that is over must not print anything else in this time.
        """
        return [line for _ in range(100) for line in self.ask()]

    def read_to_end(self) -> list[str]:
        """Return all lines up to the end of the output."""
        self._reader.join(PATIENCE)
        lines: list[str] = []
        while (line := self._lines.get(timeout=PATIENCE)) is not None:
            lines.append(line.decode().rstrip("\n"))
        return lines

    def fen(self) -> str:
        """Send ``fen``, and return the position."""
        self.send("fen")
        return self.until(lambda line: "/" in line)[-1]

    def close_input(self) -> None:
        """Close the process's standard input."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def interrupt(self) -> None:
        """Send SIGINT."""
        self.process.send_signal(signal.SIGINT)

    def exit_code(self) -> int:
        """Wait for the process to end, and return its exit code; fail after the timeout."""
        return self.process.wait(PATIENCE)

    def errors(self) -> str:
        """Return the process's error output so far."""
        self._stderr.seek(0)
        return self._stderr.read().decode()


class LocalGui(Gui):
    """A client of the protocol loop in a thread of this process; it needs no start."""

    def __init__(self) -> None:
        """Start the thread; the pipes are those that a process would have."""
        self._input, self._to_engine = (os.fdopen(end, mode) for end, mode in zip(
            os.pipe(), ("rb", "wb")
        ))  # fmt: skip
        output, self._answers = os.pipe()
        self._output = os.fdopen(output, "rb")
        self._lines = queue.Queue()
        self._failure: BaseException | None = None
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._engine = threading.Thread(target=self._serve, daemon=True)
        self._reader.start()
        self._engine.start()

    def __exit__(self, *_: object) -> None:
        with suppress(OSError, ValueError):
            self.raw(b"\nquit\n")
        self.close_input()
        assert self.exit_code() == 0
        self._reader.join(PATIENCE)
        self._output.close()
        self._input.close()

    def _serve(self) -> None:
        """Run the loop of `merels.protocol.uci.loop.main`."""
        session = Session(Output(self._answers))
        try:
            for line in read_lines(self._input):
                session.handle(line, core.monotonic_ns())
                if session.has_quit:
                    break
            else:
                session.end_input()
            session.close()
        except BaseException as error:
            self._failure = error
        finally:
            os.close(self._answers)

    def _read(self) -> None:
        for line in self._output:
            self._lines.put(line)
        self._lines.put(None)

    def raw(self, data: bytes) -> None:
        self._to_engine.write(data)
        self._to_engine.flush()

    def close_input(self) -> None:
        with suppress(OSError):
            self._to_engine.close()

    def exit_code(self) -> int:
        """Wait for the end of the loop; return 0, the exit code of a process."""
        self._engine.join(PATIENCE)
        assert not self._engine.is_alive(), "the loop has not ended"
        if self._failure is not None:
            raise self._failure
        return 0

    def errors(self) -> str:
        return ""
