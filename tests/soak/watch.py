"""Memory and descriptors of a run's processes, sampled from /proc."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median_low
from typing import NamedTuple

SECONDS = 0.5
"""Seconds between samples."""
WARM = 50
"""Number of games after which a run's workers and engines have started."""
ENOUGH = 40
"""Number of samples needed to judge growth."""
KEPT = 4 << 20
"""Bytes by which the runner's memory may grow from the first to the last quarter of a run."""
KEPT_A_GAME = 2048
"""Additional bytes for each game in between: the runner keeps every result, for the ratings."""
DESCRIPTORS = 4
"""Number of descriptors that a process may gain from the first to the last quarter."""
AN_ENGINE = 3
"""Descriptors of a worker for each of its engines: two pipes, and one that reports its end. They
are not counted, because in a knockout a worker keeps more engines from match to match."""


class Sample(NamedTuple):
    """State of a run: games finished, the runner's memory in bytes and its descriptors.

    ``worker_descriptors`` is the greatest number of descriptors of a worker, without those to its
    engines.
    """

    games: int
    memory: int
    descriptors: int
    worker_descriptors: int


@dataclass
class Watch:
    """Samples a runner while it runs; ``games`` returns the number of finished games."""

    pid: int
    games: Callable[[], int]
    samples: list[Sample] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._over.wait(SECONDS):
            try:
                workers = [pid for pid in children(self.pid) if "worker" in command(pid)]
                most = max(map(own_descriptors, workers), default=0)
                self.samples.append(
                    Sample(self.games(), memory(self.pid), descriptors(self.pid), most)
                )
            except (OSError, StopIteration):
                continue  # The runner or a worker has just ended.

    def stop(self) -> None:
        """End the sampling."""
        self._over.set()
        self._thread.join()

    def change(self) -> Sample | None:
        """Return the last quarter's medians minus the first quarter's; None after a short run."""
        begin = self.samples[0].games if self.samples else 0
        warm = [sample for sample in self.samples if sample.games >= begin + WARM]
        if len(warm) < ENOUGH:
            return None
        quarter = len(warm) // 4
        before, after = middle(warm[:quarter]), middle(warm[-quarter:])
        return Sample(*(late - early for early, late in zip(before, after)))

    def growth(self) -> str | None:
        """Return a message about memory or descriptors that have grown too much, or None."""
        change = self.change()
        if change is None:
            return None
        grown = f"{change.memory / (1 << 20):.1f} MiB in {change.games} games"
        if change.memory > KEPT + KEPT_A_GAME * change.games:
            return f"the runner's memory grew by {grown}"
        for more, process in (
            (change.descriptors, "the runner"), (change.worker_descriptors, "a worker")
        ):
            if more > DESCRIPTORS:
                return f"{process} has {more} descriptors more after {change.games} games"
        return None


def middle(samples: list[Sample]) -> Sample:
    """Return the median of each field."""
    return Sample(*(median_low(values) for values in zip(*samples)))


def memory(pid: int) -> int:
    """Return a process's resident memory in bytes."""
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        line = next(line for line in file if line.startswith("VmRSS"))
    return int(line.split()[1]) << 10


def descriptors(pid: int) -> int:
    """Return the number of open descriptors of a process."""
    return len(os.listdir(f"/proc/{pid}/fd"))


def own_descriptors(worker: int) -> int:
    """Return the number of open descriptors of a worker, without those to its engines."""
    return descriptors(worker) - AN_ENGINE * len(children(worker))


def children(pid: int) -> list[int]:
    """Return the child processes of all threads of a process."""
    pids: list[int] = []
    for task in os.listdir(f"/proc/{pid}/task"):
        pids += map(int, Path(f"/proc/{pid}/task/{task}/children").read_text().split())
    return pids


def command(pid: int) -> str:
    """Return a process's command line."""
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
