"""The state of every pair of games in a run: to do, out, or parked until a time.

A pair is *out* while a worker plays it. It is *parked* for a pause after a failed call, or while
one of its engines does not start; the pauses of an engine double with each failure. A pair that is
in none of these states is done, or was given up.

On a user's executor, a failed start first counts against the worker, which then returns the games
of that engine unplayed during a pause. A failed start also counts against the engine if the engine
fails on a second host, or again on the same worker, without a game on any worker in between.
"""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import NamedTuple

from merels.tournament.records.games import PairTask
from merels.tournament.run import tasks
from merels.tournament.run.tasks import Backoff, Place

ATTEMPTS = 3
"""Failed calls after which a pair is given up, if games were received between them."""
RETRY_CHECK_SECONDS = 0.25
"""Time for which a pair is parked while another pair tries its engine again, in seconds."""


@dataclass(eq=False, slots=True)
class _Row:
    """A pair that is not done."""

    task: PairTask
    passes: int = 0
    """Number of later pairs that were handed out before this one."""
    failures: int = 0
    """Number of failed calls; a further one counts only if a game was received in between."""
    breaks: int = 0
    """Number of the pair's calls during which an executor broke."""
    received: int = 0
    """Number of games that the run had received when the last call failed."""
    is_lost: bool = False
    """Whether `lost` has returned the pair, because one of its engines was given up."""


class _Parked(NamedTuple):
    """A parked pair; serial numbers order the pairs of equal times in a heap."""

    until: float
    serial: int
    row: _Row


@dataclass(eq=False, slots=True)
class _FailingEngine:
    """An engine that did not start."""

    failure: str = ""
    """Text of the last failure, such as ``does not start (exit code 127)``."""
    backoff: Backoff = field(default_factory=Backoff)
    is_excluded: bool = False
    """Whether the engine plays no more games in this run."""
    is_reported: bool = False
    """Whether a notice has reported the engine (not only one worker) as failing."""
    retry: _Row | None = None
    """The pair that tries the engine again, while it is out."""
    suspects: set[Place] = field(default_factory=set)
    """Workers on which the engine failed since its last game on any worker."""
    unfit: set[Place] = field(default_factory=set)
    """Workers on which the engine failed and has not played since."""

    def fails_on(self, place: Place) -> bool:
        """Suspect a worker; return whether the engine is also at fault."""
        failed_again = place in self.suspects
        self.suspects.add(place)
        self.unfit.add(place)
        return failed_again or len({suspect.host for suspect in self.suspects}) > 1

    @property
    def is_given_up(self) -> bool:
        """Whether the run does not wait for the engine; it may be tried again meanwhile."""
        return self.is_excluded or self.backoff.is_exhausted

    @property
    def may_be_tried(self) -> bool:
        if self.is_excluded:
            return False
        return not self.backoff.failures or not (self.retry or self.backoff.is_paused)


