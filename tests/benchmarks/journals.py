"""Time and memory of `merels ratings` on many games.

    python -m tests.benchmarks.journals [GAMES [ENGINES [PLIES]]]

The benchmark writes a journal of invented games, and a PGN file of a tenth of these games. Then
`merels ratings`, which does not check moves, reads each file in a new process. The last line of
output times only the rating of the counted results.
"""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from merels.engine.game.notation import START
from merels.protocol.client.engine_spec import EngineSpec
from merels.tournament.journal.journal import Journal
from merels.tournament.journal.open import new_journal, read_journal
from merels.tournament.journal.rows import Row
from merels.tournament.records.games import Entrant, TimeControl
from merels.tournament.records.settings import Settings, read_settings
from merels.tournament.statistics.counts import GameScore, MatchCounter
from merels.tournament.statistics.ratings import rate
from merels.tournament.views.pgn import GameWriter

NOTES = {"id": "0123456789abcdef", "arguments": "[]"}
ENDS = (
    ("1-0", "White wins, Black has two men"), ("0-1", "Black wins, White is blocked"),
    ("1/2-1/2", "Draw by repetition"), ("1/2-1/2", "Draw by the no-removal rule"),
)
MAIN_WITH_USAGE = """
import resource, sys
from merels.tournament.commands.main import main
status = main(sys.argv[1:])
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime, used.ru_maxrss, file=sys.stderr)
sys.exit(status)
"""
"""A program that runs merels, and prints its processor time in seconds and its peak memory."""


def entrants(count: int) -> tuple[Entrant, ...]:
    """Return ``count`` engines with a clock."""
    limit = TimeControl(time=10_000_000_000, increment=100_000_000)
    return tuple(
        Entrant(EngineSpec((f"/engines/{number}",), f"Engine {number}"), limit)
        for number in range(1, count + 1)
    )


def rows(games: int, engines: int, plies: int) -> Iterator[Row]:
    """Yield games of ``plies`` plies: two for each random pair of engines, with colours swapped."""
    chance = random.Random(1)
    names = [entrant.name for entrant in entrants(engines)]
    moves = " ".join(itertools.islice(itertools.cycle(("d6-d7", "f4-f6", "g1-d1", "a7-a4")), plies))
    scores = " ".join(str(chance.randint(-300, 300)) for _ in range(plies))
    depths = " ".join(str(chance.randint(5, 30)) for _ in range(plies))
    nodes = " ".join(str(chance.randint(10_000, 900_000)) for _ in range(plies))
    measures = [
        (" ".join(str(chance.randint(1_000_000, 400_000_000)) for _ in range(plies)),
         " ".join(str(chance.randint(1_000_000_000, 9_000_000_000)) for _ in range(plies)),
         " ".join(chance.choice(("-", "-", "-", "52000")) for _ in range(plies)))
        for _ in range(64)
    ]
    for number in range(1, games + 1):
        if number % 2:
            white, black = chance.sample(names, 2)
        else:
            white, black = black, white
        result, reason = ENDS[chance.randrange(4)]
        times, clocks, late = measures[number % len(measures)]
        yield Row(
            number, 1 + number // 1000, (number + 1) // 2, white, black, START, "d2 b4 f2 d6", "",
            result, "normal", reason, moves, scores, depths, nodes, times, clocks,
            f"2026-01-02T03:04:05.{number % 1000:03}+00:00", 9_000_000_000, late, late, "", "",
            "node1", "0.1.0", "Some Engine 1.0", "Some Engine 1.0", "0123456789abcdef",
            "0123456789abcdef",
        )


def write_journal(path: str, games: int, engines: int, plies: int) -> None:
    """Write a journal of the games of `rows`."""
    settings = Settings(entrants(engines), seed=1, rounds=games)
    with new_journal(path) as journal:
        journal.create(settings.as_json(), NOTES)
        insert(journal, rows(games, engines, plies))


def insert(journal: Journal, games: Iterator[Row]) -> None:
    """Add games in one transaction."""
    database = journal._database
    database.execute("BEGIN")
    marks = ",".join("?" * len(Row._fields))
    database.executemany(f"INSERT INTO games VALUES ({marks})", games)
    database.execute("COMMIT")


def write_pgn(path: str, source: str, games: int) -> None:
    """Write the first games of a journal as PGN."""
    with read_journal(source) as journal, open(path, "w", encoding="utf-8") as file:
        notes = journal.meta()
        writer = GameWriter(read_settings(notes["settings"]), notes["id"])
        for row in itertools.islice(journal.rows(), games):
            file.write(writer.text(row))


def measure(words: list[str], games: int) -> str:
    """Run a command; return its speed, time and memory as text."""
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-P", "-c", MAIN_WITH_USAGE, *words], check=True, text=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )
    wall = time.monotonic() - start
    used, memory = map(float, done.stderr.splitlines()[-1].split())
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return (f"{games / used:8,.0f} games a second of CPU, {used:6.1f} s of CPU, {wall:6.1f} s, "
            f"{memory / unit:5.0f} MiB")


def measure_rating(games: int, engines: int) -> str:
    """Rate the engines of invented games; return the time as text."""
    counter = MatchCounter()
    for row in rows(games, engines, 2):
        assert row.white_score is not None
        counter.add(GameScore(row.white, row.black, row.white_score, row.pair))
    start = time.process_time()
    rate(counter.counts)
    return f"{len(counter.counts):,} pairings rated in {time.process_time() - start:.2f} s of CPU"


def main() -> None:
    """Measure a journal and a PGN file."""
    games, engines, plies = (
        int(word) for word in (*sys.argv[1:4], *("100000", "16", "80")[len(sys.argv) - 1 :])
    )
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        journal, pgn = f"{folder}/games.db", f"{folder}/games.pgn"
        write_journal(journal, games, engines, plies)
        write_pgn(pgn, journal, games // 10)
        for path, count in ((journal, games), (pgn, games // 10)):
            size = Path(path).stat().st_size >> 20
            print(f"{count:9,} games of {plies} plies, {engines} engines, {size:5} MiB, "
                  f"{Path(path).suffix}: {measure(['ratings', path], count)}", flush=True)
    print(measure_rating(games, engines))


if __name__ == "__main__":
    main()
