"""A small engine with a fault in some games: ``erratic.py SEED RATE KINDS FILE``.

RATE is the share of games with a fault. KINDS are letters of faults to choose from; a letter that
occurs twice is twice as likely. Faults of `AT_START` occur at isready, the others in one of a
game's first eight searches. All processes of the engine append a ``.`` to FILE for each game that
they start, and replace the ``.`` by the letter of the fault when they commit it. SEED and the
game's place in FILE determine the fault. The engine has no fault while the runner tries all
engines before the tournament.
"""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.kit.fake_engine import Engine, Rule
from tests.soak.faults import AT_START, IN_SEARCH

GAMES_PER_START_FAULT = 4
"""Faults at the start occur in every fourth game at most, so that the runner keeps the engine."""


def is_trial() -> bool:
    """Return whether the runner itself, not a worker, has started this process."""
    try:
        with open(f"/proc/{os.getppid()}/cmdline", "rb") as file:
            return b"--multiprocessing-fork" not in file.read()
    except OSError:
        return False


class Erratic(Engine):
    """A sound engine with a fault in some games."""

    def __init__(self, seed: str, rate: float, kinds: str, path: str) -> None:
        super().__init__("")
        self._draw = seed, rate, kinds
        self._append = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        # For pwrite: with O_APPEND, Linux would append and ignore the offset.
        self._marks = os.open(path, os.O_WRONLY)
        self._is_first_game = True
        self._is_trial = is_trial()
        if not self._is_trial:
            self._new_game()

    def _new_game(self) -> None:
        """Record that a game starts, and draw its fault."""
        os.write(self._append, b".")
        self._place = os.lseek(self._append, 0, os.SEEK_CUR) - 1
        seed, rate, kinds = self._draw
        chance = random.Random(f"{seed} {self._place}")
        self.rules.clear()
        if chance.random() < rate:
            self._fault = chance.choice(kinds)
            if self._fault in AT_START and self._place % GAMES_PER_START_FAULT:
                self._fault = "c"
            event, actions = f"go#{chance.randint(1, 8)}", IN_SEARCH.get(self._fault, "")
            if self._fault in AT_START:
                event, actions = "isready#1", AT_START[self._fault]
            self.rules.append(Rule(f"{event}: do commit() & {actions}"))

    def commit(self) -> None:
        """Record the fault of this game as committed."""
        os.pwrite(self._marks, self._fault.encode(), self._place)

    def obey(self, line: str) -> None:
        """Carry out a command; a new game draws its fault."""
        if line == "ucinewgame":
            if not (self._is_first_game or self._is_trial):
                self._new_game()
            self._is_first_game = False
        super().obey(line)


if __name__ == "__main__":
    Erratic(sys.argv[1], float(sys.argv[2]), *sys.argv[3:]).read()
