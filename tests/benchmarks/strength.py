"""Strength, speed and levels: measures and stores figures, and prints engine/strength.md.

    python -m tests.benchmarks.strength > engine/strength.md

It takes about ten minutes on two idle cores. Each row of the page's tables is stored in
strength.json as soon as it is measured, with commit, date and machine. A repeated run measures only
the rows that are missing for this machine and the last commit that changed engine/. Names of parts
select them; ``-print`` measures nothing. Rows of tables and matches are added by hand.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from merels.engine.common.saving import write_whole
from merels.engine.game.notation import parse_position
from merels.engine.game.rules import make_rules
from merels.engine.search.levels import LEVELS
from merels.engine.search.limits import Limit
from merels.engine.search.searcher import Searcher
from merels.engine.tablebase.verdict import PHASES
from merels.engine.tools.suite import load, play
from merels.tournament.flags.run_options import usable_processors

ROOT = Path(__file__).parents[2]
STORE = Path(__file__).with_suffix(".json")
SUITE = ROOT / "tests" / "data" / "critical.json"
MERELS = (sys.executable, "-P", "-m", "merels.tournament.commands.main")
LIMITS = {
    "100 ms": Limit(time=0.1),
    "10 ms": Limit(time=0.01),
    "1 ms": Limit(time=0.001),
    "100,000 nodes": Limit(nodes=100_000),
    "10,000 nodes": Limit(nodes=10_000),
    "1,000 nodes": Limit(nodes=1_000),
    "1 node": Limit(nodes=1),
}
SPEEDS = {
    "start": "********/********/******** w 9 9 0 1",
    "9-9": "@*OO**@O/@O@*@O@O/O*@@*O@O w 0 0 0 10",
    "5-5": "*O*@O**@/*@*O**@*/O*@**O** w 0 0 0 20",
    "4-4": "@*O***O*/*O****@*/*O*@*@** w 0 0 0 1",
}
"""Positions of the speed measurement, under `morris`."""
LOWEST_RATING = 800
"""Rating that the weakest level gets."""

Row = dict[str, Any]
"""A row of a table of the page: its ``key``, figures, ``commit``, ``date`` and ``machine``."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Amounts of work of one run."""

    every: int
    """Only each position with an index divisible by this number is played."""
    nodes: int
    """Nodes of a search that measures speed, which is repeated ``repeats`` times."""
    repeats: int
    rounds: int
    """Rounds of the levels' tournament."""


FULL = Scale(1, 8_000_000, 5, 60)
QUICK = Scale(200, 10_000, 1, 1)


class Store:
    """The file of the page's rows, by part; with ``again``, every row is measured again."""

    def __init__(self, path: Path, scale: Scale, again: bool = False) -> None:
        self.path, self.scale, self.again = path, scale, again
        self.parts: dict[str, list[Row]] = (
            json.loads(path.read_text(encoding="utf-8"))
            if path.exists() else {part: [] for part in PARTS}
        )

    @cached_property
    def origin(self) -> dict[str, str]:
        """The last commit that changed engine/, its date, and this machine."""
        commit, date = _git("log", "-1", "--format=%h %cs", *CODE).split()
        return {"commit": commit, "date": date, "machine": machine()}

    def lacks(self, part: str, key: str) -> bool:
        """Return whether a row must be measured at this commit and on this machine."""
        return self.again or not any(
            row["key"] == key and row["commit"] == self.origin["commit"]
            and row["machine"] == self.origin["machine"] for row in self.parts[part]
        )

    def add(self, part: str, key: str, **values: object) -> None:
        """Store a row; it replaces an older row with the same key."""
        row = {"key": key, **values, **self.origin}
        rows = self.parts[part]
        place = next((index for index, old in enumerate(rows) if old["key"] == key), len(rows))
        rows[place : place + 1] = [row]
        write_whole(self.path, [format_store(self.parts).encode()])


CODE = ("--", "engine", ":(exclude)*.md")
"""Pathspec of the sources on which the figures depend."""


def _git(*words: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(ROOT), *words], check=True, stdout=subprocess.PIPE, text=True
        )
    except (OSError, subprocess.CalledProcessError):
        raise SystemExit("git names no commit for the figures: run this in a checkout") from None
    return done.stdout.strip()


def machine() -> str:
    """Return the processor's name and the number of CPUs."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return f"{next(names, platform.machine())}, {os.cpu_count()} CPUs"


def format_store(parts: dict[str, list[Row]]) -> str:
    """Return the text of a store, with one row on each line."""
    blocks = (
        f"{json.dumps(part)}: [\n"
        + ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in rows) + "\n]"
        for part, rows in parts.items()
    )
    return "{\n" + ",\n".join(blocks) + "\n}\n"


def report(text: str) -> None:
    """Print progress, with the time of day."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def measure_blunders(store: Store) -> None:
    """Play the suite under each limit, on one thread, with the tables of the opening only."""
    problems = load(SUITE, make_rules("morris"))[:: store.scale.every]
    for name, limit in LIMITS.items():
        if not store.lacks("blunders", name):
            continue
        wrong: Counter[str] = Counter()
        for number, (problem, _, held) in enumerate(play(problems, limit, Searcher()), 1):
            wrong[problem.phase] += not held
            if number % 500 == 0 or number == len(problems):
                report(f"blunders, {name}: {wrong.total()} of {number}/{len(problems)}")
        counts = {phase: wrong[phase] for phase in PHASES}
        store.add("blunders", name, **counts, all=wrong.total())


