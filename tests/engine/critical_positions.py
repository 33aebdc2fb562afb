"""Critical positions of morris from its tables, for `merels suite`: measures no fitting has seen.

    python -m tests.engine.critical_positions OUT -tables DIR -seed 1 -placing 600 -moving 1500 \\
        -flying 500 -apart tests/data/positions.json

A position is critical when it is not lost and at most a third of its moves hold its value. Most
come from games of fallible play, which slips into a random move more or less often, the others
(none of them in the placing phase) are random positions. All are held out (`trainer.is_held_out`):
no fitting, earlier or later, has seen one or an image of it. No two are mirror images, nor images
of one in the files named by ``-apart``. One seed makes the same file while the engine plays the
same.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from merels.engine.core import trainer
from merels.engine.core.convert import core_board
from merels.engine.game.board import SYMMETRIES, mask_of, points_of
from merels.engine.game.notation import format_position
from merels.engine.game.position import Position
from merels.engine.game.rules import MEN_PER_SIDE, MINIMUM_MEN, make_rules
from merels.engine.search.limits import Limit
from merels.engine.search.searcher import Searcher
from merels.engine.tablebase.probe import Tables, open_tables
from merels.engine.tablebase.verdict import PHASES, phase_of
from merels.engine.tools.suite import load
from merels.engine.training.samples import random_position

RULES = make_rules("morris", ["Repetition=0", "NoRemovalPlies=0"])
SLIPS = (0.1, 0.2, 0.4, 0.6)
"""How often a game's moves are random; the others are searched to a few nodes."""
NODES = 300
LONGEST = 120
"""Plies of a game."""
ANYWHERE = 0.3
"""Random positions without men in hand for each position of a game."""

Image = tuple[int, int, tuple[int, int], int]


def image_of(position: Position) -> Image:
    """What all mirror images of a position have in common."""
    men = position.men
    white, black = min(
        (mask_of(one[p] for p in points_of(men[0])), mask_of(one[p] for p in points_of(men[1])))
        for one in SYMMETRIES
    )
    return white, black, position.hands, position.side


def game(searcher: Searcher, chance: random.Random) -> Iterator[Position]:
    """The positions of a game of fallible play, without what was played before them."""
    slips = chance.choice(SLIPS)
    position = Position(RULES)
    searcher.clear()
    for _ in range(LONGEST):
        if position.outcome() is not None:
            return
        yield Position(RULES, position.men, position.hands, position.side)
        if chance.random() < slips:
            move = chance.choice(position.legal_moves())
        else:
            found = searcher.search(position, Limit(nodes=NODES)).move
            assert found is not None
            move = found
        position = position.play(move)


def candidates(chance: random.Random) -> Iterator[Position]:
    """Positions of games, and random ones without men in hand, all counts of men alike."""
    searcher = Searcher()
    while True:
        for position in game(searcher, chance):
            yield position
            if chance.random() < ANYWHERE:
                own, opponent = (chance.randint(MINIMUM_MEN, MEN_PER_SIDE) for _ in range(2))
                yield random_position(RULES, own, opponent, chance)


def problem(tables: Tables, position: Position) -> dict[str, object] | None:
    """A position as a suite has it; None if it is not critical."""
    known = {move: value for move, value in tables.moves(position) if value is not None}
    moves = position.legal_moves()
    best = max((one.value for one in known.values()), default=-1)
    holding = [move for move, one in known.items() if one.value == best]
    if best < 0 or len(known) < len(moves) or 3 * len(holding) > len(moves):
        return None
    return {
        "position": format_position(position), "value": best, "moves": len(moves),
        "best": sorted(map(str, holding)),
    }  # fmt: skip


def make(
    tables: Tables, wanted: dict[str, int], chance: random.Random, seen: set[Image]
) -> Iterator[dict[str, object]]:
    """So many critical positions of each phase; ``seen`` holds the images of those not wanted."""
    left = Counter(wanted)
    for position in candidates(chance):
        if not trainer.is_held_out(core_board(position)):
            continue
        phase = phase_of(position)
        image = image_of(position)
        row = problem(tables, position) if left[phase] and image not in seen else None
        if row is not None:
            seen.add(image)
            left[phase] -= 1
            yield row
        if not +left:
            return


def main() -> None:
    """Make the file."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.engine.critical_positions", description=__doc__
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("-tables", type=Path, required=True)
    parser.add_argument("-seed", type=int, default=1)
    for phase in PHASES:
        parser.add_argument(f"-{phase}", type=int, default=0)
    parser.add_argument("-apart", type=Path, nargs="*", default=[])
    args = parser.parse_args()
    tables = open_tables(args.tables, RULES)
    if not tables.complete:
        parser.error(f"expected whole tables of {RULES.variant} in {args.tables}")
    seen = {image_of(one.position) for path in args.apart for one in load(path, RULES)}
    wanted = {phase: getattr(args, phase) for phase in PHASES}
    rows = make(tables, wanted, random.Random(args.seed), seen)
    lines = ",\n".join(map(json.dumps, rows))
    args.out.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
