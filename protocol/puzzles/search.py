"""Finding puzzles: walks through positions that tables know, and what is a puzzle among them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from merels.engine.game.board import ALL_POINTS, SYMMETRIES, mask_of, points_of
from merels.engine.game.position import WHITE, Move, Position
from merels.engine.tablebase.probe import Tables
from merels.engine.tablebase.root_ranking import Choice, values_of_moves
from merels.engine.tablebase.sectors import AnySector
from merels.protocol.puzzles.puzzle import GOALS, Puzzle

WALK = 12
"""Plies of a walk."""
LONGEST_LINE = 7
"""Plies of a solution, at most."""
FEWEST_MOVES = 4
"""A position with fewer legal moves is no puzzle."""
PATIENCE = 2000
"""Walks in a row without a puzzle, after which there is none to be found."""
_ERRS = 0.15
"""How often a walk plays any move, not one that keeps the value."""

Form = tuple[int, int]


def find_puzzles(tables: Tables, seed: int) -> Iterator[Puzzle]:
    """Puzzles that differ, the same for the same tables and seed.

    They end where `PATIENCE` walks have found no new one.
    """
    random = Random(seed)
    known = list(tables.headers)
    seen: set[object] = set()
    fruitless = 0
    while fruitless < PATIENCE:
        fruitless += 1
        start = _start(tables, random, random.choice(known))
        for position, choices in _walk(tables, random, start):
            puzzle = puzzle_at(tables, position, choices)
            if puzzle is None:
                continue
            same = _form(position.men), position.hands, position.side
            if same not in seen:
                seen.add(same)
                fruitless = 0
                yield puzzle
                break


def puzzle_at(
    tables: Tables, position: Position, choices: list[Choice] | None = None
) -> Puzzle | None:
    """The puzzle in a position with no ply played since the last removal; None: it is none.

    ``choices`` are the values of its moves, if they have been looked up.
    """
    known = tables.probe(position)
    if known is None or known.value not in GOALS or position.outcome() is not None:
        return None
    choices = choices or values_of_moves(tables, position)
    value, best = known.value, _only(position, known.value, choices)
    if best is None:
        return None
    first, moves = best
    line = [first[0].move]
    equal: Sequence[Choice] = first
    after = position
    while len(equal) == 1 and len(line) + 2 <= LONGEST_LINE:
        after = after.play(line[-1])
        reply = None if after.outcome() else _reply(tables, after, value)
        if reply is None:
            break
        there = after.play(reply)
        found = None if there.outcome() else _only(there, value, values_of_moves(tables, there))
        if found is None:
            break
        after, equal = there, found[0]
        line += [reply, equal[0].move]
    if after.play(line[-1]).outcome() is not None and len(line) == 1:
        return None  # To see a move that ends the game is no puzzle.
    depth = first[0].depth
    others = tuple(choice.move for choice in equal[1:])
    return Puzzle(position, value, tuple(line), others, len(first), moves, depth)


def _only(
    position: Position, value: int, choices: list[Choice] | None
) -> tuple[list[Choice], int] | None:
    """The moves that keep the value if all have the same effect, and how many moves there are.

    The others are proven to be worse: no count of plies turns a loss or a draw into a win, and
    one that may turn a loss into a draw makes the loss uncertain.
    """
    if choices is None or len(choices) < FEWEST_MOVES:
        return None
    best = [choice for choice in choices if choice.value >= value]
    if not best or len(best) == len(choices) or any(choice.value > value for choice in best):
        return None
    if value == 0 and not all(choice.certain for choice in choices if choice.value < 0):
        return None
    effects = {_form(_men_after(position, choice.move)) for choice in best}
    best.sort(key=lambda choice: (choice.depth or 0, str(choice.move)))
    return (best, len(choices)) if len(effects) == 1 else None


def _reply(tables: Tables, position: Position, value: int) -> Move | None:
    """The opponent's reply that keeps what it has and asks most; None where it is not known."""
    choices = values_of_moves(tables, position)
    if not choices:
        return None
    kept = [choice for choice in choices if choice.value == -value]

    def ease(choice: Choice) -> tuple[float, int, str]:
        there = position.play(choice.move)
        held = None if there.outcome() else tables.holding(there)
        return (held[0] / held[1] if held else 2.0, -(choice.depth or 0), str(choice.move))

    return min(kept, key=ease).move if kept else None


def _men_after(position: Position, move: Move) -> Form:
    """The men after a move without its removals, the mover's first."""
    own, opponent = position.men[position.side], position.men[1 - position.side]
    if move.origin is not None:
        own &= ~(1 << move.origin)
    return own | 1 << move.to, opponent


def _form(men: Form) -> Form:
    """The same for all boards that a symmetry turns into each other."""
    first, second = (tuple(points_of(one)) for one in men)
    return min(
        (mask_of(symmetry[p] for p in first), mask_of(symmetry[p] for p in second))
        for symmetry in SYMMETRIES
    )


def _start(tables: Tables, random: Random, sector: AnySector) -> Position:
    """A position of a sector: one that random placing leads to, else any with such men."""
    if sector.hand and tables.complete:
        position = Position(tables.rules)
        while sum(position.hands) > sector.hand and position.outcome() is None:
            position = position.play(random.choice(position.legal_moves()))
        return position
    own, opponent = random.choice(sector.sides)
    points = random.sample(range(ALL_POINTS.bit_length()), own + opponent)
    men, hands = (mask_of(points[:own]), mask_of(points[own:])), sector.hands
    side = random.randrange(2)
    if sector.hand:
        # White places first.
        side = WHITE if hands[0] == hands[1] else 1 - WHITE
    return Position(
        tables.rules, men if side == WHITE else men[::-1],
        hands if side == WHITE else hands[::-1], side,
    )


def _walk(
    tables: Tables, random: Random, position: Position
) -> Iterator[tuple[Position, list[Choice]]]:
    """Positions that moves lead to from one, each as if the game began there, with their moves."""
    for ply in range(WALK + 1):
        choices = None if position.outcome() else values_of_moves(tables, position)
        if not choices:
            return
        if ply:
            yield position, choices
        best = max(choice.value for choice in choices)
        kept = [choice for choice in choices if choice.value == best]
        move = random.choice(choices if random.random() < _ERRS else kept).move
        after = position.play(move)
        position = Position(after.rules, after.men, after.hands, after.side)