def measure_speed(store: Store) -> None:
    """Search each position with one thread and with two, each time from an empty hash table."""
    limit = Limit(nodes=store.scale.nodes)
    for name, text in SPEEDS.items():
        if not store.lacks("speed", name):
            continue
        position = parse_position(text, make_rules("morris"))
        speeds: dict[int, list[float]] = {1: [], 2: []}
        for _ in range(store.scale.repeats):
            for threads, measured in speeds.items():
                searcher = Searcher(64, threads)
                searcher.prepare()
                start = time.monotonic()
                nodes = searcher.search(position, limit).nodes
                measured.append(nodes / (time.monotonic() - start) / 1e6)
        one, two = (statistics.median(measured) for measured in speeds.values())
        report(f"speed, {name}: {one:.1f} million nodes/s, two threads {two / one:.1f} times")
        store.add("speed", name, position=text, one=f"{one:.1f}", two=f"{two / one:.1f}")


def measure_levels(store: Store) -> None:
    """Play a round robin of the levels, from where an earlier run stopped, and rate it."""
    if not any(store.lacks("levels", level.name) for level in LEVELS):
        return
    journal = store.path.with_suffix(f".{store.origin['commit']}.db")
    engines = [word for level in LEVELS for word in ("-engine", f"level={level.name}")]
    games = store.scale.rounds * len(LEVELS) * (len(LEVELS) - 1)
    run = subprocess.Popen(
        [*MERELS, "tournament", *engines, "-each", "nodes=400000", "-variant", "mill",
         "-openings", "book", "-rounds", str(store.scale.rounds), "-srand", "12",
         "-concurrency", str(min(2, len(usable_processors()))), "-scoreinterval", "0",
         "-journal", f"file={journal}", "-resume"],
        stdout=subprocess.PIPE, text=True,
    )
    with run:
        for line in run.stdout or ():
            if line.startswith("Finished game "):
                number = int(line.split()[2])
                if number % 60 == 0:
                    report(f"levels: game {number} of {games}")
    if run.returncode:
        raise SystemExit(f"merels tournament ended with exit status {run.returncode}; see above")
    listed = subprocess.run(
        [*MERELS, "ratings", str(journal), "-format", "json"],
        check=True, stdout=subprocess.PIPE, text=True,
    )
    players = {player["name"]: player for player in json.loads(listed.stdout)["players"]}
    for row in level_rows(players):
        store.add("levels", **row)
    for path in journal.parent.glob(f"{journal.name}*"):
        path.unlink()


def level_rows(players: dict[str, Any]) -> Iterator[Row]:
    """Yield the levels' figures from the players of ``merels ratings``, strongest first."""
    levels = LEVELS[::-1]
    shift = LOWEST_RATING - players[levels[-1].name]["elo"]
    for level, lower in zip(levels, [*levels[1:], None]):
        player = players[level.name]
        elo = round(player["elo"] + shift)
        gap = "" if lower is None else elo - round(players[lower.name]["elo"] + shift)
        yield {
            "key": level.name, "stated": level.elo, "elo": elo, "error": round(player["error"]),
            "gap": gap, "points": player["points"], "games": player["games"],
            "draws": f"{100 * player['draws'] / player['games']:.1f} %",
        }


@dataclass(frozen=True, slots=True)
class Part:
    """A section of the page: its heading, text and table."""

    title: str
    text: str
    columns: tuple[tuple[str, str], ...]
    """Heading and cell format of each column; ``> `` before a heading aligns the column right."""
    measure: Callable[[Store], None] | None = None
    keys: tuple[str, ...] = ()
    """The rows' order, for measured parts."""


