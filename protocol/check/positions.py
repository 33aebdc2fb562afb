"""Positions and moves that the steps use, as text.

All positions are legal under every rule set; they come from random games.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from random import Random

from merels.engine.game.board import LINES, NAMES, NEIGHBOURS, in_mills, mask_of
from merels.engine.game.notation import START as START, format_position, parse_move, parse_position
from merels.engine.game.position import Move, Position
from merels.engine.game.rules import Rules

PLACING = "*OO***@@/***@O**@/*OOO***@ w 3 3 0 7"
"""Placing phase: some placements close a mill."""
MOVING = "*@O*****/@@*OOO*@/OO@@@**O w 0 0 0 14"
"""Moving phase: seven men on each side, six legal moves."""
SHUFFLE = "e4-e3 d1-a1 e3-e4 a1-d1".split()
"""Moves from `MOVING` that lead back to it and close no mill under any rule set."""
FLYING = "*****@@*/@@*O**@@/OO****@* w 0 0 0 26"
"""Flying phase: White to move has three men."""
FORCED = "@O@@****/@*@*****/*OOO@*** w 0 0 0 30"
"""White has exactly one legal move."""
REMOVALS = "**@O@@**/**@O@O@*/@*@OO*OO w 0 0 24 32"
"""Every legal move closes a mill."""
WINNING = "@*O**O@*/**@**@*@/O*****@* b 0 0 8 32"
"""Black wins at once: several moves close a mill and leave White with two men."""
AHEAD = "*OO**@@*/@@@O****/**@**@O@ b 0 0 0 30"
"""Black, to move, has eight men against four; neither side closes a mill at once."""
FINISHED = {
    "White has two men": "****@*@O/@*@***@*/**O***@* w 0 0 0 38",
    "White is blocked": "**@OOO@*/**@O@*@*/***@**@* w 0 0 0 27",
}
"""Positions in which the game is over, by the reason."""
_THREE = "O*@*****/O*******/@*O***@* w 0 0 {} 30"
"""Three men against three, after a number of plies without a removal."""
_TRIES = 200
"""Random positions that `_there_and_back` tries; most are good after a few."""
_MOST_SHUFFLES = 20
"""Maximum number of times that `drawn_games` repeats `SHUFFLE`."""
GAME = "g1 d6 d2 a7 g4 d5 g7xd5 c5 e5 c4 e4 b6".split()
"""The first moves of a game, one of them with a removal."""
_RULE_MOVES = (
    (START, FLYING, ("f2-e4", "f2-f4")),
    (START, "@@*****@/@@*****@/**O*OOO* w 0 0 0 20", ("g4-g1xd6", "g4-g1")),
    (MOVING, "O**@*@**/*O*****O/O**@*@** w 3 3 0 7", ("d6xa1", "d6xa1xc3")),
)
"""A position of another phase, a position, and moves of which each rule set allows one: a flight or
a step, a removal of one of the men that are all in mills or none, one man for two mills or two."""


def rule_moves(rules: Rules) -> Iterator[tuple[str, str, list[str]]]:
    """Yield a position of another phase, a position, and moves that the rules allow there.

    The moves are those that depend on a rule, steps along each of the 32 edges in both directions,
    and placements that close each of the 16 mills.
    """
    for before, start, moves in _RULE_MOVES:
        position = parse_position(start, rules)
        yield before, start, [next(text for text in moves if position.is_legal(parse_move(text)))]
    for origin, to in combinations(range(len(NAMES)), 2):
        if NEIGHBOURS[origin] >> to & 1 and (case := _there_and_back(origin, to, rules)):
            yield START, *case
    for line in LINES:
        yield MOVING, *_closed_mill(line, rules)


def _there_and_back(origin: int, to: int, rules: Rules) -> tuple[str, list[str]] | None:
    """Return a position, and a step of White along an edge, one of Black, and White's step back.

    None if the rules draw such a game at once.
    """
    chance = Random(len(NAMES) * origin + to)
    free = [point for point in range(len(NAMES)) if point not in (origin, to)]
    there, back = Move(origin, to), Move(to, origin)
    for _ in range(_TRIES):
        others = chance.sample(free, 8)
        men = mask_of([origin, *others[:4]]), mask_of(others[4:])
        first = Position.of(rules, men, (0, 0), number=15)
        if any(map(in_mills, men)):
            continue
        if first.outcome() is not None or not first.is_legal(there):
            continue
        for answer in (after := first.push(there)).legal_moves():
            last = after.push(answer)
            if answer.removed or not last.is_legal(back) or last.push(back).outcome() is not None:
                continue
            return format_position(first), [*map(str, (there, answer, back))]
    return None


def _closed_mill(line: tuple[int, int, int], rules: Rules) -> tuple[str, list[str]]:
    """Return a position, and a placement of White that closes a mill and removes a man."""
    chance = Random(mask_of(line))
    free = [point for point in range(len(NAMES)) if point not in line]
    while True:
        another, *others = chance.sample(free, 4)
        men = mask_of([*line[:2], another]), mask_of(others)
        if not any(map(in_mills, men)):
            first = Position.of(rules, men, (6, 6), number=4)
            move = next(move for move in first.legal_moves() if move.to == line[2])
            return format_position(first), [str(move)]


def drawn_games(rules: Rules) -> Iterator[tuple[str, str, list[str]]]:
    """Yield a rule field by which a game is drawn, a position, and moves that lead to the draw."""
    shuffles, limit = rules.repetition - 1, rules.no_removal_plies
    if 0 < shuffles <= _MOST_SHUFFLES and not 0 < limit <= len(SHUFFLE) * shuffles:
        yield "Repetition", MOVING, SHUFFLE * shuffles
    if limit:
        yield "NoRemovalPlies", MOVING.replace(" 0 14", f" {limit - 1} 14"), SHUFFLE[:1]
    if rules.three_three_plies:
        yield "ThreeThreePlies", _THREE.format(rules.three_three_plies - 1), ["d5-c5"]
