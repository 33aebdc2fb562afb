"""The threads of a build, which work together on what is solved."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Protocol

_REPORT_EVERY = 0.25
"""Seconds."""


class Solver(Protocol):
    """A computation in stages, each shared by any number of threads."""

    @property
    def done(self) -> float:
        """Share of the stage that was started, from 0 to 1."""

    def work(self) -> None:
        """Work on the stage until none of it is left."""

    def stop(self) -> None:
        """Let every `work` return early."""


@dataclass(frozen=True, slots=True)
class WorkerPool:
    """Some threads of a pool."""

    pool: ThreadPoolExecutor
    threads: int

    def work(self, solver: Solver, report: Callable[[], None]) -> None:
        """Work on a started stage until it is done, calling ``report`` several times a second."""
        try:
            work = [self.pool.submit(solver.work) for _ in range(self.threads)]
            while wait(work, _REPORT_EVERY).not_done:
                report()
        except BaseException:
            solver.stop()
            raise
        for future in work:
            future.result()
