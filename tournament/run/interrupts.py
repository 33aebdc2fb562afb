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

    SIGTERM and SIGHUP end it at once: every finished game is already in the journal. A SIGHUP that
    the parent process ignores, as ``nohup`` does, stays ignored.
    """

    def stop_now(number: int, frame: FrameType | None) -> None:
        runner.interrupt(now=True)

    def stop(number: int, frame: FrameType | None) -> None:
        runner.interrupt()

    handlers = {signal.SIGINT: stop, signal.SIGTERM: stop_now}
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        handlers[signal.SIGHUP] = stop_now
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for signal_number, former in before.items():
            signal.signal(signal_number, former)
