"""``python -m tests.soak``: play tournaments with faults, one after the other.

    python -m tests.soak [-hours N] [-games G] [-size S] [-seed N] [-fault-rate F]
                         [-kind instant|mixed|all]

The soak plays tournaments of about S games. It ends after G games (300 without -hours) or N hours.
It checks each tournament when it ends; the first broken promise ends the soak with status 1. The
last line printed has the totals.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.benchmarks.cpu import compile_instant
from tests.soak.faults import NAMES, read_tallies
from tests.soak.play import Broken, Played, play
from tests.soak.promises import check
from tests.soak.scenario import Drawer, Scenario

GAMES = 300
SIZE = 100
STOPS = 4
"""Maximum number of times that the runner is stopped in a tournament."""


@dataclass
class Totals:
    """Totals over all tournaments so far."""

    tournaments: int = 0
    games: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    stops: Counter[str] = field(default_factory=Counter)
    memory: int = 0
    descriptors: int = 0
    worker_descriptors: int = 0
    begin: float = field(default_factory=time.monotonic)

    def add(self, games: int, faults: Counter[str], played: Played) -> None:
        """Add a tournament to the totals."""
        self.tournaments += 1
        self.games += games
        self.faults += faults
        self.stops += played.stops
        self.memory = max(self.memory, played.memory)
        self.descriptors = max(self.descriptors, played.descriptors)
        self.worker_descriptors = max(self.worker_descriptors, played.worker_descriptors)

    def __str__(self) -> str:
        faults = ", ".join(f"{NAMES[letter]} {n}" for letter, n in self.faults.most_common())
        stops = ", ".join(f"{name} {n}" for name, n in self.stops.most_common())
        return (
            f"so far: {self.tournaments} tournaments, {self.games} games, "
            f"{sum(self.faults.values())} faults ({faults or 'none'}), "
            f"runner stopped {sum(self.stops.values())} times ({stops or 'never'}), "
            f"{time.monotonic() - self.begin:.0f} s, at most {self.memory / (1 << 20):.1f} MiB "
            f"and {self.descriptors} descriptors in the runner, {self.worker_descriptors} in a "
            f"worker without those to its engines; no process, descriptor or file left, no promise "
            f"broken"
        )


def main(argv: list[str]) -> int:
    """Play until the number of games or the time is reached; return the exit status."""
    options = parser().parse_args(argv)
    games = options.games or (GAMES if options.hours is None else sys.maxsize)
    seed = random.SystemRandom().randrange(1 << 32) if options.seed is None else options.seed
    # On SIGTERM, SystemExit ends the current run together with this process.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    print(f"seed {seed}, faults in {options.fault_rate:.0%} of the games", flush=True)
    deadline = time.monotonic() + 3600 * (options.hours or 1e6)
    totals, at_start = Totals(), len(os.listdir("/proc/self/fd"))
    kinds = ("instant", "mixed") if options.kind == "all" else (options.kind,)
    with tempfile.TemporaryDirectory() as tools:
        drawer = Drawer(seed, options.fault_rate, compile_instant(tools))
        chance = random.Random(seed)
        while totals.games < games and time.monotonic() < deadline:
            folder = Path(tempfile.mkdtemp(prefix="soak-"))
            draw = getattr(drawer, kinds[totals.tournaments % len(kinds)])
            scenario = draw(folder, options.size, chance.randint(0, STOPS))
            try:
                run(scenario, totals)
                if (count := len(os.listdir("/proc/self/fd"))) > at_start:
                    raise Broken(f"the soak has {count} open descriptors, at its start {at_start}")
            except Broken as error:
                print(f"broken promise: {error}\nsee {folder}; {scenario.flags}\n{totals}")
                return 1
            except SystemExit:
                shutil.rmtree(folder, ignore_errors=True)
                raise
            shutil.rmtree(folder)
    return 0


def run(scenario: Scenario, totals: Totals) -> None:
    """Play and check a scenario; add it to the totals and print them."""
    played = play(scenario)
    games = check(scenario, played)
    faults = read_tallies(scenario.tallies)
    totals.add(games, faults, played)
    changes = "".join(
        f"; memory {change.memory / (1 << 20):+.1f} MiB, descriptors {change.descriptors:+d}, "
        f"of a worker {change.worker_descriptors:+d}, in {change.games} games"
        for change in played.changes
    )
    print(
        f"{scenario.name}: {games} games, {sum(faults.values())} faults, "
        f"{sum(played.stops.values())} stops, {played.seconds:.1f} s{changes}"
    )
    print(totals, flush=True)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    words = argparse.ArgumentParser(prog="python -m tests.soak", allow_abbrev=False)
    words.add_argument("-hours", type=float, metavar="N", help="start no tournament after N hours")
    words.add_argument("-games", type=int, metavar="G",
                       help=f"start no tournament after G games ({GAMES}; no limit with -hours)")
    words.add_argument("-size", type=int, default=SIZE, metavar="S",
                       help=f"number of games of a tournament ({SIZE})")
    words.add_argument("-seed", type=int, metavar="N", help="seed of all random choices (random)")
    words.add_argument("-fault-rate", type=float, default=0.1, metavar="F",
                       help="share of games with a fault (0.1)")
    words.add_argument("-kind", choices=("instant", "mixed", "all"), default="all")
    return words


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
