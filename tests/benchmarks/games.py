"""Games a second of whole tournaments between engines that answer at once.

    python -m tests.benchmarks.games [GAMES]

Each tournament runs the command as a user does, with a journal: at concurrency 1 and 2, free and
pinned, and with PGN. The benchmark also prints the processor time a ply: of all processes, engines
included, and of the runner's main process. It needs two cores.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from merels.engine.game.notation import START
from tests.benchmarks.journals import MAIN_WITH_USAGE

INSTANT = Path(__file__).parents[1] / "fakes" / "instant.c"
MOVES = 50
"""Moves of each side in a game."""
RULES = "mill Repetition=0 NoRemovalPlies=0 ThreeThreePlies=0"
RUNS = (
    ("1 at once", "1", ()),
    ("2 at once", "2", ()),
    ("1 at once, pinned", "1", ("-use-affinity",)),
    ("2 at once, pinned", "2", ("-use-affinity",)),
    ("1 at once, pinned, PGN", "1", ("-use-affinity", "-pgnout", "file={}/1.pgn")),
    ("2 at once, pinned, PGN", "2", ("-use-affinity", "-pgnout", "file={}/2.pgn")),
)
"""Name, concurrency and more flags of each tournament; ``{}`` stands for the folder."""


def flags(program: str, folder: str, games: int) -> list[str]:
    """Return the flags of a match of ``games`` games between two processes of ``program``."""
    variant, *fields = RULES.split()
    book = f"{folder}/start.pos"
    with open(book, "w", encoding="utf-8") as file:
        file.write(START + "\n")
    words = [word for name in "AB" for word in ("-engine", f"cmd={program}", f"name={name}")]
    return [*words, "-each", "nodes=1", "rules=known", "-variant", variant, "-set", *fields,
            "-maxmoves", str(MOVES), "-openings", f"file={book}", "-rounds", str(games // 2),
            "-srand", "1", "-ratinginterval", "0"]


def measure(program: str, folder: str, games: int, concurrency: str, more: tuple[str, ...]) -> str:
    """Play one tournament; return its speed and its processor time for a ply, as text."""
    words = [sys.executable, "-P", "-c", MAIN_WITH_USAGE, "tournament",
             *flags(program, folder, games),
             "-journal", f"file={folder}/{time.monotonic_ns()}.db",
             "-concurrency", concurrency, *(word.format(folder) for word in more)]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    main_process = float(done.stderr.splitlines()[-1].split()[0])
    used = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    plies = games * 2 * MOVES
    return (
        f"{games / wall:5.0f} games/s; a ply: {used / plies * 1e6:4.1f} us in all, "
        f"{main_process / plies * 1e6:4.1f} us in the runner's main process"
    )


def main() -> None:
    """Measure every run."""
    games = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/instant"
        subprocess.run(["cc", "-O2", "-o", program, str(INSTANT)], check=True)
        for name, concurrency, more in RUNS:
            print(f"{name:<24} {measure(program, folder, games, concurrency, more)}", flush=True)


if __name__ == "__main__":
    main()
