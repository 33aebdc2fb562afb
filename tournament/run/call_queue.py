"""Queue of calls to local workers, ordered so that running engines are used again."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from merels.tournament.play.engine_cache import KEPT
from merels.tournament.records.games import PairTask
from merels.tournament.run.channel import Call


class EngineHistory:
    """Names of the engines that a worker process has started, the most recently used last."""

    def __init__(self) -> None:
        self._names: dict[str, None] = {}

    def add(self, names: frozenset[str]) -> None:
        """Record that the worker plays with these engines."""
        for name in names:
            self._names.pop(name, None)
            self._names[name] = None

    def clear(self) -> None:
        """Remove all names, because the worker process has ended."""
        self._names.clear()

    def score(self, names: frozenset[str]) -> tuple[int, int]:
        """Return how many of these engines are certainly running, and how many may be running.

        The engine cache keeps the last `KEPT` engines.
        """
        running = list(self._names)[-KEPT:]
        return sum(name in running for name in names), sum(name in self._names for name in names)


@dataclass(eq=False, slots=True)
class _QueuedCall:
    future: Future[Any]
    call: Call
    engines: frozenset[str]
    passes: int = 0
    """Number of later calls that were taken before this one."""


class CallQueue:
    """A queue that gives each worker a call whose engines it already runs, if there is one.

    Among calls that suit a worker equally, the oldest is taken. A call that was passed over
    ``patience`` times is taken next, so that results arrive almost in order.
    """

    def __init__(self, patience: int) -> None:
        self._patience = patience
        self._waiting: list[_QueuedCall] = []
        self._is_closed = False
        self._changed = threading.Condition()

    def put(self, future: Future[Any], call: Call) -> None:
        """Add a call; the engines of a call are those of the `PairTask` among its arguments."""
        task = call.arguments[0] if call.arguments else None
        engines = task.engines if isinstance(task, PairTask) else frozenset[str]()
        with self._changed:
            self._waiting.append(_QueuedCall(future, call, engines))
            self._changed.notify()

    def take(self, history: EngineHistory) -> tuple[Future[Any], Call] | None:
        """Wait for a call and return it, or None once the queue is closed and empty.

        The engines of the call are added to ``history``.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_closed)
            if not self._waiting:
                return None
            chosen = self._waiting[0]
            if chosen.passes < self._patience:
                chosen = max(self._waiting, key=lambda item: history.score(item.engines))
            for item in self._waiting[: self._waiting.index(chosen)]:
                item.passes += 1
            self._waiting.remove(chosen)
            history.add(chosen.engines)
            return chosen.future, chosen.call

    def cancel(self) -> None:
        """Cancel the calls that no worker has taken."""
        with self._changed:
            waiting, self._waiting = self._waiting, []
        for item in waiting:
            item.future.cancel()

    def close(self) -> None:
        """Have `take` return None once the queue is empty."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
