"""The command line of the fuzzers."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections.abc import Callable

from tests.fuzz.boards import Boards
from tests.fuzz.core import Core
from tests.fuzz.flags import Flags
from tests.fuzz.harness import Case, Fuzzer, Report, Tally, run
from tests.fuzz.journals import GameFiles, Journals
from tests.fuzz.streams import Streams
from tests.fuzz.tables import TableFiles
from tests.fuzz.texts import Games, Moves, Positions

FUZZERS: dict[str, tuple[Callable[[], Fuzzer], int]] = {
    "protocol": (Streams, 3_000),
    "positions": (Positions, 800),
    "moves": (Moves, 2_000),
    "games": (Games, 200),
    "tables": (TableFiles, 400),
    "journals": (Journals, 60),
    "gamefiles": (GameFiles, 100),
    "flags": (Flags, 200),
    "core": (Core, 3_500),
    "board": (Boards, 150),
}
"""All fuzzers by name, each with the number of inputs of a quick run."""
_EVERY_SECONDS = 20.0
"""Seconds between reports of progress."""


def main(argv: list[str]) -> int:
    """Run fuzzers, or replay one failure; return 1 if there was a failure."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz",
        description="Feed seeded damaged input to everything that reads input. Print each fuzzer's "
        "seed and number of inputs, and a command that replays each failure.",
    )
    parser.add_argument("names", metavar="NAME", nargs="*",
                        help=f"fuzzers to run, of {', '.join(FUZZERS)}; default: all")
    parser.add_argument("-count", metavar="N", type=int,
                        help="number of inputs of each fuzzer; default: those of a quick run")
    parser.add_argument("-seed", metavar="S", type=int, default=1, help="default: 1")
    parser.add_argument("-replay", metavar="CASE", help="try the case that a failure printed")
    options = parser.parse_args(argv)
    unknown = [name for name in options.names if name not in FUZZERS]
    if unknown:
        parser.error(f"'{unknown[0]}': no such fuzzer; expected {', '.join(FUZZERS)}")
    if options.replay is not None:
        if len(options.names) != 1:
            parser.error("-replay takes the NAME of one fuzzer")
        try:
            case = json.loads(options.replay)
        except ValueError as error:
            parser.error(f"-replay takes the CASE that a failure printed: {error}")
        return replay(options.names[0], case)
    # SIGINT ends the board, but background jobs of a shell, and their child processes, ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    failures = 0
    for name in options.names or FUZZERS:
        fuzzer, quick_count = FUZZERS[name]
        report = run(fuzzer(), options.count or quick_count, options.seed, Progress())
        print(report, *report.failures, sep="\n", flush=True)
        failures += len(report.failures)
    return 1 if failures else 0


class Progress:
    """Prints the progress of a long run."""

    def __init__(self) -> None:
        self._printed = time.monotonic()

    def __call__(self, report: Report) -> None:
        if time.monotonic() - self._printed > _EVERY_SECONDS:
            self._printed = time.monotonic()
            print(report, file=sys.stderr, flush=True)


def replay(name: str, case: Case) -> int:
    """Try one case; a failure raises its exception."""
    with FUZZERS[name][0]() as fuzzer:
        tally: Tally = fuzzer.check(case)
    print(f"fuzz {name}: {tally.accepted} accepted, {tally.rejected} rejected, no failure")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
