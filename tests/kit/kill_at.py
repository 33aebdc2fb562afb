"""Run ``merels``, but kill it: ``python -m tests.kit.kill_at GAMES STEP SIGNAL WORD …``."""

from __future__ import annotations

import itertools
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType

from merels.tournament.commands.main import main
from merels.tournament.journal.journal import Journal

STORING = tuple(
    f"merels.tournament.{package}" for package in ("journal", "league", "run", "tuning", "views")
)
"""Packages whose calls are steps."""


def run_until(games: int, step: int, number: int, words: Sequence[str]) -> int:
    """Run ``merels``, but send this process a signal at a step after ``games`` games."""
    left, steps = games, itertools.count(1)

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal left
        if event != "call" or not frame.f_globals.get("__name__", "").startswith(STORING):
            return
        if left:
            left -= frame.f_code is Journal.append.__code__
        elif next(steps) == step:
            os.kill(os.getpid(), number)

    # A shell starts its background jobs, and all their children, with Ctrl-C ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if step:
        sys.setprofile(count)
    return main(list(words))


if __name__ == "__main__":
    sys.exit(run_until(*map(int, sys.argv[1:4]), sys.argv[4:]))
