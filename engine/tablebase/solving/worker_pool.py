"""The threads of a build, which share the work of each stage of a solver."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Protocol

_REPORT_EVERY = 0.25
"""Seconds between reports."""


class Solver(Protocol):
    """A computation in stages, each shared by any number of threads."""

    @property
    def done(self) -> float:
        """Share of the current stage that is done, from 0 to 1."""

    def work(self) -> None:
        """Work on the current stage until no work is left to take."""

    def stop(self) -> None:
        """Make every call of `work` return early."""


@dataclass(frozen=True, slots=True)
class WorkerPool:
    """A number of threads of a pool that work on one solver."""

    pool: ThreadPoolExecutor
    threads: int

    def work(self, solver: Solver, report: Callable[[], None]) -> None:
        """Run the solver's current stage to its end; call ``report`` four times a second."""
        try:
            futures = [self.pool.submit(solver.work) for _ in range(self.threads)]
            while wait(futures, _REPORT_EVERY).not_done:
                report()
        except BaseException:
            solver.stop()
            raise
        for future in futures:
            future.result()
