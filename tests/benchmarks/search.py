"""Nodes after which the search's move holds the value in all later iterations.

    python -m tests.benchmarks.search FILE [NODES]

FILE is a suite of hard positions. Each position is searched once to NODES (160,000). Its figure is
the node count at which a right move replaced the last wrong move, or twice NODES if the final move
is wrong. The benchmark prints the geometric mean of these figures. It shows a difference between
two searches with far fewer positions than the number of wrong moves.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

from merels.engine.game.rules import make_rules
from merels.engine.search.limits import Info, Limit
from merels.engine.search.searcher import Searcher
from merels.engine.tools.suite import Problem, load
from merels.protocol.terminal.progress import ProgressLine

LEAST = 300
"""Lower limit of a position's figure, in nodes."""


def solved_at(searcher: Searcher, problem: Problem, nodes: int) -> int:
    """Return the nodes after which the move is right and stays right; twice ``nodes`` if wrong."""
    solved = 0

    def follow(info: Info) -> None:
        nonlocal solved
        if info.pv[0] not in problem.best:
            solved = 2 * nodes
        elif solved == 2 * nodes:
            solved = info.nodes or 0

    searcher.clear()
    searcher.search(problem.position, Limit(nodes=nodes), follow)
    return max(solved, LEAST)


def main() -> None:
    """Measure the positions of a file."""
    nodes = int(sys.argv[2]) if len(sys.argv) > 2 else 160_000
    problems = load(Path(sys.argv[1]), make_rules("morris"))
    searcher, bar, solved = Searcher(), ProgressLine(), list[int]()
    for problem in problems:
        solved.append(solved_at(searcher, problem, nodes))
        bar.show(len(solved) / len(problems), f"{len(solved)} of {len(problems)} positions")
    bar.clear()
    mean = sum(map(math.log2, solved)) / len(solved)
    wrong = sum(number > nodes for number in solved)
    print(f"{2**mean:.0f} nodes in the geometric mean, {wrong} of {len(solved)} wrong at {nodes}")


if __name__ == "__main__":
    main()
