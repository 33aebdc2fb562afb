"""A small engine with a fault in some games: ``erratic.py SEED RATE KINDS FILE [fixed]``.

RATE is the share of games with a fault. KINDS are letters of faults to choose from; a letter that
occurs twice is twice as likely. Faults of `AT_START` occur at the start or at isready, the others
in one of a game's first eight searches. All processes of the engine append a ``.`` to FILE for each
game that they start, and replace the ``.`` by the letter of the fault when they commit it. SEED and
the game's place in FILE determine the fault. With ``fixed`` the engine plays the game of
`instant.c`. It has no fault while the runner tries all engines before the tournament.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable

from random_mover import SLEEPER, RandomMover, hang, write


def slow_start() -> None:
    """Delay the start."""
    time.sleep(4)


def wrong_ready() -> None:
    """Write a wrong answer to isready."""
    write("readyko\n")


def die_ready() -> None:
    """End at isready."""
    os._exit(1)


def crash() -> None:
    """End during a search."""
    write("info depth 1 score cp 1\n")
    os._exit(1)


def segfault() -> None:
    """End by a segmentation fault during a search."""
    os.kill(os.getpid(), signal.SIGSEGV)
    hang()


def stubborn() -> None:
    """Answer with no move, then ignore quit and SIGTERM."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    write("bestmove 0000\n")
    hang()


def illegal() -> None:
    """Answer with an illegal move."""
    write("bestmove a1xg7\n")


def garbage() -> None:
    """Answer with bytes that are no move."""
    write(b"bestmove \x01\xff%$ hello\n")


def flood(lines: int = 20_000) -> None:
    """Write many lines before the answer."""
    for _ in range(lines // 100):
        write(b"info depth 1 score cp 1 nodes 1 pv d6\n" * 100)


def endless_flood() -> None:
    """Write lines forever, without an answer."""
    while True:
        flood()


def disconnect() -> None:
    """Close the output and keep running."""
    os.close(1)
    hang()


def exit_in_pv() -> None:
    """End in the middle of an info line."""
    write("info depth 5 score cp 3 nodes 77 pv d6 f")
    os._exit(0)


def orphan() -> None:
    """End, and leave a child in a new session that holds the pipes."""
    subprocess.Popen(SLEEPER, start_new_session=True)
    os._exit(3)


def overrun() -> None:
    """Exceed a short time limit."""
    time.sleep(4)


AT_START: dict[str, Callable[[], None]] = {"l": slow_start, "r": wrong_ready, "m": die_ready}
IN_SEARCH: dict[str, Callable[[], None]] = {
    "c": crash, "s": segfault, "h": hang, "q": stubborn, "i": illegal, "g": garbage,
    "e": endless_flood, "d": disconnect, "p": exit_in_pv, "k": orphan, "o": overrun, "f": flood,
}
AFTERWARDS = ("t", "x")
"""Faults after the answer: a second answer, and the end of the process."""
ANSWERS = ("i", "g")
"""Faults that replace the answer."""
PLACEMENTS = "d5 e5 e4 e3 d3 c3 c4 c5 f6 d6 f2 f4 b2 d2 b6 b4 d7 a7".split()
STEPS = ("d7-g7", "a7-a4", "g7-d7", "a4-a7")
GAMES_PER_START_FAULT = 4
"""Faults at the start occur in every fourth game at most, so that the runner keeps the engine."""


def is_trial() -> bool:
    """Return whether the runner itself, not a worker, has started this process."""
    try:
        with open(f"/proc/{os.getppid()}/cmdline", "rb") as file:
            return b".run.worker" not in file.read()
    except OSError:
        return False


class Erratic(RandomMover):
    """A sound engine with a fault in some games."""

    def __init__(self, seed: str, rate: float, kinds: str, path: str, fixed: str = "") -> None:
        super().__init__()
        self._fixed = bool(fixed)
        self._played = 0
        self._seed, self._rate, self._kinds = seed, rate, kinds
        self._append = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        # For pwrite: with O_APPEND, Linux would append and ignore the offset.
        self._marks = os.open(path, os.O_WRONLY)
        self._is_first_game = True
        self._fault, self._faulty_search = "", 0
        self._is_trial = is_trial()
        if not self._is_trial:
            self._new_game()

    def _new_game(self) -> None:
        """Record that a game starts, and draw its fault."""
        os.write(self._append, b".")
        self._place = os.lseek(self._append, 0, os.SEEK_CUR) - 1
        chance = random.Random(f"{self._seed} {self._place}")
        self._fault = ""
        self.go_count = 0
        if chance.random() < self._rate:
            self._fault = chance.choice(self._kinds)
            if self._fault in AT_START and self._place % GAMES_PER_START_FAULT:
                self._fault = "c"
        self._faulty_search = chance.randint(1, 8)

    def _commit(self) -> str:
        """Record the fault as committed, and return it."""
        fault, self._fault = self._fault, ""
        os.pwrite(self._marks, fault.encode(), self._place)
        return fault

    def set_position(self, words: list[str]) -> None:
        """Set up a ``position`` line; in a fixed game, only count its moves."""
        if self._fixed:
            self._played = len(words) - words.index("moves") - 1 if "moves" in words else 0
        else:
            super().set_position(words)

    def move(self) -> str:
        """Return a legal move, or the next move of the fixed game."""
        if self._fixed:
            return (*PLACEMENTS, *STEPS * self._played)[self._played]
        return super().move()

    def obey(self, line: str) -> None:
        """Carry out a command, or commit a fault at the start."""
        command = line.strip()
        if command == "ucinewgame":
            if not (self._is_first_game or self._is_trial):
                self._new_game()
            self._is_first_game = False
        times = ("uci", "isready") if self._fault == "l" else ("isready",)
        if self._fault in AT_START and command in times:
            fault = self._commit()
            AT_START[fault]()
            if fault == "r":
                return
        super().obey(line)

    def reply(self, move: str) -> str:
        """Return no reply: this engine never ponders."""
        return "0000"

    def go(self, ponder: bool) -> None:
        """Answer a search, or commit the fault that is due."""
        is_due = self.go_count + 1 == self._faulty_search
        fault = self._commit() if is_due and self._fault in (*IN_SEARCH, *AFTERWARDS) else ""
        if fault in IN_SEARCH:
            IN_SEARCH[fault]()
        if fault in ANSWERS:
            return
        super().go(ponder)
        if fault == "t":
            write(f"bestmove {self.previous_move}\n")
        elif fault == "x":
            os._exit(1)


def main() -> None:
    """Read commands to the end of the input."""
    seed, rate, *options = sys.argv[1:]
    engine = Erratic(seed, float(rate), *options)
    while line := sys.stdin.readline():
        engine.obey(line)


if __name__ == "__main__":
    main()
