"""What each term of the evaluation is worth: moves thrown away when its weights are nought.

    python -m tests.engine.measure_terms [NODES]

The other weights stay as they are, so that a term counts for what the others cannot say.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from merels.engine.core import core, weights
from merels.engine.game.rules import make_rules
from merels.engine.search.limits import Limit
from merels.engine.search.searcher import Searcher
from merels.engine.tools.suite import Problem, Tally, load, play

POSITIONS = Path(__file__).parent.parent / "data" / "positions.json"
ENTRIES = (
    ("sides of the square", 0, 5346),
    ("rings", 5346, 7254),
    ("men", 7254, 7354),
    ("men in hand", 7354, 7454),
    ("threats", 7454, 7518),
    ("steps", 7518, 7582),
    ("blocked men", 7582, 7646),
)
"""Each term's first entry and the one after its last, in the order of evaluate.pxi."""
PHASES, NEURONS = 12, 16
COUNT = ENTRIES[-1][2]
VECTORS = PHASES * COUNT + 2 * PHASES * NEURONS
"""Where the vectors begin in the weights, in numbers of 16 bits."""


def without(data: bytes, first: int, end: int) -> bytes:
    """The weights with some entries' worth and vectors nought."""
    kept = bytearray(data)
    spans = [(phase * COUNT + first, end - first) for phase in range(PHASES)]
    spans.append((VECTORS + first * NEURONS, (end - first) * NEURONS))
    for start, size in spans:
        kept[2 * start : 2 * (start + size)] = bytes(2 * size)
    return bytes(kept)


def variants(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Each set of weights to measure, with its name."""
    yield "all terms", data
    for name, first, end in ENTRIES:
        yield f"without {name}", without(data, first, end)
    output = PHASES * (COUNT + NEURONS)
    silent = bytearray(data)
    silent[2 * output : 2 * (output + PHASES * NEURONS)] = bytes(2 * PHASES * NEURONS)
    yield "without the neurons", bytes(silent)
    yield "men alone", without(without(data, 0, ENTRIES[2][1]), ENTRIES[3][1], COUNT)


def measure(problems: list[Problem], limits: Limit) -> str:
    """The suite's lines for each phase and for all, in one."""
    tally = Tally()
    for problem, _, held in play(problems, limits, Searcher()):
        tally.add(problem, held)
    lost = [line.split() for line in tally.lines() if len(line.split()[1]) < 5]
    return ", ".join(f"{words[0]} {words[1]}" for words in lost if words[1].isdigit())


def main() -> None:
    """Measure every variant."""
    limits = Limit(nodes=int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
    problems = load(POSITIONS, make_rules("morris"))
    data = weights.PATH.read_bytes()
    assert len(data) == core.WEIGHTS_SIZE == 2 * (VECTORS + COUNT * NEURONS)
    for name, changed in variants(data):
        weights.load()
        core.load_weights(changed)
        print(f"{name:<28} {measure(problems, limits)}", flush=True)


if __name__ == "__main__":
    main()
