"""A look into /proc: what a run's processes hold, and what is left of them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

SECONDS = 0.5
"""From one sample to the next."""
WARM = 50
"""Games of a run after which its workers and their engines are taken to be there."""
ENOUGH = 40
"""Samples below which nothing can be said of growth."""
KEPT = 4 << 20
KEPT_A_GAME = 2048
"""Bytes that the runner's memory may grow by between the first and the last quarter of a run, and
for each game in between: it remembers every game's result to rate it, and grows in steps."""
DESCRIPTORS = 4
"""Descriptors by which a process may differ from the first to the last quarter."""


@dataclass(frozen=True)
class Sample:
    """A moment of a run: games finished so far, bytes, descriptors, descriptors of its workers."""

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
                most = max((descriptors(pid) for pid in workers), default=0)
                self.samples.append(
                    Sample(self.games(), memory(self.pid), descriptors(self.pid), most)
                )
            except (OSError, StopIteration):
                continue  # it, or a worker of it, has just ended

    def stop(self) -> None:
        """End the sampling."""
        self._over.set()
        self._thread.join()

    def growth(self) -> str | None:
        """What has grown more than it may, in words, or None."""
        begin = self.samples[0].games if self.samples else 0
        rest = [sample for sample in self.samples if sample.games >= begin + WARM]
        if len(rest) < ENOUGH:
            return None
        first, last = rest[: len(rest) // 4], rest[-(len(rest) // 4) :]
        games = middle(last, "games") - middle(first, "games")
        grown = middle(last, "memory") - middle(first, "memory")
        if grown > KEPT + KEPT_A_GAME * games:
            return f"the runner's memory grew by {grown / (1 << 20):.1f} MiB in {games:.0f} games"
        for name, whose in (("descriptors", "the runner"), ("below", "a worker")):
            more = middle(last, name) - middle(first, name)
            if more > DESCRIPTORS:
                return f"{whose} has {more:.0f} descriptors more after {games:.0f} games"
        return None


def middle(samples: list[Sample], name: str) -> float:
    """The median of a field."""
    return median(getattr(sample, name) for sample in samples)


def memory(pid: int) -> int:
    """A process's resident memory in bytes."""
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        line = next(line for line in file if line.startswith("VmRSS"))
    return int(line.split()[1]) << 10


def descriptors(pid: int) -> int:
    """How many descriptors a process has open."""
    return len(os.listdir(f"/proc/{pid}/fd"))


def children(pid: int) -> list[int]:
    """The processes that a process has started, whichever of its threads did."""
    found: list[int] = []
    for task in os.listdir(f"/proc/{pid}/task"):
        found += map(int, Path(f"/proc/{pid}/task/{task}/children").read_text().split())
    return found


def command(pid: int) -> str:
    """A process's command line."""
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
