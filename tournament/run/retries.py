"""Retries of engines that do not start, and of workers on which they do not.

A game whose engines do not both start has no result and waits. Such an engine is tried again after
pauses that double, while the other engines play on. A failed start on a user's executor is blamed
on the worker, which gets no game of that engine for a pause. It is blamed on the engine as well
when it fails on a second host, or on the same worker again, and was played nowhere in between.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from time import monotonic

from merels.tournament.records.games import PairTask
from merels.tournament.run.tasks import Place

TRIES = 5
"""Failures in a row after which a run no longer waits: 15 s of pauses lie between them."""
TRIAL_TRIES = 3
"""Failures of the trial on one worker after which the engine is refused."""
PAUSE_SECONDS = 1.0
"""Pause after the first failure; each further failure doubles it."""
ON_ONE_WORKER = 2
"""Factor of the pauses of an engine on one worker, so that others are tried before."""
LONGEST_PAUSE = 300.0


class Backoff:
    """Pauses between tries of something that fails, ``factor`` times as long as usual."""

    def __init__(self, factor: int = 1, tries: int = TRIES) -> None:
        self._factor, self._tries = factor, tries
        self._until = 0.0
        self.failures = 0
        """Failures in a row; those that come during a pause do not count."""

    def fail(self) -> bool:
        """Count a failure, unless it comes during a pause: its try began before the pause.

        Return whether it was counted.
        """
        now = monotonic()
        if now < self._until:
            return False
        pause = PAUSE_SECONDS * self._factor * 2**self.failures
        self._until = now + min(LONGEST_PAUSE, pause)
        self.failures += 1
        return True

    def reset(self) -> None:
        """Forget all failures."""
        self._until, self.failures = 0.0, 0

    @property
    def left(self) -> float:
        """Seconds until the next try."""
        return max(0.0, self._until - monotonic())

    @property
    def rests(self) -> bool:
        """Whether the pause lasts."""
        return self.left > 0

    @property
    def is_exhausted(self) -> bool:
        """Whether it failed so often that a run no longer waits for it."""
        return self.failures >= self._tries


class _Failing:
    """An engine that did not start."""

    def __init__(self) -> None:
        self.backoff = Backoff()
        self.words = ""
        """The last failure."""
        self.waiting: deque[PairTask] = deque()
        """Tasks that were not handed out because of this engine."""
        self.is_tried = False
        """Whether a task that tries the engine again was handed out."""
        self.is_reported = False
        """Whether the failure was reported as the engine's."""
        self.suspects: set[Place] = set()
        """Workers on which it failed since it was last played on any."""
        self.left_out: dict[Place, Backoff] = {}
        """Workers on which it failed and was not played since."""

    def leave_out(self, place: Place) -> bool:
        """Give a worker no games for a pause; return whether the engine is at fault, too."""
        is_next = self.left_out.setdefault(place, Backoff(ON_ONE_WORKER)).fail()
        again = is_next and place in self.suspects
        self.suspects.add(place)
        return again or len({suspect.host for suspect in self.suspects}) > 1

    @property
    def may_be_tried(self) -> bool:
        """Whether a task of the engine may be handed out."""
        return not self.backoff.failures or not (self.is_tried or self.backoff.rests)


