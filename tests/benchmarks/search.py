"""How soon the search finds moves that hold the value, and keeps to them.

    python -m tests.benchmarks.search FILE [NODES]

FILE is a suite of hard positions. Each is searched once to NODES; what counts is the node at which
the last wrong move gave way to a right one (twice NODES where none did). That tells two searches
apart by far fewer positions than the number of wrong moves in the end.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

from merels.engine.game.rules import make_rules
from merels.engine.search.limits import Info, Limit
from merels.engine.search.searcher import Searcher
from merels.engine.tools.suite import Problem, load

LEAST = 300
"""Nodes: what is found sooner counts as found here."""


def solved_at(searcher: Searcher, problem: Problem, nodes: int) -> int:
    """The nodes after which the move is right and stays so; twice ``nodes`` if it is wrong."""
    found = 0

    def note(info: Info) -> None:
        nonlocal found
        if info.pv[0] not in problem.best:
            found = 2 * nodes
        elif found == 2 * nodes:
            found = info.nodes or 0

    searcher.clear()
    searcher.search(problem.position, Limit(nodes=nodes), note)
    return max(found, LEAST)


def main() -> None:
    """Measure the positions of a file."""
    nodes = int(sys.argv[2]) if len(sys.argv) > 2 else 160_000
    problems = load(Path(sys.argv[1]), make_rules("morris"))
    searcher = Searcher()
    found = [solved_at(searcher, problem, nodes) for problem in problems]
    mean = sum(map(math.log2, found)) / len(found)
    wrong = sum(one > nodes for one in found)
    print(f"{2**mean:.0f} nodes in the geometric mean, {wrong} of {len(found)} wrong at {nodes}")


if __name__ == "__main__":
    main()
