"""Value of each term of the evaluation: blunders if the term's weights are zero.

    python -m tests.benchmarks.terms [NODES]

The other weights stay as they are, so the figures show only what the other terms cannot replace.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from merels.engine.core import core, weights
from merels.engine.game.rules import make_rules
from merels.engine.search.limits import Limit
from merels.engine.search.searcher import Searcher
from merels.engine.tools.suite import BlunderCount, Problem, load, play

POSITIONS = Path(__file__).parent.parent / "data" / "positions.json"
TERMS = (
    ("sides of the square", 0, core.AT_CORNERS),
    ("corners", core.AT_CORNERS, core.AT_OUTER),
    ("rings", core.AT_OUTER, core.AT_MEN),
    ("men", core.AT_MEN, core.AT_KINDS),
    ("men in hand, flying", core.AT_KINDS, core.ROWS),
)
"""Name of each term, its first row, and the row after its last."""
OUTPUT = core.PHASES * (core.ROWS + core.HIDDEN)
VECTORS = OUTPUT + core.PHASES * core.HIDDEN
"""Start and end of the hidden layer's output weights, in units of 16 bits. The rows' vectors, whose
numbers are bytes, follow them."""


def without(payload: bytes, first: int, end: int) -> bytes:
    """Return the weights with the values and vectors of some rows set to zero."""
    spans = [(2 * (phase * core.ROWS + first), 2 * (end - first))
             for phase in range(core.PHASES)]
    spans += [(2 * VECTORS + (quarter * core.ROWS + first) * core.HIDDEN,
               (end - first) * core.HIDDEN) for quarter in range(core.QUARTERS)]
    for start, size in spans:
        payload = payload[:start] + bytes(size) + payload[start + size :]
    return payload


def variants(payload: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield each set of weights to measure, after its name."""
    yield "all terms", payload
    for name, first, end in TERMS:
        yield f"without {name}", without(payload, first, end)
    no_output = payload[: 2 * OUTPUT] + bytes(2 * (VECTORS - OUTPUT)) + payload[2 * VECTORS :]
    yield "without the hidden layer", no_output
    yield "men only", without(without(payload, 0, core.AT_MEN), core.AT_KINDS, core.ROWS)


def measure(problems: list[Problem], limits: Limit) -> str:
    """Return the suite's blunders in each phase and in all, on one line."""
    tally = BlunderCount()
    for problem, _, held in play(problems, limits, Searcher()):
        tally.add(problem, held)
    rows = (line.split() for line in tally.lines())
    # A line about one value, such as "placing won", has the value in place of a number.
    return ", ".join(f"{name} {blunders}" for name, blunders, *_ in rows if blunders.isdigit())


def main() -> None:
    """Measure every variant."""
    limits = Limit(nodes=int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
    problems = load(POSITIONS, make_rules("morris"))
    for name, changed in variants(weights.FILE.unpack(weights.FILE.read(weights.PATH))):
        core.load_weights(changed)
        print(f"{name:<28} {measure(problems, limits)}", flush=True)


if __name__ == "__main__":
    main()
