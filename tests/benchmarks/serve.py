"""Processor time that open pages of the broadcast cost the runner of a tournament.

    python -m tests.benchmarks.serve [PAGES] [PAIRS]

A tournament runs between engines that answer at once. Games are short, so that the runner often
sends events. After 10,000 games, the benchmark takes PAIRS (30) pairs of measurements: one with
PAGES (10) open pages and one without, each for a second. It prints the median processor time a game
of the runner's main process, without and with the pages, and the mean ratio of the pairs, with its
standard error.
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

WARM_UP_GAMES = 10_000
MEASURED_SECONDS = 1.0
TOURNAMENT_GAMES = 1_000_000
"""More games than the measurements need; the benchmark ends the tournament."""
MOVES_PER_GAME = 10


class Run:
    """A running tournament, and the number of its finished games."""

    def __init__(self, folder: str) -> None:
        words = flags(compile_instant(folder), folder, TOURNAMENT_GAMES, MOVES_PER_GAME)
        self.process = subprocess.Popen(
            [*COMMAND, *words, "-scoreinterval", "0", "-serve", "0"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        assert self.process.stderr is not None
        lines = (line for line in self.process.stderr if "standings at" in line)
        self.address = next(lines).split()[-1]
        self.games = 0
        threading.Thread(target=self._count, daemon=True).start()

    def _count(self) -> None:
        for line in self.process.stdout or ():
            self.games += line.startswith("Finished")


    def cost(self, pages: int) -> float:
        """Return the runner's processor time a game while pages are open, in microseconds."""
        listeners = [Listener(self.address) for _ in range(pages)]
        with contextlib.ExitStack() as closing:
            for listener in listeners:
                closing.callback(listener.close)
                threading.Thread(target=_read_events, args=(listener,), daemon=True).start()
            time.sleep(0.3)
            games, spent = self.games, self._processor_time()
            time.sleep(MEASURED_SECONDS)
            return (self._processor_time() - spent) / (self.games - games)

    def _processor_time(self) -> float:
        """Return the CPU time of the main process's threads in microseconds."""
        threads = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in threads) / 1000


def _read_events(listener: Listener) -> None:
    """Read the events of a page until it is closed."""
    with contextlib.suppress(OSError, ValueError):
        while listener.next_data() is not None:
            pass


def main() -> None:
    """Measure and print the costs."""
    numbers = [int(word) for word in sys.argv[1:]]
    pages, pairs = (numbers + [10, 30][len(numbers):])[:2]
    with tempfile.TemporaryDirectory() as folder:
        run = Run(folder)
        try:
            while run.games < WARM_UP_GAMES:
                time.sleep(0.1)
            costs: dict[int, list[float]] = {0: [], pages: []}
            for index in range(pairs):
                for count in (0, pages) if index % 2 else (pages, 0):
                    costs[count].append(run.cost(count))
        finally:
            run.process.terminate()
            run.process.wait()
    ratios = [with_pages / without for without, with_pages in zip(costs[0], costs[pages])]
    error = statistics.stdev(ratios) / math.sqrt(pairs)
    print(
        f"{statistics.median(costs[0]):.0f} us a game without pages, "
        f"{statistics.median(costs[pages]):.0f} with {pages}: "
        f"ratio {statistics.mean(ratios):.3f} +- {error:.3f}, {run.games} games"
    )


if __name__ == "__main__":
    main()
