"""What pages that are open cost the runner of a tournament.

    python -m tests.benchmarks.serve [PAGES] [PAIRS]

One run with engines that answer at once is watched by PAGES pages, and by none, in turns of a
second each, PAIRS times, from its 10,000th game on. It prints the processor time of the runner's
own process for a game without and with the pages, and the mean ratio of neighbours with its
standard error. Its games are short: the more of them end, the more there is to tell.
"""

from __future__ import annotations

import contextlib
import math
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from tests.benchmarks.cpu import compile_instant
from tests.benchmarks.games import flags
from tests.tournament.processes import COMMAND
from tests.tournament.views.listener import Listener

SECONDS = 1.0
FIRST, MOST = 10_000, 1_000_000
MOVES = 10


class Run:
    """A run, and how many of its games are over."""

    def __init__(self, folder: str) -> None:
        words = flags(compile_instant(folder), folder, MOST, MOVES)
        self.process = subprocess.Popen(
            [*COMMAND, *words, "-scoreinterval", "0", "-serve", "0"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        assert self.process.stderr is not None
        said = (line for line in self.process.stderr if "standings at" in line)
        self.address = next(said).split()[-1]
        self.games = 0
        threading.Thread(target=self._count, daemon=True).start()

    def _count(self) -> None:
        for line in self.process.stdout or ():
            self.games += line.startswith("Finished")

    def pair(self, pages: int, alone_first: bool) -> tuple[float, float]:
        """The costs without and with pages, one after the other."""
        if alone_first:
            return self.cost(0), self.cost(pages)
        watched = self.cost(pages)
        return self.cost(0), watched

    def cost(self, pages: int) -> float:
        """Microseconds of the runner for a game while so many pages are open."""
        listeners = [Listener(self.address) for _ in range(pages)]
        with contextlib.ExitStack() as closing:
            for listener in listeners:
                closing.callback(listener.close)
                threading.Thread(target=_hear, args=(listener,), daemon=True).start()
            time.sleep(0.3)
            games, spent = self.games, self._processor_time()
            time.sleep(SECONDS)
            return (self._processor_time() - spent) / (self.games - games)

    def _processor_time(self) -> float:
        """Microseconds that its threads have run, which the system counts finely."""
        threads = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((one / "schedstat").read_text().split()[0]) for one in threads) / 1000


def _hear(listener: Listener) -> None:
    """Read what a page is told, as long as it is open."""
    with contextlib.suppress(OSError, ValueError):
        while listener.next_data() is not None:
            pass


def main() -> None:
    """Measure, and print what it costs."""
    numbers = [int(word) for word in sys.argv[1:]]
    pages, pairs = (numbers + [10, 30][len(numbers):])[:2]
    with tempfile.TemporaryDirectory() as folder:
        run = Run(folder)
        try:
            while run.games < FIRST:
                time.sleep(0.1)
            costs = [run.pair(pages, index % 2 == 0) for index in range(pairs)]
        finally:
            run.process.terminate()
            run.process.wait()
    alone, watched = (statistics.median(column) for column in zip(*costs))
    ratios = [with_pages / without for without, with_pages in costs]
    error = statistics.stdev(ratios) / math.sqrt(pairs)
    print(
        f"{alone:.0f} us a game without pages, {watched:.0f} with {pages}: "
        f"ratio {statistics.mean(ratios):.3f} +- {error:.3f}, {run.games} games"
    )


if __name__ == "__main__":
    main()
