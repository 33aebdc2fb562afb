"""An engine that plays random moves, for tests: ``python random_mover.py MODE [ARGUMENT]``.

It answers at once with a random legal move. Each MODE but ``sound`` has a fault or a habit.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time

from merels.engine.game.notation import START, parse_position, play_moves
from merels.engine.game.position import Position
from merels.engine.game.rules import make_rules

MODE = sys.argv[1] if len(sys.argv) > 1 else "sound"
ARGUMENT = sys.argv[2] if len(sys.argv) > 2 else ""
RANDOM = random.Random(7)
MEGABYTE = 1 << 20
SLEEPER = (sys.executable, "-S", "-c", "import time; time.sleep(1000)")
"""Command of a child process that holds the engine's pipes."""


def write(text: str | bytes) -> None:
    """Write to standard output at once."""
    data = text.encode() if isinstance(text, str) else text
    if MODE == "cr":
        data = data.replace(b"\n", b"\r")
    while data:
        data = data[os.write(1, data):]


def hang() -> None:
    """Sleep forever."""
    while True:
        time.sleep(1000)


def die() -> None:
    """Exit with the status ARGUMENT, or by a segmentation fault if it is ``segv``."""
    if ARGUMENT == "segv":
        os.kill(os.getpid(), signal.SIGSEGV)
        hang()
    os._exit(int(ARGUMENT or 0))


