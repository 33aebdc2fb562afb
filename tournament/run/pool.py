"""The interface between the runner and the workers that play its pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from merels.tournament.records.games import PairTask
from merels.tournament.run.tasks import Backoff, Event


class Pool:
    """Workers that make calls; `events` yields what they report and return.

    The pool is given up when it had to recover too often without a finished game.
    """

    foreign = False
    """Whether the workers are those of a user's executor."""
    ahead = 0
    """Number of pairs, besides the next one, among which a worker may choose."""
    silent = False
    """Whether the pool is stalled, and a notice has reported this."""

    def __init__(self) -> None:
        self.given_up = False
        """Whether the run ends because no worker can play."""
        self._backoff = Backoff()
        self._notices: list[str] = []

    @property
    def ready(self) -> bool:
        """Whether calls can be made now or after results; if not, the pool waits."""
        raise NotImplementedError

    @property
    def has_room(self) -> bool:
        """Whether a call can be made now."""
        raise NotImplementedError

    def score(self, task: PairTask) -> int:
        """Return how many engines of a task the worker of the next call is known to be running."""
        return 0

    def give(self, call: int, function: Callable[..., Any], *arguments: Any) -> None:
        """Make a call."""
        raise NotImplementedError

    def events(self, timeout: float) -> Iterator[Event]:
        """Yield events; wait up to ``timeout`` seconds for the first one."""
        raise NotImplementedError

    def check(self) -> list[str]:
        """Return new notices for the user."""
        notices, self._notices = self._notices, []
        return notices

    def recover(self, why: str) -> None:
        """Pause before further calls, or replace the workers: calls fail with the error ``why``."""
        raise NotImplementedError

    def note_work(self) -> None:
        """Record that a worker played a game or completed a trial."""
        self._backoff = Backoff()

    def withdraw(self) -> None:
        """Take back the calls that no worker has started."""

    def finish_games(self) -> None:
        """Have the calls return after the game in progress, if the workers can be asked to."""
        self.withdraw()

    def close(self) -> str | None:
        """End the workers after their last call; return a notice if that fails."""
        raise NotImplementedError

    def kill(self) -> None:
        """End the workers without waiting for their calls."""
        raise NotImplementedError