class Starts:
    """Engines that do not start, and the tasks that wait for them.

    ``is_match``: there are no other engines than two.
    """

    def __init__(self, is_match: bool) -> None:
        self._is_match = is_match
        self._failing: dict[str, _Failing] = {}

    def fail(self, failures: Mapping[str, str], place: Place | None) -> list[str]:
        """Count engines that did not start; returns notices.

        ``place``: the worker of a user's executor; None for one of this machine.
        """
        notices = []
        for name, words in failures.items():
            engine = self._failing.setdefault(name, _Failing())
            engine.words, engine.is_tried = words, False
            if place is not None:
                if place not in engine.left_out:
                    what = "no more games" if self._is_match else f"no more games of {name}"
                    notices.append(f"{place}: engine {name} {words}; {what} go there")
                if not engine.leave_out(place):
                    continue
            engine.backoff.fail()
            if not engine.is_reported:
                engine.is_reported = True
                notices.append(f"engine {name} {words}; its games wait, and it is tried again")
        return notices

    def succeed(self, names: Iterable[str], place: Place | None) -> list[str]:
        """Forget the failures of engines that were played or tried; returns notices."""
        notices = []
        for name in names:
            if (engine := self._failing.get(name)) is None:
                continue
            if place is not None and engine.left_out.pop(place, None) is not None:
                notices.append(f"{place}: engine {name} starts again")
            elif engine.is_reported:
                notices.append(f"engine {name} starts again")
            engine.is_reported = engine.is_tried = False
            engine.backoff.reset()
            engine.suspects.clear()
            if not (engine.waiting or engine.left_out):
                del self._failing[name]
        return notices

    def admit(self, task: PairTask) -> bool:
        """Return whether a task can be handed out; otherwise keep it until `take` returns it."""
        engines = self._engines(task)
        for engine in engines:
            if not engine.may_be_tried:
                engine.waiting.append(task)
                return False
        for engine in engines:
            engine.is_tried = engine.backoff.failures > 0
        return True

    def come_back(self, task: PairTask) -> None:
        """Allow another try of a task's engines: the task is no longer handed out."""
        for engine in self._engines(task):
            engine.is_tried = False

    def take(self) -> PairTask | None:
        """A task that waited and whose engine may be tried now, or None."""
        for name, engine in list(self._failing.items()):
            if engine.may_be_tried:
                if engine.waiting:
                    return engine.waiting.popleft()
                if not (engine.backoff.failures or engine.left_out):
                    del self._failing[name]
        return None

    def left_out(self, task: PairTask) -> frozenset[Place]:
        """Workers that must not play a task."""
        return frozenset(
            place for engine in self._engines(task)
            for place, backoff in engine.left_out.items() if backoff.rests
        )

    def resting(self) -> set[str]:
        """Names of the engines that are not tried yet."""
        return {name for name, engine in self._failing.items() if not engine.may_be_tried}

    @property
    def has_hope(self) -> bool:
        """Whether a waiting task may be handed out later: none of its engines is exhausted."""
        hopeless = {name for name, engine in self._failing.items() if engine.backoff.is_exhausted}
        return any(
            not hopeless & _names(task)
            for name, engine in self._failing.items() if name not in hopeless
            for task in engine.waiting
        )

    def is_hopeless(self, task: PairTask) -> bool:
        """Whether one of a task's engines is exhausted."""
        return any(engine.backoff.is_exhausted for engine in self._engines(task))

    def hopeless(self) -> Iterator[tuple[str, str, Iterable[PairTask]]]:
        """The exhausted engines: name, last failure and waiting tasks."""
        for name, engine in self._failing.items():
            if engine.backoff.is_exhausted:
                yield name, engine.words, engine.waiting

    def _engines(self, task: PairTask) -> list[_Failing]:
        if not self._failing:
            return []
        return [self._failing[name] for name in _names(task) if name in self._failing]


class Refusals:
    """Workers on which an engine failed the trial before the first game."""

    def __init__(self) -> None:
        self._backoffs: dict[Place, Backoff] = {}

    def add(self, place: Place) -> bool:
        """Count a refusal; return whether it is the engine's fault."""
        backoff = self._backoffs.setdefault(place, Backoff(ON_ONE_WORKER, TRIAL_TRIES))
        backoff.fail()
        return backoff.is_exhausted or len({place.host for place in self._backoffs}) > 1

    def left_out(self) -> frozenset[Place]:
        """Workers that must not try the engines now."""
        return frozenset(place for place, backoff in self._backoffs.items() if backoff.rests)


def _names(task: PairTask) -> set[str]:
    """The names of a task's engines."""
    return {task.games[0].white.name, task.games[0].black.name}