class PairTable:
    """All pairs that were announced and are not done, and the engines that do not start.

    ``is_match``: the tournament has only two engines, so that notices can be shorter.
    """

    def __init__(self, is_match: bool) -> None:
        self._is_match = is_match
        self._todo: deque[_Row] = deque()
        self._parked: list[_Parked] = []
        """A heap: the pair that wakes up first is the first item."""
        self._out: dict[int, _Row] = {}
        self._engines: dict[str, _FailingEngine] = {}
        self._serials = itertools.count()
        self.received = 0
        """Number of games received."""
        self.failures_in_a_row = 0
        """Calls that failed since a game was received."""
        self.given_up: list[tuple[PairTask, str]] = []
        """Pairs whose calls failed too often, with the last error; they stay unplayed."""

    def __len__(self) -> int:
        """Return the number of pairs that may be handed out at once."""
        return len(self._todo)

    @property
    def has_suspect(self) -> bool:
        """Whether a pair is out that may break the executor, so that no other pair may join it."""
        return any(row.breaks > 1 for row in self._out.values())

    @property
    def has_out(self) -> bool:
        return bool(self._out)

    def task(self, pair: int) -> PairTask:
        """Return the games of a pair that is out."""
        return self._out[pair].task

    @property
    def may_go_on(self) -> bool:
        """Whether a pair may be handed out later, without further results."""
        rows = itertools.chain(self._todo, (parked.row for parked in self._parked))
        lost = self.lost_engines().keys()
        return any(not lost & row.task.engines for row in rows)

    def add(self, task: PairTask) -> None:
        """Add a pair of the plan."""
        self._todo.append(_Row(task))

    def take(
        self, score: Callable[[PairTask], int] | None = None, patience: int = 0
    ) -> PairTask | None:
        """Move a pair from to do to out, and return its task; None if no pair can be played now.

        Among the pairs of highest ``score``, the oldest one is chosen; without ``score``, the
        oldest pair. A pair that was passed over ``patience`` times is chosen next.
        """
        self._wake()
        playable = [row for row in list(self._todo) if self._admits(row)]
        if not playable:
            return None
        chosen = playable[0]
        if score is not None and chosen.passes < patience:
            chosen = max(playable, key=lambda row: score(row.task))
        for row in playable[: playable.index(chosen)]:
            row.passes += 1
        self._todo.remove(chosen)
        self._out[chosen.task.pair] = chosen
        for engine in self._failing(chosen.task):
            engine.retry = chosen if engine.backoff.failures else None
        return chosen.task

    def _wake(self) -> None:
        """Move the parked pairs whose time has come to the front of the pairs to do."""
        now, due = monotonic(), []
        while self._parked and self._parked[0].until <= now:
            due.append(heapq.heappop(self._parked).row)
        self._todo.extendleft(reversed(due))

    def _admits(self, row: _Row) -> bool:
        """Return whether a pair can be played now; park it if one of its engines cannot."""
        if waiting := [engine for engine in self._failing(row.task) if not engine.may_be_tried]:
            self._todo.remove(row)
            check = monotonic() + RETRY_CHECK_SECONDS
            self._park(row, max(check, *(engine.backoff.until for engine in waiting)))
            return False
        return not (row.breaks > 1 and self._out)

    def _park(self, row: _Row, until: float) -> None:
        heapq.heappush(self._parked, _Parked(until, next(self._serials), row))

    def put_back(self, pair: int, played: set[int]) -> None:
        """Take a pair back from its worker; games whose numbers are not in ``played`` are to do."""
        row = self._end_call(pair)
        row.task = row.task.without(played)
        if row.task.games:
            self._todo.appendleft(row)

    def _end_call(self, pair: int) -> _Row:
        row = self._out.pop(pair)
        for engine in self._failing(row.task):
            if engine.retry is row:
                engine.retry = None
        return row

    def fail(
        self, pair: int, error: str, is_broken: bool, played: set[int]
    ) -> PairTask | None:
        """Park a pair whose call failed; return its unplayed rest if it is given up, else None."""
        self.failures_in_a_row += 1
        row = self._end_call(pair)
        row.task = row.task.without(played)
        if not row.task.games:
            return None
        if not row.failures or row.received < self.received:
            row.failures += 1
        row.received = self.received
        row.breaks += is_broken
        if row.failures < ATTEMPTS:
            self._park(row, monotonic() + tasks.PAUSE_SECONDS)
            return None
        self.given_up.append((row.task, error))
        return row.task

    def forgive(self) -> None:
        """Forget the failures of pairs, because the workers failed, not the pairs."""
        self.failures_in_a_row = 0
        for row in itertools.chain(self._todo, (parked.row for parked in self._parked)):
            row.failures = 0

    # Engines that do not start.

    def fail_start(self, failures: Mapping[str, str], place: Place | None) -> list[str]:
        """Count failed starts and return notices for the user.

        ``failures``: engine name -> failure. ``place``: the worker of a user's executor, or None
        for a local worker.
        """
        notices = []
        for name, failure in failures.items():
            engine = self._engines.setdefault(name, _FailingEngine())
            engine.failure = failure
            if place is not None:
                if place not in engine.unfit:
                    games = "games" if self._is_match else f"games of {name}"
                    notices.append(
                        f"{place}: engine {name} {failure}; this worker gets no {games} for now"
                    )
                if not engine.fails_on(place):
                    continue
            engine.backoff.fail()
            if not engine.is_reported:
                engine.is_reported = True
                notices.append(f"engine {name} {failure}; its games wait, and it is tried again")
        return notices

    def exclude(self, faults: Mapping[str, str]) -> list[str]:
        """Give engines no more games in this run; return notices. ``faults``: name -> reason."""
        notices = []
        for name, fault in faults.items():
            engine = self._engines.setdefault(name, _FailingEngine())
            if not engine.is_excluded:
                engine.is_excluded, engine.failure = True, fault
                notices.append(f"engine {name} {fault}; it plays no more in this run")
        return notices

    def start(self, names: Iterable[str], place: Place | None) -> list[str]:
        """Reset the failures of engines that started, and return notices for the user."""
        notices = []
        for name in names:
            engine = self._engines.get(name)
            if engine is None or engine.is_excluded:
                continue
            if place is not None and place in engine.unfit:
                engine.unfit.discard(place)
                notices.append(f"{place}: engine {name} starts again")
            elif engine.is_reported:
                notices.append(f"engine {name} starts again")
            if engine.unfit:
                engine.backoff, engine.is_reported, engine.retry = Backoff(), False, None
                engine.suspects.clear()
            else:
                del self._engines[name]
            self._parked = [
                parked._replace(until=0.0) if name in parked.row.task.engines else parked
                for parked in self._parked
            ]
            heapq.heapify(self._parked)
        return notices

    def paused(self) -> set[str]:
        """Return the names of the engines that must not be tried now."""
        return {name for name, engine in self._engines.items() if not engine.may_be_tried}

    def failed_again(self) -> dict[str, str]:
        """Return the engines that failed again after a pause, and that no worker may be playing."""
        out = {name for row in self._out.values() for name in row.task.engines}
        return {
            name: engine.failure for name, engine in self._engines.items()
            if engine.backoff.failures > 1 and name not in out
        }

    def lost_engines(self) -> dict[str, str]:
        """Return the engines that the run has given up: name -> last failure."""
        return {
            name: engine.failure for name, engine in self._engines.items() if engine.is_given_up
        }

    def lost(self) -> list[PairTask]:
        """Return the parked pairs of engines that the run has given up, each only once."""
        if not (names := self.lost_engines().keys()):
            return []
        rows = [parked.row for parked in self._parked]
        lost = [row for row in rows if not row.is_lost and names & row.task.engines]
        for row in lost:
            row.is_lost = True
        return [row.task for row in lost]

    def _failing(self, task: PairTask) -> list[_FailingEngine]:
        if not self._engines:
            return []
        return [self._engines[name] for name in task.engines if name in self._engines]