MEASURED = (("measured at", "{commit}, {date}"), ("machine", "{machine}"))
PARTS = {
    "blunders": Part(
        "Blunders",
        "Moves that give away the proven value of a position, in the 2,686 positions of\n"
        "`tests/data/critical.json`. In each, at most a third of the moves keep the value. They\n"
        "are held out from the training of the evaluation. One thread, no tables but those of\n"
        "the opening, which are part of the engine. Node limits give the same result on every\n"
        "machine. Commands:\n"
        "`merels suite tests/data/critical.json -movetime 100`, in milliseconds, and\n"
        "`merels suite tests/data/critical.json -nodes 1000`.",
        (("limit per move", "{key}"), ("> placing, of 619", "{placing}"),
         ("> moving, of 1,561", "{moving}"), ("> flying, of 506", "{flying}"), ("> all", "{all}"),
         *MEASURED),
        measure_blunders,
        tuple(LIMITS),
    ),
    "speed": Part(
        "Nodes a second",
        "Searches of eight million nodes under `morris` from an empty hash table of 64 MiB,\n"
        "without tables; median of five. `MERELS_TABLES=/dev/null/none merels analyse POSITION\n"
        "-variant morris -hash 64 -nodes 8000000` prints nodes and seconds of one search.",
        (("position", "{key}: `{position}`"), ("> million a second, one thread", "{one}"),
         ("> two threads, speed-up", "{two}"), *MEASURED),
        measure_speed,
        tuple(SPEEDS),
    ),
    "levels": Part(
        "Levels",
        "A round robin of 1,800 games under `mill`: 60 openings of the book for each pair of\n"
        "levels, both colours. Ratings are shifted so that Beginner has 800. Errors are half of a\n"
        "95 % interval, about the mean of all levels. Ratings hold only among these levels and\n"
        "limits: 200 Elo more are an expected score of 76 %, 400 more of 91 %. \"Stated\" is the\n"
        "rating in `engine/search/levels.py`, by which a user can select the level.\n"
        "\n"
        "```\n"
        "merels tournament -engine level=Beginner -engine level=Casual -engine level=Club \\\n"
        "    -engine level=Expert -engine level=Master -engine level=Champion \\\n"
        "    -each nodes=400000 -variant mill -openings book -rounds 60 -srand 12\n"
        "```",
        (("level", "{key}"), ("> stated", "{stated}"), ("> Elo", "{elo}"), ("> +/-", "{error}"),
         ("> above the next", "{gap}"), ("> points", "{points} of {games}"),
         ("> draws", "{draws}"), *MEASURED),
        measure_levels,
        tuple(level.name for level in LEVELS[::-1]),
    ),
    "tables": Part(
        "Building tables",
        "Time and size of builds by `merels tables`, added by hand: a whole build needs an idle\n"
        "machine for minutes. Rows with \"busy\" were measured while other programs ran. The peak\n"
        "memory of two commits cannot be compared.",
        (("flags", "{key}"), ("rule set", "{rules}"), ("> wall, s", "{wall}"),
         ("> CPU, s", "{cpu}"), ("> peak memory", "{memory}"), ("> bytes on disk", "{disk}"),
         *MEASURED),
    ),
    "matches": Part(
        "Matches",
        "Rows added by hand. The only opponent that is not a version of merels is a general game\n"
        "player, no engine for this game. Games are `+wins =draws -losses` of merels.",
        (("opponent", "{key}"), ("conditions", "{conditions}"), ("games", "{games}"),
         ("> Elo", "{elo}"), ("source", "{source}"), ("measured at", "{commit}, {date}"),
         ("machine", "{machine}")),
    ),
}  # fmt: skip


HEAD = """\
# Strength, speed and levels

Generated by `python -m tests.benchmarks.strength > engine/strength.md`; do not edit. Each row names
the commit, the date and the machine of its measurement. [Experiments](experiments/README.md) list
the changes that were tried, and their gains."""


def page(parts: dict[str, list[Row]]) -> str:
    """Return the text of engine/strength.md."""
    lines = [HEAD]
    for name, part in PARTS.items():
        headings = [heading for heading, _ in part.columns]
        lines += ["", f"## {part.title}", "", part.text, ""]
        lines.append(table_row(heading.removeprefix("> ") for heading in headings))
        rule = ("--:" if heading.startswith(">") else "---" for heading in headings)
        lines.append("|" + "|".join(rule) + "|")
        rows = {row["key"]: row for row in parts[name]}
        ordered = [rows[key] for key in part.keys if key in rows] if part.keys else parts[name]
        for row in ordered:
            lines.append(table_row(form.format(**row) for _, form in part.columns))
    return "\n".join(lines) + "\n"


def table_row(cells: Iterator[str]) -> str:
    """Return a row of a table; two spaces in a cell become one."""
    return "|" + "|".join(f" {cell} ".replace("  ", " ") for cell in cells) + "|"


def main() -> None:
    """Measure the named parts, by default all, unless ``-print`` is given; print the page."""
    measured = [name for name, part in PARTS.items() if part.measure is not None]
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("part", nargs="*", help=f"any of {', '.join(measured)} (default: all)")
    parser.add_argument("-print", action="store_true", help="only print the page")
    parser.add_argument("-again", action="store_true", help="measure stored rows, too")
    parser.add_argument("-store", type=Path, default=STORE, help="file of the rows")
    parser.add_argument("-quick", action="store_true", help="small counts, to try the command")
    arguments = parser.parse_args()
    for name in arguments.part:
        if name not in measured:
            parser.error(f"{name!r}: expected one of {', '.join(measured)}")
    if arguments.quick and arguments.store == STORE:
        parser.error("-quick is too rough for strength.json: name another file with -store")
    store = Store(arguments.store, QUICK if arguments.quick else FULL, arguments.again)
    if not arguments.print:
        if not arguments.quick and _git("status", "--porcelain", *CODE):
            parser.error("engine/ has uncommitted changes: commit them, because rows name a commit")
        for name in arguments.part or measured:
            measure = PARTS[name].measure
            assert measure is not None
            measure(store)
    print(page(store.parts), end="")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("stopped; repeat the command to continue")
