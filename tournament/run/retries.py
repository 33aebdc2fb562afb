"""Retries of engines that do not start, and of workers on which they fail to start.

If an engine does not start, its games wait. The runner tries the engine again after pauses that
double; other engines continue to play.

On a user's executor, a failed start first counts against the worker, which is left out: it gets no
game of that engine during a pause. A failed start also counts against the engine if the engine
fails on a second host, or again on the same worker, without a game on any worker in between.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from time import monotonic

from merels.tournament.records.games import PairTask
from merels.tournament.run.tasks import Place

MAX_FAILURES = 5
"""Failures in a row after which an engine, or the pool of workers, is given up.

The pauses between them add up to 15 s."""
MAX_TRIAL_FAILURES = 3
"""Failures of an engine's trial on one worker after which the run ends."""
PAUSE_SECONDS = 1.0
"""Pause after the first failure, in seconds; each further failure doubles the pause."""
WORKER_FACTOR = 2
"""Factor of the pauses of an engine on one worker, so that other workers are tried first."""
MAX_PAUSE = 300.0
"""Longest pause, in seconds."""


class Backoff:
    """Exponential backoff that begins at `PAUSE_SECONDS` times ``factor``.

    It is exhausted after ``max_failures`` failures in a row.
    """

    def __init__(self, factor: int = 1, max_failures: int = MAX_FAILURES) -> None:
        self._factor, self._max_failures = factor, max_failures
        self._until = 0.0
        self.failures = 0
        """Number of counted failures in a row."""

    def fail(self) -> bool:
        """Count a failure, start a pause and return True.

        During a pause, do nothing and return False: the failed attempt began before the pause.
        """
        now = monotonic()
        if now < self._until:
            return False
        pause = PAUSE_SECONDS * self._factor * 2**self.failures
        self._until = now + min(MAX_PAUSE, pause)
        self.failures += 1
        return True

    def reset(self) -> None:
        self._until, self.failures = 0.0, 0

    @property
    def seconds_left(self) -> float:
        """Rest of the pause; 0 after it."""
        return max(0.0, self._until - monotonic())

    @property
    def is_paused(self) -> bool:
        return self.seconds_left > 0

    @property
    def is_exhausted(self) -> bool:
        return self.failures >= self._max_failures


class _FailingEngine:
    """An engine that did not start."""

    def __init__(self) -> None:
        self.backoff = Backoff()
        self.failure = ""
        """Text of the last failure, such as ``does not start (exit code 127)``."""
        self.waiting: deque[PairTask] = deque()
        """Tasks that wait for this engine to start."""
        self.is_excluded = False
        """Whether the engine plays no more games in this run."""
        self.retry: PairTask | None = None
        """Task in progress that tries the engine again, or None."""
        self.is_reported = False
        """Whether a notice has reported the engine (not only one worker) as failing."""
        self.suspects: set[Place] = set()
        """Workers on which the engine failed since its last game on any worker."""
        self.left_out: dict[Place, Backoff] = {}
        """Workers on which the engine failed and has not played since."""

    def leave_out(self, place: Place) -> bool:
        """Give a worker no games during a pause; return whether the engine is also at fault."""
        is_counted = self.left_out.setdefault(place, Backoff(WORKER_FACTOR)).fail()
        failed_again = is_counted and place in self.suspects
        self.suspects.add(place)
        return failed_again or len({suspect.host for suspect in self.suspects}) > 1

    @property
    def is_given_up(self) -> bool:
        """Whether the run does not wait for the engine."""
        return self.is_excluded or self.backoff.is_exhausted

    @property
    def may_be_tried(self) -> bool:
        """Whether a task of the engine may be submitted."""
        if self.is_excluded:
            return False
        return not self.backoff.failures or not (self.retry or self.backoff.is_paused)


