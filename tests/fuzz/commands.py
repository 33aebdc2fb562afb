"""Running commands of ``merels`` in this process, so that thousands of them can be tried."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from typing import Any

from merels.tournament.commands.main import main
from tests.fuzz.harness import Defect, Tally

STATUSES = (0, 1, 2, 130)
NOTES = ("merels tournament: seed ", "merels tournament: the journal's own command line: ")
"""Starts of lines that a command may print before it reports a mistake."""
IDLE = ("-executor", "tests.fuzz.commands:Idle")
"""Flags with which a tournament plays no game."""


def run_command(*words: str) -> Tally:
    """Run a command; return whether it accepted its input.

    Raise `Defect` for a traceback, an unexpected status, or several lines about one mistake.
    """
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(list(words))
    output = err.getvalue()
    if status not in STATUSES or "Traceback" in output:
        raise Defect(f"status {status}: {output[-300:]}")
    if status == 2:
        errors = [line for line in output.splitlines() if line and not line.startswith(NOTES)]
        # A reader of games prints one line for each game that it skips.
        others = [line for line in errors if not line.endswith("; skipped")]
        # A tournament reports all faults of its command line together.
        distinct = words[0] == "tournament" and len(set(others)) == len(others)
        if not errors or len(others) > 1 and not distinct:
            raise Defect(f"{len(others)} lines for one mistake: {output[:300]!r}")
        return Tally(rejected=1)
    return Tally(accepted=1)


@contextlib.contextmanager
def within(folder: str) -> Iterator[None]:
    """Change to a folder inside the ``with`` block."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


class Idle(Executor):
    """An executor that cancels every task, which ends the run."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Return a cancelled future."""
        future: Future[Any] = Future()
        future.cancel()
        future.set_running_or_notify_cancel()
        return future
