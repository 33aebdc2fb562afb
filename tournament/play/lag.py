"""How much of a move's time was not the engine's: the runner's lateness, the queue for a processor.

A move's time ends when the runner has read the answer, which may be some time after the engine
wrote it. Two measurements show that time:

* Linux counts how long each thread was ready to run while all processors were busy with others
  (``schedstat``). What the runner's own thread had to wait during a move, it was *late*; what the
  engine's busiest thread had to wait, the engine *waited* for a processor.
* On any system, a wait that ends well after its limit shows that the runner slept on, whatever
  held it up: it was stopped, its memory was swapped out, the machine stood still.

Neither is ever more than the time in which the engine did not compute, so that no engine that
thinks for too long is excused by a runner that would have been late for it. What is not seen: a
runner held up by anything but the queue, where it is back before the time is over; and whether an
engine that sleeps, or whose work is done by another process than the one that was started, was kept
from its work or did none.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import NamedTuple

from merels.tournament.play.clock import MILLISECOND

WORTH_MEASURING = MILLISECOND
"""Moves shorter than this are not measured: nobody can be later than such a move took. The two
readings for a move cost some 30 microseconds, off the clock."""
SHORT_MOVES = 3
"""Shorter moves per measured move after which an engine's moves are no longer measured."""
MOST_SHORT_MOVES = 20
OVERSLEPT = 2 * MILLISECOND
"""A wait that ends so long after its limit has ended late: limits are whole milliseconds, rounded
up, and the system wakes nobody on the dot."""


class Lag(NamedTuple):
    """Delays in a move's time that are not the engine's, in nanoseconds; None: not measured."""

    late: int | None = None
    """How late the runner was to read the answer."""
    waited: int | None = None
    """How long the engine waited for a processor."""


UNKNOWN = Lag()


class Reading(NamedTuple):
    """The system's counters, in nanoseconds: time run and time waited."""

    own: int
    """Waited by the runner's thread."""
    engine: dict[str, tuple[int, int]]
    """Run and waited by each of the engine's threads."""


class LagMeter:
    """Measures the moves that one worker asks for, in the thread that made it."""

    def __init__(self) -> None:
        self._own = _open_own()
        self._credit: dict[str, int] = {}
        """By an engine's name: how many more short moves it may make."""

    def close(self) -> None:
        """Measure nothing more."""
        if self._own >= 0:
            os.close(self._own)
            self._own = -1

    def is_worth_it(self, name: str) -> bool:
        """Whether an engine's next move may well be long enough to be measured."""
        return self._credit.get(name, SHORT_MOVES) > 0

    def note(self, name: str, is_long: bool) -> None:
        """Note whether an engine's move was long enough."""
        credit = self._credit.get(name, SHORT_MOVES) + (SHORT_MOVES if is_long else -1)
        self._credit[name] = min(credit, MOST_SHORT_MOVES)

    def read(self, pid: int) -> Reading | None:
        """The counts before a move; None where the system keeps none."""
        if self._own < 0:
            return None
        engine = {}
        with suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):
                # One that ends meanwhile is left out.
                with suppress(OSError):
                    engine[thread] = _counts(f"/proc/{pid}/task/{thread}/schedstat")
        return Reading(int(os.pread(self._own, 64, 0).split()[1]), engine)

    def lag(self, pid: int, before: Reading | None, elapsed: int, slept: int = 0) -> Lag:
        """The lag of a move that took ``elapsed``; the runner is known to have ``slept`` so long.

        Without counts from ``before`` the move that is all there is to tell.
        """
        after = None if before is None else self.read(pid)
        late = waited = None
        idle = elapsed
        if before is not None and after is not None:
            late = after.own - before.own
            spent = [
                (run - before.engine.get(thread, (0, 0))[0],
                 wait - before.engine.get(thread, (0, 0))[1])
                for thread, (run, wait) in after.engine.items()
            ]
            run, wait = max(spent, key=sum, default=(0, 0))
            idle = max(0, elapsed - run)
            # Of an engine that was not even woken, another process does the work.
            if run + wait > 0:
                waited = min(wait, max(0, elapsed - sum(run for run, _ in spent)))
        if slept:
            late = max(late or 0, slept)
        if late is None:
            return UNKNOWN
        late = min(late, idle)
        return Lag(late, None if waited is None else min(waited, idle - late))


def _open_own() -> int:
    """A descriptor of this thread's counts; -1 where the system keeps none."""
    try:
        file = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
    except OSError:
        return -1
    if int(os.pread(file, 64, 0).split()[0]) > 0:
        return file
    os.close(file)  # A kernel built without the counters returns 0.
    return -1


def _counts(path: str) -> tuple[int, int]:
    """The times run and waited in such a file."""
    file = os.open(path, os.O_RDONLY)
    try:
        run, wait, _ = os.read(file, 64).split()
    finally:
        os.close(file)
    return int(run), int(wait)
