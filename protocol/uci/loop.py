"""The protocol loop: it reads lines and passes them to the session, even during a search.

The main thread reads standard input. A daemon thread that is blocked in a read would abort the
interpreter at exit; any other thread would keep the process alive.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from typing import BinaryIO

from merels.engine import full_version
from merels.engine.core import core
from merels.protocol.uci.streams import Output, repair_streams
from merels.protocol.uci.uci_session import Session

LONGEST_LINE = 1 << 24
"""Maximum length of a line in bytes; the rest is dropped."""
_WELCOME = (
    f"merels {full_version()}, a Nine Men's Morris engine: help lists its commands; "
    "to play, quit and run 'merels play'"
)
"""Printed only if standard input is a terminal."""


def main() -> int:
    """Run the engine on standard input and output until ``quit`` or the end of input.

    Return the exit status.
    """
    repair_streams()
    output = Output(sys.stdout.fileno())
    session = Session(output)
    interrupted = False
    try:
        if sys.stdin.isatty():
            output.write(_WELCOME)
        for line in read_lines(sys.stdin.buffer):
            session.handle(line, core.monotonic_ns())
            if session.has_quit:
                break
        else:
            session.end_input()
    except OSError:
        pass  # The terminal was closed.
    except KeyboardInterrupt:
        interrupted = True
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C must not interrupt `close`.
        session.close(at_once=interrupted)
    return 0


def read_lines(stream: BinaryIO) -> Iterator[str]:
    """Yield a stream's lines, stripped of white space, NUL and BOM; invalid UTF-8 is replaced."""
    while data := stream.readline(LONGEST_LINE):
        chunk = data
        while not chunk.endswith(b"\n") and len(chunk) == LONGEST_LINE:
            chunk = stream.readline(LONGEST_LINE)
        yield data.decode("utf-8", "replace").strip("\ufeff\0 \t\r\n")
