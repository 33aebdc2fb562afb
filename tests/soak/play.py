"""Playing a scenario: run the command, stop it several times, and resume it to the end."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import threading
import time
import uuid
from collections import Counter, deque
from dataclasses import dataclass, field

from tests.soak.scenario import Scenario
from tests.soak.watch import Sample, Watch
from tests.tournament.processes import COMMAND, MARK, marked_commands

STOPS = (signal.SIGKILL, signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
"""Signals that stop a runner; most are SIGKILL, which it cannot catch."""
INTERRUPTED = 130
SILENCE = 900.0
"""Seconds without output after which a run counts as hung."""
POLL = 0.05
"""Seconds between two checks of a run."""
LEFTOVERS = 120.0
"""Grace period after a run for the end of its child processes, in seconds. The guardian of a killed
runner takes a moment to end them, much longer on a busy machine."""


class Broken(Exception):
    """A broken promise."""


@dataclass
class Played:
    """Result of a scenario: the last run's output, and the peaks over all runs."""

    output: list[str] = field(default_factory=list)
    stops: Counter[str] = field(default_factory=Counter)
    changes: list[Sample] = field(default_factory=list)
    """Change of memory and descriptors from the first to the last quarter of each long run."""
    seconds: float = 0.0
    memory: int = 0
    descriptors: int = 0
    worker_descriptors: int = 0


def play(scenario: Scenario) -> Played:
    """Play a scenario to its end; raise `Broken` if a run breaks a promise."""
    played, begin, done = Played(), time.monotonic(), 0
    chance = random.Random(" ".join(scenario.flags))
    for moment in (*scenario.stops, None):
        run = Run(scenario, done)
        try:
            stopped = run.stop_at(moment, chance) if moment is not None else None
            status = run.wait()
        finally:
            run.process.kill()
        done = run.games
        if stopped is not None:
            played.stops[stopped.name] += 1
        samples = run.watch.samples
        played.memory = max([played.memory, *(s.memory for s in samples)])
        played.descriptors = max([played.descriptors, *(s.descriptors for s in samples)])
        played.worker_descriptors = max(
            [played.worker_descriptors, *(s.worker_descriptors for s in samples)]
        )
        check_end(run, status, stopped)
        if (change := run.watch.change()) is not None:
            played.changes.append(change)
        if status in (0, 1):
            played.output = list(run.lines)
            break
    played.seconds = time.monotonic() - begin
    return played


def check_end(run: Run, status: int, stopped: signal.Signals | None) -> None:
    """Check the promises for the end of any run: exit status, processes, files, memory."""
    # The status is 1 if an engine lost its last games without a move.
    expected = [int(any(line.startswith("WARNING: ") for line in run.lines))]
    if stopped is not None:
        # After the last game the runner no longer handles signals.
        expected += [-stopped] if stopped == signal.SIGKILL else [INTERRUPTED, -stopped]
    if status not in expected:
        raise Broken(f"the runner ended with status {status}, expected {expected}: {run.errors()}")
    if processes := marked_commands(run.mark, LEFTOVERS):
        raise Broken(f"processes are left after the run: {processes}")
    if files := os.listdir(run.temporary):
        raise Broken(f"temporary files are left after the run: {files}")
    if growth := run.watch.growth():
        raise Broken(growth)


class Run:
    """One process of the command; earlier runs have finished ``done`` games."""

    def __init__(self, scenario: Scenario, done: int) -> None:
        self.mark = uuid.uuid4().hex
        self.games = done
        self.lines: deque[str] = deque(maxlen=1000)
        self.temporary = scenario.folder / "tmp"
        self.temporary.mkdir(exist_ok=True)
        self._errors = scenario.folder / "errors.txt"
        self._last_output = time.monotonic()
        environment = {**os.environ, MARK: self.mark, "TMPDIR": str(self.temporary)}
        with open(self._errors, "a", encoding="utf-8") as errors:
            self.process = subprocess.Popen(
                [*COMMAND, *scenario.flags], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=errors, text=True, env=environment,
            )
        self.watch = Watch(self.process.pid, lambda: self.games)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._last_output = time.monotonic()
            self.lines.append(line.rstrip("\n"))
            self.games += line.startswith("Finished game ")

    def stop_at(self, games: int, chance: random.Random) -> signal.Signals | None:
        """Once ``games`` games are finished, send and return a signal; None if the run is over."""
        while self.games < games and self._is_running():
            time.sleep(POLL)
        time.sleep(chance.uniform(0, 0.3))
        if self.process.poll() is not None:
            return None
        # Before its first output, the process may not handle signals yet.
        chosen = chance.choice(STOPS) if self.lines else signal.SIGKILL
        self.process.send_signal(chosen)
        return chosen

    def _is_running(self) -> bool:
        """Return whether the process runs; raise `Broken` if it hangs."""
        if time.monotonic() - self._last_output > SILENCE:
            self.process.kill()
            last = list(self.lines)[-1:]
            raise Broken(f"the runner printed nothing for {SILENCE:.0f} s; last line: {last}")
        return self.process.poll() is None

    def wait(self) -> int:
        """Wait for the end of the run; return its exit status."""
        while self._is_running():
            time.sleep(POLL)
        self._reader.join()
        self.watch.stop()
        assert self.process.stdout is not None
        self.process.stdout.close()
        return self.process.returncode

    def errors(self) -> str:
        """Return the end of the run's error output."""
        return self._errors.read_text(encoding="utf-8", errors="replace")[-500:]
