"""Search for puzzles: random walks through positions that are in the tables, and blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from random import Random

from merels.engine.game.board import ALL_POINTS, NEIGHBOURS, least_image, mask_of, points_of
from merels.engine.game.position import WHITE, Move, Position
from merels.engine.game.rules import MEN_PER_SIDE, Rules
from merels.engine.tablebase.probe import Tables
from merels.engine.tablebase.root_ranking import Choice, values_of_moves
from merels.engine.tablebase.sectors import Sector
from merels.protocol.puzzles.puzzle import GOALS, Puzzle

_WALK_PLIES = 12
LONGEST_LINE = 7
"""Maximum length of a solution, in plies."""
FEWEST_MOVES = 4
"""Minimum number of legal moves in a puzzle's position."""
_MAX_FRUITLESS = 2000
"""Number of consecutive attempts without a new puzzle that ends the search."""
_RANDOM_MOVE_SHARE = 0.15
"""Share of a walk's moves that are chosen from all legal moves; the others keep the value."""
_BLOCK_SHARE = 0.02
"""Share of attempts, in a search of all phases, that set up a block; walks rarely reach blocks."""

Men = tuple[int, int]
"""Bit masks of two sides' men."""
Candidate = tuple[Position, list[Choice] | None]
"""A position that may have a puzzle, and the values of its moves if they are known."""


def find_puzzles(tables: Tables, seed: int, all_phases: bool = False) -> Iterator[Puzzle]:
    """Yield different puzzles, in an order that depends only on the tables and ``seed``.

    No two positions are symmetric images. With ``all_phases``, walks begin in each phase with the
    same probability, and some attempts are positions of `before_block`.
    """
    random = Random(seed)
    groups = _sectors_by_phase(tables) if all_phases else [list(tables.headers)]
    seen: set[object] = set()
    fruitless = 0
    while fruitless < _MAX_FRUITLESS:
        fruitless += 1
        if all_phases and random.random() < _BLOCK_SHARE:
            block = before_block(tables.rules, random)
            candidates: Iterable[Candidate] = [(block, None)] if block else []
        else:
            group = groups[0] if len(groups) == 1 else random.choice(groups)
            start = _random_position(tables, random, random.choice(group))
            candidates = _walk(tables, random, start)
        for position, choices in candidates:
            puzzle = puzzle_at(tables, position, choices)
            if puzzle is None:
                continue
            key = least_image(position.men), position.hands, position.side
            if key not in seen:
                seen.add(key)
                fruitless = 0
                yield puzzle
                break


def before_block(rules: Rules, random: Random) -> Position | None:
    """Return a random position of the moving phase in which a move blocks the opponent.

    Return None if an attempt fails. The opponent's men form a connected group. The side to move
    occupies all neighbours of the group except one point, to which one of its men can move.
    """
    size, group = random.randint(4, 7), 1 << random.randrange(ALL_POINTS.bit_length())
    while group.bit_count() < size:
        group |= 1 << random.choice(list(points_of(_around(group))))
    walls = _around(group)
    if not 3 < walls.bit_count() <= MEN_PER_SIDE:
        return None
    free = list(points_of(ALL_POINTS & ~(group | walls)))
    more = random.randint(0, min(MEN_PER_SIDE - walls.bit_count(), len(free)))
    own = walls | mask_of(random.sample(free, more))
    gap = random.choice(list(points_of(walls)))
    origins = list(points_of(NEIGHBOURS[gap] & ~(own | group)))
    if not origins:
        return None
    own = own & ~(1 << gap) | 1 << random.choice(origins)
    side = random.randrange(2)
    return Position.of(rules, (own, group) if side == WHITE else (group, own), (0, 0), side)


def _around(group: int) -> int:
    """Return the neighbours of a group of points."""
    return mask_of(point for point in points_of(ALL_POINTS & ~group) if NEIGHBOURS[point] & group)


def _sectors_by_phase(tables: Tables) -> list[list[Sector]]:
    """Return the open sectors by phase: placing, moving and flying; omit empty phases."""
    groups: tuple[list[Sector], ...] = ([], [], [])
    for sector in tables.headers:
        flies = any(3 in table for table in sector.tables)
        groups[0 if sector.hand else 2 if flies else 1].append(sector)
    return [group for group in groups if group]


