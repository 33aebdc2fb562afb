"""The benchmark: fixed positions to fixed depths, on one thread, each with an empty hash table.

The node count is the signature of the search: it is the same on every machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from merels.engine.game.notation import parse_position
from merels.engine.game.rules import parse_rules
from merels.engine.search.limits import Limit
from merels.engine.search.searcher import Searcher

# Rules, position and depth in plies. The positions cover every phase and every preset.
POSITIONS: tuple[tuple[str, str, int], ...] = (
    ("mill", "********/********/******** w 9 9 0 1", 11),
    ("morris", "********/**O*@***/O*@***** w 7 7 0 3", 11),
    ("multi", "@*O*O***/**@***O*/O*@***@* w 5 5 0 5", 11),
    ("mill", "@*O*O*@*/O*@*@*O*/O*@***@* w 3 3 0 7", 11),
    ("loc", "@*OO**@O/*O@*@*O@/O*@@*O@* w 0 0 0 10", 15),
    ("roman", "*O*@O**@/*@*O**@*/O*@**O** w 0 0 12 24", 17),
    ("mill", "@*O***O*/***@*O**/**@**O*@ b 0 0 4 30", 17),
    ("morris", "@*O***O*/@*****@*/*O*O**** w 0 0 0 40", 9),
    ("mill", "@*O*@***/****O*@*/O******* w 0 0 0 40", 11),
    ("multi", "@*O***O*/*O****@*/*O*@*O** b 0 0 2 33", 7),
)


def run(
    hash_mb: int = 16, stopped: Callable[[], bool] = lambda: False
) -> tuple[int, float]:
    """Search all positions; return the total number of nodes and the CPU time in seconds.

    Once ``stopped`` returns True, no further position is searched.
    """
    nodes, started = 0, time.process_time()
    for rules, text, depth in POSITIONS:
        if stopped():
            break
        searcher = Searcher(hash_mb)
        position = parse_position(text, parse_rules(rules))
        nodes += searcher.search(position, Limit(depth=depth)).nodes
    return nodes, time.process_time() - started
