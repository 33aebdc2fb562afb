"""Ctrl-C and the other signals that end a run."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

from merels.tournament.run.runner import Runner


@contextlib.contextmanager
def interrupts(runner: Runner) -> Iterator[None]:
    """Let Ctrl-C end the run after the games in progress, and a second one at once.

    SIGTERM and SIGHUP end it at once: every finished game is already in the journal.
    """

    def stop_now(number: int, frame: FrameType | None) -> None:
        runner.interrupt(now=True)

    def stop(number: int, frame: FrameType | None) -> None:
        runner.interrupt()

    handlers = {"SIGINT": stop, "SIGTERM": stop_now, "SIGHUP": stop_now}
    before = {
        getattr(signal, name): signal.signal(getattr(signal, name), handler)
        for name, handler in handlers.items()
        if hasattr(signal, name)  # Windows has no SIGHUP
    }
    try:
        yield
    finally:
        for signal_number, former in before.items():
            signal.signal(signal_number, former)
