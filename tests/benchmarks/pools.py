"""Games a second with local workers, with Dask's workers, and with many engines.

    python -m tests.benchmarks.pools [GAMES [ENGINES]]

The benchmark plays a match of GAMES (400) games and a round robin of ENGINES (32), two games at a
time. A game takes about 50 ms. The measured time runs from the start of the first game to the end
of the last, without the start of the workers. Dask needs ``pip install distributed``.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import datetime

from merels.tournament.journal.open import read_journal
from tests.tournament.processes import COMMAND
from tests.tournament.specs import engine_words, parallel

NODES, MOVES = 200, 35
"""Limits of a move and of a game, with which a game takes about 50 ms."""
DASK_CLUSTER = """
from distributed import Client

def executor():
    return Client("{}").get_executor()
"""


def round_robin(engines: int, rounds: int) -> list[str]:
    """Return the flags of a round robin of engines with equal limits."""
    names = (f"E{number}" for number in range(1, engines + 1))
    entries = [word for name in names for word in engine_words(name)]
    return [*entries, "-each", f"nodes={NODES}", "-maxmoves", str(MOVES), "-srand", "1",
            "-rounds", str(rounds), "-quiet"]


def measure(folder: str, flags: list[str], *more: str) -> tuple[int, float, float]:
    """Play a tournament; return the games, their mean length in ms, and the games a second."""
    path = f"{folder}/{len(os.listdir(folder))}.db"
    command = [*COMMAND, *flags, *more, "-journal", path]
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    games = []
    with read_journal(path) as journal:
        for row in journal.rows():
            start = datetime.fromisoformat(row.started).timestamp()
            games.append((start, start + row.elapsed / 1e9))
    length = sum(end - start for start, end in games) / len(games)
    wall = max(end for _, end in games) - min(start for start, _ in games)
    return len(games), 1000 * length, len(games) / wall


@contextlib.contextmanager
def dask(folder: str) -> Iterator[str]:
    """Run a scheduler and two workers; yield the name of a factory of executors on them."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    address = f"tcp://127.0.0.1:{port}"
    with open(f"{folder}/cluster.py", "w", encoding="utf-8") as file:
        file.write(DASK_CLUSTER.format(address))
    commands = (
        ("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", port),
        ("distributed.cli.dask_worker", address, "--nworkers", "2", "--nthreads", "1"),
    )
    with contextlib.ExitStack() as closing:
        for command in commands:
            process = subprocess.Popen(
                [sys.executable, "-m", *command, "--no-dashboard"], cwd=folder,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )
            closing.callback(process.wait)
            closing.callback(process.terminate)
        yield "cluster:executor"


def show(name: str, result: tuple[int, float, float], more: str = "") -> None:
    """Print a row."""
    games, length, rate = result
    print(f"{name:<26} {games:>4} games of {length:.0f} ms, {rate:.1f} games/s{more}", flush=True)


def main() -> None:
    """Measure each pool."""
    pairs = int(sys.argv[1]) // 2 if len(sys.argv) > 1 else 200
    engines = int(sys.argv[2]) if len(sys.argv) > 2 else 32
    match = round_robin(2, pairs)
    with tempfile.TemporaryDirectory() as folder:
        local = measure(folder, match, *parallel(2))
        show("2 engines, local workers", local)
        if importlib.util.find_spec("distributed") is not None:
            with dask(folder) as factory:
                remote = measure(folder, match, "-concurrency", "2", "-executor", factory)
            show("2 engines, Dask", remote, f", {local[2] / remote[2]:.2f} times the local time")
        many = measure(folder, round_robin(engines, 1), *parallel(2))
        show(f"{engines} engines, local workers", many)


if __name__ == "__main__":
    main()
