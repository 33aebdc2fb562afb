"""A small engine with a fault in some games: ``erratic.py SEED RATE KINDS FILE [fixed]``.

RATE is the share of games with a fault. KINDS are letters of faults to choose from; one that occurs
twice is twice as likely. Those of `AT_START` come when the engine is started or made ready, the
others in one of a game's first eight searches. FILE gets one character for each game that the
engine begins, in whichever process: ``.``, replaced by the letter once a fault is committed. SEED
and a game's place in FILE decide its fault. With ``fixed`` it plays the game of `instant.c`. It is
sound while the runner itself tries it, before there are workers.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable

from fake import Fake, hang, write


def slow_start() -> None:
    """Be ready late, or too late for an impatient runner."""
    time.sleep(4)


def wrong_ready() -> None:
    """Say something else than readyok."""
    write("readyko\n")


def die_ready() -> None:
    """End when asked to be ready."""
    os._exit(1)


def crash() -> None:
    """End in a search."""
    write("info depth 1 score cp 1\n")
    os._exit(1)


def segfault() -> None:
    """Be killed by the system in a search."""
    os.kill(os.getpid(), signal.SIGSEGV)
    hang()


def stubborn() -> None:
    """Do wrong, and ignore quit and SIGTERM afterwards."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    write("bestmove 0000\n")
    hang()


def illegal() -> None:
    """Make a move that is against the rules."""
    write("bestmove a1xg7\n")


def garbage() -> None:
    """Answer with what is no move."""
    write(b"bestmove \x01\xff%$ hello\n")


def flood(lines: int = 20_000) -> None:
    """Write many lines; the answer comes after them."""
    for _ in range(lines // 100):
        write(b"info depth 1 score cp 1 nodes 1 pv d6\n" * 100)


def endless_flood() -> None:
    """Write lines and never an answer."""
    while True:
        flood()


def disconnect() -> None:
    """Close the output and live on."""
    os.close(1)
    hang()


def exit_in_pv() -> None:
    """End in the middle of a line."""
    write("info depth 5 score cp 3 nodes 77 pv d6 f")
    os._exit(0)


def orphan() -> None:
    """End, and leave a child in a session of its own that holds the pipes."""
    sleeper = [sys.executable, "-S", "-c", "import time; time.sleep(1000)"]
    subprocess.Popen(sleeper, start_new_session=True)
    os._exit(3)


def overrun() -> None:
    """Think longer than a short time a move."""
    time.sleep(4)


AT_START: dict[str, Callable[[], None]] = {"l": slow_start, "r": wrong_ready, "m": die_ready}
IN_SEARCH: dict[str, Callable[[], None]] = {
    "c": crash, "s": segfault, "h": hang, "q": stubborn, "i": illegal, "g": garbage,
    "e": endless_flood, "d": disconnect, "p": exit_in_pv, "k": orphan, "o": overrun, "f": flood,
}
AFTERWARDS = ("t", "x")
"""The answer comes twice; the engine ends after it."""
ANSWERS = ("i", "g")
"""Faults that are an answer."""
PLACEMENTS = "d5 e5 e4 e3 d3 c3 c4 c5 f6 d6 f2 f4 b2 d2 b6 b4 d7 a7".split()
STEPS = ("d7-g7", "a7-a4", "g7-d7", "a4-a7")
EVERY = 4
"""Faults at the start come in every fourth game at most: an engine must not fail for them."""


def is_tried() -> bool:
    """Whether this process is started by the runner, not by a worker of it for a game."""
    try:
        with open(f"/proc/{os.getppid()}/cmdline", "rb") as file:
            return b".run.worker" not in file.read()
    except OSError:
        return False


class Erratic(Fake):
    """A sound engine, but for one fault in some games."""

    def __init__(self, seed: str, rate: float, kinds: str, path: str, fixed: str = "") -> None:
        super().__init__()
        self._fixed = bool(fixed)
        self._played = 0
        self._seed, self._rate, self._kinds = seed, rate, kinds
        self._append = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        # Written to with pwrite, which a file opened for appending does not do.
        self._marks = os.open(path, os.O_WRONLY)
        self._first = True
        self._fault, self._fault_at = "", 0
        self._is_tried = is_tried()
        if not self._is_tried:
            self._new_game()

    def _new_game(self) -> None:
        """Note that a game begins, and draw its fault."""
        os.write(self._append, b".")
        self._place = os.lseek(self._append, 0, os.SEEK_CUR) - 1
        chance = random.Random(f"{self._seed} {self._place}")
        self._fault = ""
        self.go_count = 0
        if chance.random() < self._rate:
            self._fault = chance.choice(self._kinds)
            if self._fault in AT_START and self._place % EVERY:
                self._fault = "c"
        self._fault_at = chance.randint(1, 8)

    def _commit(self) -> str:
        """Mark the fault as committed; it is over then."""
        fault, self._fault = self._fault, ""
        os.pwrite(self._marks, fault.encode(), self._place)
        return fault

    def set_position(self, words: list[str]) -> None:
        """Set up a ``position`` line; of a fixed game, only how far it is."""
        if self._fixed:
            self._played = len(words) - words.index("moves") - 1 if "moves" in words else 0
        else:
            super().set_position(words)

    def move(self) -> str:
        """A legal move, or the next one of the fixed game."""
        if self._fixed:
            self.last = (*PLACEMENTS, *STEPS * self._played)[self._played]
            return self.last
        return super().move()

    def obey(self, line: str) -> None:
        """Carry out a command, or fail to."""
        command = line.strip()
        if command == "ucinewgame" and not (self._first or self._is_tried):
            self._new_game()
        self._first &= command != "ucinewgame"
        ready = command == "isready"
        if self._fault in AT_START and (ready or (command == "uci" and self._fault == "l")):
            wrong = self._fault == "r"
            AT_START[self._commit()]()
            if wrong:
                return
        super().obey(line)

    def reply(self, move: str) -> str:
        """No reply: it never ponders."""
        return "0000"

    def go(self, ponder: bool) -> None:
        """Answer, but for the fault that is due."""
        due = self._fault in (*IN_SEARCH, *AFTERWARDS) and self.go_count + 1 == self._fault_at
        fault = self._commit() if due else ""
        if fault in IN_SEARCH:
            IN_SEARCH[fault]()
        if fault in ANSWERS:
            return
        super().go(ponder)
        if fault == "t":
            write(f"bestmove {self.last}\n")
        elif fault == "x":
            os._exit(1)


def main() -> None:
    """Read commands to the end of the input."""
    seed, rate, *rest = sys.argv[1:]
    engine = Erratic(seed, float(rate), *rest)
    while line := sys.stdin.readline():
        engine.obey(line)


if __name__ == "__main__":
    main()
