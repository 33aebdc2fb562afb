"""The runner's CPU time a ply, without that of the engines, which answer at once.

    python -m tests.benchmarks.cpu [GAMES] [-free]

All processes are pinned to one core unless ``-free`` is given. The benchmark prints this process's
user and system time a ply, and the plies and games a second.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from merels.engine.game.notation import START
from merels.protocol.client.engine_spec import EngineSpec
from merels.tournament.play.engine_cache import EngineCache
from merels.tournament.play.game import play_game
from merels.tournament.records.games import (
    NANOSECONDS,
    Adjudication,
    Entrant,
    GameSpec,
    Opening,
    TimeControl,
)

INSTANT = Path(__file__).parent.parent / "fakes" / "instant.c"
RULES = "mill Repetition=0 NoRemovalPlies=0 ThreeThreePlies=0"
MOVES = 50
LIMITS = {
    "nodes": TimeControl(nodes=1),
    "tc": TimeControl(time=10 * NANOSECONDS, increment=NANOSECONDS // 10),
}


def compile_instant(directory: str) -> str:
    """Compile the instant engine; return its path."""
    program = os.path.join(directory, "instant")
    subprocess.run(["cc", "-O2", "-o", program, str(INSTANT)], check=True)
    return program


def make_spec(program: str, limit: TimeControl) -> GameSpec:
    """Return a game of 2 * MOVES plies between two instant engines."""
    white, black = (Entrant(EngineSpec((program,), name), limit) for name in "AB")
    adjudication = Adjudication(max_moves=MOVES)
    return GameSpec(1, 1, 1, white, black, Opening(START), RULES, adjudication)


def measure(spec: GameSpec, games: int) -> str:
    """Play the game ``games`` times; return the time a ply, and the speed, as text."""
    with EngineCache() as engines:
        plies = len(play_game(spec, engines).moves)
        before, start = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
        for _ in range(games):
            assert len(play_game(spec, engines).moves) == plies == 2 * MOVES
        after, end = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
    plies *= games
    user = (after.ru_utime - before.ru_utime) / plies * 1e6
    system = (after.ru_stime - before.ru_stime) / plies * 1e6
    wall = end - start
    return (
        f"{user + system:5.1f} us a ply (user {user:.1f}, system {system:.1f}), "
        f"{plies / wall:.0f} plies/s, {games / wall:.0f} games/s"
    )


def main() -> None:
    """Measure each limit."""
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    if "-free" not in sys.argv and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as directory:
        program = compile_instant(directory)
        for name, limit in LIMITS.items():
            print(f"{name:6}", measure(make_spec(program, limit), numbers[0] if numbers else 300))


if __name__ == "__main__":
    main()
