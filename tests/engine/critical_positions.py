"""Make a suite of critical positions of morris for `merels suite`, held out from every fit.

    python -m tests.engine.critical_positions OUT -tables DIR -seed 1 -placing 600 -moving 1500 \\
        -flying 500 -apart tests/data/positions.json

A position is critical if it is not lost and at most a third of its moves keep its value. Most
positions come from games of fallible play, in which a share of the moves is random. The others,
none of them in the placing phase, are random positions. All are held out (`trainer.is_held_out`):
no fit of the evaluation has seen one of them or a mirror image. No two positions are mirror images
of each other, or of a position in the files of ``-apart``. The result depends only on the seed and
the engine's play.
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
from merels.engine.game.board import least_image
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
RANDOM_SHARES = (0.1, 0.2, 0.4, 0.6)
"""Shares of random moves in a game; the other moves are searched."""
NODES = 300
"""Node limit of a search."""
MAX_PLIES = 120
"""Maximum length of a game in plies."""
RANDOM_POSITION_CHANCE = 0.3
"""Chance of a random position without men in hand after each position of a game."""

ImageKey = tuple[tuple[int, int], tuple[int, int], int]


def image_key(position: Position) -> ImageKey:
    """Return a key that is equal for all mirror images of a position."""
    return least_image(position.men), position.hands, position.side


def game_positions(searcher: Searcher, chance: random.Random) -> Iterator[Position]:
    """Yield the positions of a game of fallible play, without their history."""
    random_share = chance.choice(RANDOM_SHARES)
    position = Position(rules=RULES)
    searcher.clear()
    for _ in range(MAX_PLIES):
        if position.outcome() is not None:
            return
        yield Position.of(RULES, position.men, position.hands, position.side)
        if chance.random() < random_share:
            move = chance.choice(position.legal_moves())
        else:
            best = searcher.search(position, Limit(nodes=NODES)).move
            assert best is not None
            move = best
        position = position.play(move)


def candidates(chance: random.Random) -> Iterator[Position]:
    """Yield positions of games, mixed with random positions without men in hand."""
    searcher = Searcher()
    while True:
        for position in game_positions(searcher, chance):
            yield position
            if chance.random() < RANDOM_POSITION_CHANCE:
                own, opponent = (chance.randint(MINIMUM_MEN, MEN_PER_SIDE) for _ in range(2))
                yield random_position(RULES, own, opponent, chance)


def suite_row(tables: Tables, position: Position) -> dict[str, object] | None:
    """Return the row of a position in a suite; None if it is not critical."""
    values = {move: stored.value for move, stored in tables.moves(position) if stored is not None}
    moves = position.legal_moves()
    best = max(values.values(), default=-1)
    keeping = [move for move, value in values.items() if value == best]
    if best < 0 or len(values) < len(moves) or 3 * len(keeping) > len(moves):
        return None
    return {
        "position": format_position(position), "value": best, "moves": len(moves),
        "best": sorted(map(str, keeping)),
    }  # fmt: skip


def critical_rows(
    tables: Tables, wanted: dict[str, int], chance: random.Random, seen: set[ImageKey]
) -> Iterator[dict[str, object]]:
    """Yield rows of critical positions, as many of each phase as ``wanted``.

    Positions whose `image_key` is in ``seen`` are skipped; the keys of the others are added.
    """
    missing = Counter(wanted)
    for position in candidates(chance):
        if not trainer.is_held_out(core_board(position)):
            continue
        phase = phase_of(position)
        key = image_key(position)
        row = suite_row(tables, position) if missing[phase] and key not in seen else None
        if row is not None:
            seen.add(key)
            missing[phase] -= 1
            yield row
        if not +missing:
            return


def main() -> None:
    """Run the command."""
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
        parser.error(f"expected complete tables of {RULES.variant} in {args.tables}")
    seen = {image_key(problem.position) for path in args.apart for problem in load(path, RULES)}
    wanted = {phase: getattr(args, phase) for phase in PHASES}
    rows = critical_rows(tables, wanted, random.Random(args.seed), seen)
    lines = ",\n".join(map(json.dumps, rows))
    args.out.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
