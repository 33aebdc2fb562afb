"""Play out proven wins against the longest resistance, and count those that end too late.

    python -m tests.benchmarks.mates FILE [-positions 1000] [-nodes 20000] [-tables DIR]

FILE is a suite as for `merels suite`; the first won positions are played, under morris. Once a
search reports a win in N plies, the engine must win within N plies. The opponent searches
`RESISTANCE` nodes for each reply and plays the longest loss that it can prove. A win is too late if
the game does not end by the reported ply, or does not end with this win.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from merels.engine.game.position import Position
from merels.engine.game.rules import make_rules
from merels.engine.search.limits import Limit
from merels.engine.search.searcher import Searcher
from merels.engine.tablebase.probe import Tables, open_tables
from merels.engine.tools.suite import load
from merels.protocol.terminal.progress import ProgressLine

RULES = make_rules("morris")
RESISTANCE = 300_000
"""Node limit of the opponent's searches."""
MAX_UNPROVEN = 40
"""Number of plies without a reported win after which a game is given up."""


def play_out(
    position: Position, engine: Searcher, opponent: Searcher, nodes: int, resistance: int
) -> str:
    """Play a won position to its end; return ``kept``, ``shorter``, ``late`` or ``no proof``."""
    engine.clear()
    opponent.clear()
    side, ply, reported_end = position.side, 0, 0
    while position.outcome() is None and ply < (reported_end or MAX_UNPROVEN):
        if position.side == side:
            result = engine.search(position, Limit(nodes=nodes))
            assert result.info.score is not None
            win_in = result.info.score.relative.win_in
            if win_in is not None and win_in > 0 and not reported_end:
                reported_end = ply + win_in
        else:
            # If it can prove no loss, the opponent plays by its evaluation.
            result = opponent.search(position, Limit(nodes=resistance))
        assert result.move is not None
        position = position.push(result.move)
        ply += 1
    outcome = position.outcome()
    if not reported_end:
        return "no proof"
    if outcome is None or outcome.value(side) != 1:
        return "late"
    return "kept" if ply == reported_end else "shorter"


def count(
    positions: list[Position], nodes: int, tables: Tables | None = None,
    show: Callable[[float, str], None] = lambda share, text: None, resistance: int = RESISTANCE,
) -> tuple[Counter[str], list[Position]]:
    """Return how often each result of `play_out` occurred, and the positions won too late.

    ``show`` is called after each position, with the share of the work and a text.
    """
    engine, opponent = Searcher(), Searcher()
    engine.tables = tables
    results = Counter[str]()
    late: list[Position] = []
    for number, position in enumerate(positions, 1):
        result = play_out(position, engine, opponent, nodes, resistance)
        results[result] += 1
        if result == "late":
            late.append(position)
        show(number / len(positions), f"{number} of {len(positions)} positions, {len(late)} late")
    return results, late


def won(path: Path, most: int) -> list[Position]:
    """Return the first ``most`` won positions of a suite."""
    return [problem.position for problem in load(path, RULES) if problem.value == 1][:most]


def main() -> None:
    """Count the results of a suite's won positions."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.benchmarks.mates")
    parser.add_argument("file", type=Path)
    parser.add_argument("-positions", type=int, default=1000)
    parser.add_argument("-nodes", type=int, default=20_000)
    parser.add_argument("-tables", type=Path)
    arguments = parser.parse_args()
    tables = open_tables(arguments.tables, RULES) if arguments.tables else None
    with ProgressLine() as bar:
        results, late = count(
            won(arguments.file, arguments.positions), arguments.nodes, tables, bar.show
        )
    print(", ".join(f"{number} {result}" for result, number in sorted(results.items())))
    for position in late:
        print(f"late: {position!r}")


if __name__ == "__main__":
    main()
