"""An executor that plays nothing, for command lines that are to be read and not carried out."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

MOST_TASKS = 20
"""Tasks after which whoever hands them out is interrupted, as a person would."""


class Idle(Executor):
    """Cancels every task at once."""

    def __init__(self) -> None:
        self._tasks = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """A future that is cancelled already."""
        self._tasks += 1
        if self._tasks > MOST_TASKS:
            os.kill(os.getpid(), signal.SIGINT)
        future: Future[Any] = Future()
        future.cancel()
        future.set_running_or_notify_cancel()
        return future
