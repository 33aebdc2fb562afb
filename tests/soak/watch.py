"""What a run's processes hold, from /proc."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median_low
from typing import NamedTuple

SECONDS = 0.5
"""From one sample to the next."""
WARM = 50
"""Games after which a run's workers and their engines have started."""
ENOUGH = 40
"""Samples needed to judge growth."""
KEPT = 4 << 20
KEPT_A_GAME = 2048
"""Bytes that the runner's memory may grow by between the first and the last quarter of a run, and
for each game in between: it remembers every game's result to rate it, and grows in steps."""
DESCRIPTORS = 4
"""Descriptors that a process may gain from the first to the last quarter."""
AN_ENGINE = 3
"""Descriptors that a worker has for each of its engines: two pipes and a sign of its end. In a
knockout it comes to keep more engines from match to match, and no leak is in that."""


class Sample(NamedTuple):
    """A moment of a run: games finished so far, bytes, descriptors.

    ``below`` is the most descriptors of a worker, without those to its engines.
    """

    games: int
    memory: int
    descriptors: int
    below: int


@dataclass
class Watch:
    """Samples a runner while it runs; ``games`` tells how many it has finished."""

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
                continue  # it, or a worker of it, has just ended

    def stop(self) -> None:
        """End the sampling."""
        self._over.set()
        self._thread.join()

    def change(self) -> Sample | None:
        """The last quarter's medians less those of the first; None for too short a run."""
        begin = self.samples[0].games if self.samples else 0
        rest = [sample for sample in self.samples if sample.games >= begin + WARM]
        if len(rest) < ENOUGH:
            return None
        quarter = len(rest) // 4
        before, after = middle(rest[:quarter]), middle(rest[-quarter:])
        return Sample(*(late - early for early, late in zip(before, after)))

    def growth(self) -> str | None:
        """What has grown more than it may, or None."""
        change = self.change()
        if change is None:
            return None
        grown = f"{change.memory / (1 << 20):.1f} MiB in {change.games} games"
        if change.memory > KEPT + KEPT_A_GAME * change.games:
            return f"the runner's memory grew by {grown}"
        for more, whose in ((change.descriptors, "the runner"), (change.below, "a worker")):
            if more > DESCRIPTORS:
                return f"{whose} has {more} descriptors more after {change.games} games"
        return None


def middle(samples: list[Sample]) -> Sample:
    """The median of each field."""
    return Sample(*(median_low(values) for values in zip(*samples)))


def memory(pid: int) -> int:
    """A process's resident memory in bytes."""
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        line = next(line for line in file if line.startswith("VmRSS"))
    return int(line.split()[1]) << 10


def descriptors(pid: int) -> int:
    """How many descriptors a process has open."""
    return len(os.listdir(f"/proc/{pid}/fd"))


def own_descriptors(worker: int) -> int:
    """How many descriptors a worker has open, without those to its engines."""
    return descriptors(worker) - AN_ENGINE * len(children(worker))


def children(pid: int) -> list[int]:
    """The processes that a process has started, whichever of its threads did."""
    found: list[int] = []
    for task in os.listdir(f"/proc/{pid}/task"):
        found += map(int, Path(f"/proc/{pid}/task/{task}/children").read_text().split())
    return found


def command(pid: int) -> str:
    """A process's command line."""
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
