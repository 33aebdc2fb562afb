"""Delays in a move's time that are not the engine's: a late runner, or no free processor.

The time of a move ends when the runner has read the answer, which may be later than the engine
wrote it. Two measurements show the difference:

* Linux counts how long each thread was ready to run while other threads had all processors
  (``schedstat``). During this time, the runner's thread is *late*, and the engine's busiest thread
  has *waited* for a processor.
* On all systems, a wait that ends more than `MIN_OVERSLEEP` after its timeout shows that the runner
  was not running: it was stopped, its memory was swapped out, or the machine was suspended.

If the counters were read before and after a move, neither delay exceeds the time in which the
engine's busiest thread did not run. A late runner then does not excuse an engine that searches for
too long. A delay of the runner is not detected if the runner does not wait for a processor and
still reads the answer before the timeout. A delay of the engine is not detected while its threads
sleep, for example because another process searches for it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import NamedTuple

from merels.tournament.records.games import MILLISECOND

LONG_MOVE = MILLISECOND
"""Shortest time of a move, in nanoseconds, for which delays are computed.

The two readings take about 30 microseconds, outside the move's clock; shorter moves are not worth
them."""
CREDIT_STEP = 3
"""An engine's initial credit, and the credit that each long move adds.

A short move costs 1. Without credit, an engine's moves are not measured."""
MAX_CREDIT = 20
FILE_SIZE = 64
"""Bytes that a ``schedstat`` file, three numbers of at most 20 digits, cannot exceed."""
MIN_OVERSLEEP = 2 * MILLISECOND
"""Delay from which a wait counts as late, in nanoseconds.

Timeouts are whole milliseconds, rounded up, and systems wake a process slightly late."""


class Lag(NamedTuple):
    """Delays in a move's time that are not the engine's, in nanoseconds; None if not measured."""

    late: int | None = None
    """Delay of the runner in reading the answer."""
    waited: int | None = None
    """Time that the engine waited for a processor."""


NOT_MEASURED = Lag()


class Reading(NamedTuple):
    """Counters of the system, in nanoseconds."""

    runner: int
    """Waiting time of the runner's thread."""
    engine: dict[str, tuple[int, int]]
    """Running and waiting time of each thread of the engine."""


class LagMeter:
    """Measures delays of moves in the thread that created it."""

    def __init__(self) -> None:
        self._runner_counters = _open_runner_counters()
        self._credit: dict[str, int] = {}
        """Credit of each engine by name, see `CREDIT_STEP`."""

    def close(self) -> None:
        """Stop measuring."""
        if self._runner_counters >= 0:
            os.close(self._runner_counters)
            self._runner_counters = -1

    def should_measure(self, name: str) -> bool:
        """Return whether an engine's next move is likely to be long."""
        return self._credit.get(name, CREDIT_STEP) > 0

    def add_move(self, name: str, is_long: bool) -> None:
        """Update the credit of an engine after a move."""
        credit = self._credit.get(name, CREDIT_STEP) + (CREDIT_STEP if is_long else -1)
        self._credit[name] = min(credit, MAX_CREDIT)

    def read(self, pid: int) -> Reading | None:
        """Return the counters of the runner's thread and of an engine; None without counters."""
        if self._runner_counters < 0:
            return None
        engine = {}
        with suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):
                # A thread may have ended meanwhile.
                with suppress(OSError):
                    engine[thread] = _read_counters(f"/proc/{pid}/task/{thread}/schedstat")
        return Reading(_parse_counters(os.pread(self._runner_counters, FILE_SIZE, 0))[1], engine)

    def lag(self, pid: int, before: Reading | None, elapsed: int, overslept: int = 0) -> Lag:
        """Return the delays in a move that took ``elapsed`` nanoseconds.

        ``before`` is the reading before the move, or None. ``overslept`` is the delay of a wait
        that ended too late, else 0; without ``before``, only this delay is known.
        """
        after = None if before is None else self.read(pid)
        late = waited = None
        idle = elapsed  # Time in which the busiest thread did not run, the limit of both delays.
        if before is not None and after is not None:
            late = after.runner - before.runner
            times = [
                (run - before.engine.get(thread, (0, 0))[0],
                 wait - before.engine.get(thread, (0, 0))[1])
                for thread, (run, wait) in after.engine.items()
            ]
            run, wait = max(times, key=sum, default=(0, 0))
            idle = max(0, elapsed - run)
            # If no thread ran or waited, another process does the engine's work. While any thread
            # ran, the engine was not without a processor.
            if run + wait > 0:
                waited = min(wait, max(0, elapsed - sum(run for run, _ in times)))
        if overslept:
            late = max(late or 0, overslept)
        if late is None:
            return NOT_MEASURED
        late = min(late, idle)
        return Lag(late, None if waited is None else min(waited, idle - late))


def _open_runner_counters() -> int:
    """Return a file descriptor of the current thread's counters; -1 without counters."""
    try:
        file = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
    except OSError:
        return -1
    run, _ = _parse_counters(os.pread(file, FILE_SIZE, 0))
    if run > 0:
        return file
    os.close(file)  # A kernel built without the counters returns 0.
    return -1


def _read_counters(path: str) -> tuple[int, int]:
    """Return the running and waiting time in a ``schedstat`` file."""
    file = os.open(path, os.O_RDONLY)
    try:
        return _parse_counters(os.read(file, FILE_SIZE))
    finally:
        os.close(file)


def _parse_counters(data: bytes) -> tuple[int, int]:
    """Return the running and waiting time; the last field counts time slices."""
    run, wait, _ = data.split()
    return int(run), int(wait)