class RandomMover:
    """The engine's state, and its answers to commands."""

    def __init__(self) -> None:
        self.variant = "mill"
        self.position = Position()
        self.go_count = self.pings = 0
        self.previous_move = ""
        """The last move that was sent."""
        self.searching = False

    def move(self) -> str:
        """Return a random legal move; 0000 if there is none."""
        moves = self.position.legal_moves()
        return str(RANDOM.choice(moves)) if moves else "0000"

    def reply(self, move: str) -> str:
        """Return the last of the opponent's legal replies to a move; 0000 if there is none."""
        replies = play_moves(self.position, [move]).legal_moves() if move != "0000" else ()
        return str(replies[-1]) if replies else "0000"

    def set_position(self, words: list[str]) -> None:
        """Set up the position of a ``position`` line."""
        at = words.index("moves") if "moves" in words else len(words)
        text = START if words[1] == "startpos" else " ".join(words[2:at])
        start = parse_position(text, make_rules(self.variant))
        self.position = play_moves(start, words[at + 1 :])

    def answer(self) -> None:
        """Write the answer to ``go``, with the mode's fault."""
        info = "info depth 3 score cp 5 nodes 42 pv"
        move = self.move()
        usual = f"{info} {move}\nbestmove {move}\n"
        formats = {
            "illegal": "bestmove a1xg7\n",
            "garbage": "bestmove \x01\xff%$ hello\n",
            "none": "bestmove (none)\n",
            "zeros": "bestmove 0000\n",
            "empty": "bestmove\n",
            "upper": f"{info} {move}\nBESTMOVE {move.upper()}\n",
            "crlf": f"{info} {move}\r\nbestmove {move}\r\n",
            "tab": f"{info} {move}\nbestmove\t{move}\t\n",
            "blank": f"{info} {move}\n  bestmove  {move} \n",
            "unended": f"{info} {move}\nbestmove {move}",
            "split": f"{info} {move}\nbestmove {move.replace('x', ' x')}\n",
            "ponders": f"{info} {move}\nbestmove {move} ponder {self.reply(move)}\n",
            "bad-numbers": f"info depth x{'9' * 5000} score cp 12abc nodes -{'8' * 400} nps\n"
            f"info depth 99999999999999999999 score cp nodes\ninfo score mate\nbestmove {move}\n",
        }
        if MODE in formats:
            write(formats[MODE])
        elif MODE == "no-newline" and self.go_count == 3:
            write(usual.rstrip("\n"))
            os._exit(0)
        elif MODE == "double":
            write(usual)
            time.sleep(0.002)
            write(f"bestmove {move}\n")
        elif MODE == "stale" and self.go_count > 1:
            write(f"bestmove {self.previous_move}\n{usual}")
        elif MODE == "long-line":
            write(b"info string " + b"x" * (20 * MEGABYTE) + b"\n" + usual.encode())
        elif MODE == "many-lines":
            line = b"info depth 1 score cp 1 nodes 1 pv d6\n"
            write(line * 300_000 + usual.encode())
        elif MODE == "junk":
            write(bytes(RANDOM.randrange(256) for _ in range(100_000)) + b"\n" + usual.encode())
        else:
            write(usual)
        self.previous_move = move

    def answer_later(self) -> None:
        """Answer after ARGUMENT seconds of sleeping or computing."""
        end = time.monotonic() + float(ARGUMENT)
        while (seconds := end - time.monotonic()) > 0:
            if MODE == "sleeps":
                time.sleep(seconds)
        self.answer()

    def answer_on_a_busy_core(self) -> None:
        """Answer after ARGUMENT seconds of processor time on a core that four loops use, too.

        The engine reads no command meanwhile.
        """
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        loops = [
            subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) for _ in range(4)
        ]
        end = time.process_time() + float(ARGUMENT)
        while time.process_time() < end:
            pass
        for loop in loops:
            loop.kill()
        self.answer()

    def go(self, ponder: bool) -> None:
        """Carry out ``go``, with the mode's fault."""
        self.go_count += 1
        if MODE == "die-search" and self.go_count == 2:
            write("info depth 1 score cp 1\n")
            die()
        if MODE == "text-for-bestmove":
            # Escapes in the argument stand for control characters.
            write(ARGUMENT.encode().decode("unicode_escape"))
            return
        if MODE in ("never", "stops-only") or MODE == "ponders" and ponder:
            self.searching = True
            return
        if MODE == "late" and self.go_count == 2:
            time.sleep(float(ARGUMENT))
        if MODE in ("sleeps", "computes") and self.go_count == 2:
            # Another thread answers go, so that this thread can answer isready meanwhile.
            threading.Thread(target=self.answer_later, daemon=True).start()
            return
        if MODE == "shares-core" and self.go_count == 2:
            self.answer_on_a_busy_core()
            return
        if MODE == "chats" and self.go_count == 2:
            # Write info lines, but answer no command meanwhile.
            for _ in range(int(10 * float(ARGUMENT))):
                write("info depth 1\n")
                time.sleep(0.1)
        if MODE == "thinks-once" and self.go_count == 2 and not os.path.exists(ARGUMENT):
            # One move, in the first game, takes until the test has stopped the runner.
            open(ARGUMENT, "w").close()
            while not os.path.exists(f"{ARGUMENT}.stopped"):
                time.sleep(0.01)
            self.answer()
            open(f"{ARGUMENT}.answered", "w").close()
            return
        if MODE == "flood":
            while True:
                write(b"info depth 1 score cp 1 nodes 1 pv d6\n" * 100)
        if MODE == "close-stdout" and self.go_count == 2:
            os.close(1)
            hang()
        if MODE == "deaf" and self.go_count == 2:
            hang()
        if MODE == "stderr":
            os.write(2, b"e" * MEGABYTE)
        self.answer()
        if MODE == "die-after" and self.go_count == 2:
            die()

    def obey(self, line: str) -> None:
        """Carry out one command."""
        words = line.split()
        command = words[0] if words else ""
        if command == "uci":
            if MODE == "mute":
                hang()
            write("id name Fake\nid author nobody\n")
            write("option name UCI_Variant type combo default mill var mill var multi var loc\n")
            write("option name Hash type spin default 16 min 1 max 1024\nuciok\n")
        elif command == "isready":
            if MODE == "die-ready":
                die()
            self.pings += 1
            if MODE == "text-for-readyok" and self.pings > 1:
                write(ARGUMENT)
            elif MODE == "never-ready" and self.pings > int(ARGUMENT or 0):
                pass
            elif MODE != "text-for-bestmove" or not self.go_count:
                write("readyok\n")
        elif MODE == "rejects-hash" and command == "setoption" and words[2] == "Hash":
            write(f"info string error '{words[4]}': no memory for it\n")
        elif command == "setoption" and words[2].lower() == "uci_variant":
            self.variant = words[4]
        elif command == "position":
            self.set_position(words)
        elif command == "go":
            self.go("ponder" in words)
        elif command in ("stop", "ponderhit") and MODE != "never" and self.searching:
            self.searching = False
            if command == "stop":
                time.sleep(float(ARGUMENT or 0))
            self.answer()
        elif command == "quit" and MODE not in ("stubborn", "family"):
            sys.exit(0)


def main() -> None:
    """Read commands to the end of the input."""
    if MODE == "die-start":
        die()
    if MODE == "slow-start":
        time.sleep(float(ARGUMENT))
    if MODE in ("stubborn", "family") or ARGUMENT == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if MODE == "family":
        subprocess.Popen(SLEEPER)
        subprocess.Popen(SLEEPER, start_new_session=ARGUMENT == "session")
    if MODE == "parent-dies":
        subprocess.Popen(SLEEPER)
    engine = RandomMover()
    while line := sys.stdin.readline():
        if MODE == "parent-dies" and line.startswith("go") and engine.go_count == 1:
            os._exit(3)
        engine.obey(line)
    if MODE in ("stubborn", "family"):
        hang()


if __name__ == "__main__":
    main()