class Starts:
    """Engines that do not start, and the tasks that wait for them.

    ``is_match``: the tournament has only two engines, so that notices can be shorter.
    """

    def __init__(self, is_match: bool) -> None:
        self._is_match = is_match
        self._failing: dict[str, _FailingEngine] = {}

    def fail(self, failures: Mapping[str, str], place: Place | None) -> list[str]:
        """Count failed starts and return notices for the user.

        ``failures``: engine name -> failure. ``place``: the worker of a user's executor, or None
        for a local worker.
        """
        notices = []
        for name, failure in failures.items():
            engine = self._failing.setdefault(name, _FailingEngine())
            engine.failure = failure
            if place is not None:
                if place not in engine.left_out:
                    games = "games" if self._is_match else f"games of {name}"
                    notices.append(
                        f"{place}: engine {name} {failure}; this worker gets no {games} for now"
                    )
                if not engine.leave_out(place):
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
            engine = self._failing.setdefault(name, _FailingEngine())
            if not engine.is_excluded:
                engine.is_excluded, engine.failure = True, fault
                notices.append(f"engine {name} {fault}; it plays no more in this run")
        return notices

    def succeed(self, names: Iterable[str], place: Place | None) -> list[str]:
        """Reset the failures of engines that started, and return notices for the user."""
        notices = []
        for name in names:
            engine = self._failing.get(name)
            if engine is None or engine.is_excluded:
                continue
            if place is not None and engine.left_out.pop(place, None) is not None:
                notices.append(f"{place}: engine {name} starts again")
            elif engine.is_reported:
                notices.append(f"engine {name} starts again")
            engine.is_reported, engine.retry = False, None
            engine.backoff.reset()
            engine.suspects.clear()
            if not (engine.waiting or engine.left_out):
                del self._failing[name]
        return notices

    def admit(self, task: PairTask) -> bool:
        """Return whether a task may be submitted; if not, queue it for `next_waiting`."""
        engines = self._engines(task)
        for engine in engines:
            if not engine.may_be_tried:
                engine.waiting.append(task)
                return False
        for engine in engines:
            engine.retry = task if engine.backoff.failures else None
        return True

    def task_returned(self, task: PairTask) -> None:
        """Record that a task is no longer in progress, so that its engines may be tried again."""
        for engine in self._engines(task):
            if engine.retry is task:
                engine.retry = None

    def next_waiting(self) -> PairTask | None:
        """Remove and return a waiting task whose engine may be tried now; None without one."""
        for name, engine in list(self._failing.items()):
            if engine.may_be_tried:
                if engine.waiting:
                    return engine.waiting.popleft()
                if not (engine.backoff.failures or engine.left_out):
                    del self._failing[name]
        return None

    def left_out(self, task: PairTask) -> frozenset[Place]:
        """Return the workers that must not play this task now."""
        return frozenset(
            place for engine in self._engines(task)
            for place, backoff in engine.left_out.items() if backoff.is_paused
        )

    def paused(self) -> set[str]:
        """Return the names of the engines that must not be tried now."""
        return {name for name, engine in self._failing.items() if not engine.may_be_tried}

    @property
    def has_playable(self) -> bool:
        """Whether a waiting task may still be played: none of its engines is given up."""
        given_up = {name for name, engine in self._failing.items() if engine.is_given_up}
        return any(
            not given_up & task.engines
            for name, engine in self._failing.items() if name not in given_up
            for task in engine.waiting
        )

    def is_given_up(self, task: PairTask) -> bool:
        """Return whether the run has given up one of a task's engines."""
        return any(engine.is_given_up for engine in self._engines(task))

    def given_up(self) -> Iterator[tuple[str, str, Iterable[PairTask]]]:
        """Yield each engine that the run has given up: name, last failure, waiting tasks."""
        for name, engine in self._failing.items():
            if engine.is_given_up:
                yield name, engine.failure, engine.waiting

    def _engines(self, task: PairTask) -> list[_FailingEngine]:
        if not self._failing:
            return []
        return [self._failing[name] for name in task.engines if name in self._failing]


class Refusals:
    """Workers on which an engine failed its trial before the first game."""

    def __init__(self) -> None:
        self._backoffs: dict[Place, Backoff] = {}

    def add(self, place: Place) -> bool:
        """Count a failed trial; return whether the engine, not the worker, is at fault."""
        backoff = self._backoffs.setdefault(place, Backoff(WORKER_FACTOR, MAX_TRIAL_FAILURES))
        backoff.fail()
        return backoff.is_exhausted or len({place.host for place in self._backoffs}) > 1

    def left_out(self) -> frozenset[Place]:
        """Return the workers that must not try the engines now."""
        return frozenset(place for place, backoff in self._backoffs.items() if backoff.is_paused)
