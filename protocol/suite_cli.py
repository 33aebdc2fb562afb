"""``merels suite``: how many turns throw away a proven value."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from merels.engine.errors import InputError
from merels.engine.rules import PRESETS, make_rules
from merels.engine.search import DEFAULT_HASH, Limits, Searcher
from merels.engine.suite import Problem, Tally, load, play
from merels.engine.tables.probe import open_tables


def _is_known(searcher: Searcher, problem: Problem) -> bool:
    """Whether the searcher's tables know a position."""
    return searcher.tables is not None and searcher.tables.probe(problem.position) is not None


def main(argv: list[str]) -> int:
    """Play every position of a file and print the turns that threw the value away."""
    parser = argparse.ArgumentParser(
        prog="merels suite",
        description="Play every position of a file of proven positions and count the turns that "
        "throw the value away, by phase and value.",
    )
    parser.add_argument("file", type=Path, help="JSON list of {position, value, turns, best}")
    limit = parser.add_mutually_exclusive_group()
    limit.add_argument("-movetime", type=int, metavar="MS", help="milliseconds a turn")
    limit.add_argument("-nodes", type=int, metavar="N", help="nodes a turn (default 100000)")
    limit.add_argument("-depth", type=int, metavar="N", help="plies a turn")
    parser.add_argument("-variant", default="morris", choices=list(PRESETS), help="rule set")
    parser.add_argument("-set", action="append", default=[], metavar="Field=value",
                        help="a rule field over the rule set")
    parser.add_argument("-threads", type=int, default=1)
    parser.add_argument("-hash", type=int, default=DEFAULT_HASH, metavar="MiB")
    parser.add_argument("-tables", type=Path, metavar="DIR",
                        help="play with the tables of perfect play kept there")
    parser.add_argument("-known", action="store_true",
                        help="play only positions that these tables know")
    parser.add_argument("-every", type=int, default=1, metavar="N",
                        help="play only each Nth position")
    parser.add_argument("-show", action="store_true", help="print each turn that failed")
    args = parser.parse_args(argv)
    limits = Limits(movetime=args.movetime, nodes=args.nodes, depth=args.depth)
    if limits == Limits():
        limits = Limits(nodes=100_000)
    try:
        rules = make_rules(args.variant, args.set)
        problems = load(args.file, rules)[:: max(1, args.every)]
        searcher = Searcher(args.hash, args.threads)
        if args.tables is not None:
            searcher.tables = open_tables(args.tables, rules)
            for problem_text in searcher.tables.problems:
                print(f"merels suite: {problem_text}", file=sys.stderr)
        if args.known:
            problems = [one for one in problems if _is_known(searcher, one)]
        tally = Tally()
        for problem, turn, held in play(problems, limits, searcher):
            tally.add(problem, held)
            if args.show and not held:
                best = " ".join(sorted(map(str, problem.best)))
                print(f"{problem.position!r}: played {turn}, holding: {best}")
    except InputError as error:
        print(f"merels suite: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    print("\n".join(tally.lines()))
    return 0