def puzzle_at(
    tables: Tables, position: Position, choices: list[Choice] | None = None
) -> Puzzle | None:
    """Return a position's puzzle, or None if it has no puzzle; ``position.plies`` must be 0.

    ``choices`` are the values of the position's moves, or None to look them up.
    """
    entry = tables.probe(position)
    if entry is None or entry.value not in GOALS or position.outcome() is not None:
        return None
    choices = choices or values_of_moves(tables, position)
    value, solution = entry.value, _only_moves(position, entry.value, choices)
    if solution is None:
        return None
    holding, moves = solution
    line = [holding[0].move]
    equal: Sequence[Choice] = holding
    after = position
    while len(equal) == 1 and len(line) + 2 <= LONGEST_LINE:
        after = after.play(line[-1])
        reply = None if after.outcome() else _reply(tables, after, value)
        if reply is None:
            break
        child = after.play(reply)
        solution = None
        if child.outcome() is None:
            solution = _only_moves(child, value, values_of_moves(tables, child))
        if solution is None:
            break
        after, equal = child, solution[0]
        line += [reply, equal[0].move]
    end = position.play(line[0]).outcome()
    if end is not None and end.reason != "blocked":
        return None  # A mill that ends the game at once is too easy to find; a block is not.
    others = tuple(choice.move for choice in equal[1:])
    return Puzzle(position, value, tuple(line), others, len(holding), moves, holding[0].depth)


def _only_moves(
    position: Position, value: int, choices: list[Choice] | None
) -> tuple[list[Choice], int] | None:
    """Return the moves that keep ``value``, best first, and the number of legal moves.

    Return None if these moves differ in effect, if another move is not proven to be worse, or if
    the position has no worse move or fewer than `FEWEST_MOVES` moves. With ``value`` 0 every losing
    move must be `Choice.certain`, because a limit on plies can turn a loss into a draw.
    """
    if choices is None or len(choices) < FEWEST_MOVES:
        return None
    best = [choice for choice in choices if choice.value >= value]
    if not best or len(best) == len(choices) or any(choice.value > value for choice in best):
        return None
    if value == 0 and not all(choice.certain for choice in choices if choice.value < 0):
        return None
    effects = {least_image(_men_after(position, choice.move)) for choice in best}
    best.sort(key=lambda choice: (choice.depth or 0, str(choice.move)))
    return (best, len(choices)) if len(effects) == 1 else None


def _reply(tables: Tables, position: Position, value: int) -> Move | None:
    """Return the hardest reply that keeps the opponent's value, or None if values are missing.

    The hardest reply leaves the smallest share of right moves; a tie goes to the longest delay.
    """
    choices = values_of_moves(tables, position)
    if not choices:
        return None
    keeping = [choice for choice in choices if choice.value == -value]

    def ease(choice: Choice) -> tuple[float, int, str]:
        child = position.play(choice.move)
        counts = None if child.outcome() else tables.holding(child)
        return (counts[0] / counts[1] if counts else 2.0, -(choice.depth or 0), str(choice.move))

    return min(keeping, key=ease).move if keeping else None


def _men_after(position: Position, move: Move) -> Men:
    """Return both sides' men, the mover's first, after a move but before its removals."""
    own, opponent = position.men[position.side], position.men[1 - position.side]
    if move.origin is not None:
        own &= ~(1 << move.origin)
    return own | 1 << move.to, opponent


def _random_position(tables: Tables, random: Random, sector: Sector) -> Position:
    """Return a random position of a sector.

    If the sector has men in hand and the tables are complete, the position comes from random play:
    it may lie in another sector, or the game may be over. Otherwise the men are on random points.
    """
    if sector.hand and tables.complete:
        position = Position(rules=tables.rules)
        while sum(position.hands) > sector.hand and position.outcome() is None:
            position = position.play(random.choice(position.legal_moves()))
        return position
    own, opponent, _ = random.choice(sector.tables)
    points = random.sample(range(ALL_POINTS.bit_length()), own + opponent)
    men, hands = (mask_of(points[:own]), mask_of(points[own:])), sector.hands
    side = random.randrange(2)
    if sector.hand:
        # White places first, so equal hands mean that White is to move.
        side = WHITE if hands[0] == hands[1] else 1 - WHITE
    return Position.of(
        tables.rules, men if side == WHITE else men[::-1],
        hands if side == WHITE else hands[::-1], side,
    )


def _walk(tables: Tables, random: Random, position: Position) -> Iterator[Candidate]:
    """Yield the positions of a walk after its start, each as if a game began with it."""
    for ply in range(_WALK_PLIES + 1):
        choices = None if position.outcome() else values_of_moves(tables, position)
        if not choices:
            return
        if ply:
            yield position, choices
        best = max(choice.value for choice in choices)
        keeping = [choice for choice in choices if choice.value == best]
        move = random.choice(choices if random.random() < _RANDOM_MOVE_SHARE else keeping).move
        after = position.play(move)
        position = Position.of(after.rules, after.men, after.hands, after.side)
