"""The protocol loop: reads lines and hands them on, and never waits for a search.

Standard input is read on the main thread. A daemon thread that is blocked reading it would abort
the interpreter at exit, and any other thread would keep the process alive.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from typing import BinaryIO

from merels.protocol.uci.output import Output
from merels.protocol.uci.session import Session
from merels.protocol.uci.streams import make_usable

LONGEST_LINE = 1 << 24
"""Bytes of a line that are kept; what is beyond is read and forgotten."""


def main() -> int:
    """Speaks the protocol on standard input and output until ``quit`` or the end of input."""
    make_usable()
    session = Session(Output(sys.stdout.fileno()))
    interrupted = False
    try:
        for line in read_lines(sys.stdin.buffer):
            session.handle(line)
            if session.over:
                break
    except OSError:
        pass  # The terminal has gone away: the end of input by another name.
    except KeyboardInterrupt:
        interrupted = True
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # It ends now anyway, and soon.
        session.close(at_once=interrupted)
    return 0


def read_lines(stream: BinaryIO) -> Iterator[str]:
    """The lines of a stream, whatever bytes they hold."""
    while data := stream.readline(LONGEST_LINE):
        rest = data
        while not rest.endswith(b"\n") and len(rest) == LONGEST_LINE:
            rest = stream.readline(LONGEST_LINE)
        yield data.decode("utf-8", "replace").strip("\ufeff\0 \t\r\n")
