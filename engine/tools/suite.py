"""Test suites of positions with proven values, for counting an engine's blunders.

A suite is a JSON list of ``{"position", "value", "best"}``: a position's text, its proven value for
the side to move (1, 0 or -1), and the moves that keep the value. Other fields are ignored.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from merels.engine.common.errors import InputError
from merels.engine.common.json_list import read_json_list
from merels.engine.game.notation import parse_move, parse_position
from merels.engine.game.position import Move, Position
from merels.engine.game.rules import Rules
from merels.engine.search.limits import Limit
from merels.engine.search.searcher import Searcher
from merels.engine.tablebase.verdict import PHASES, phase_of

VALUES = {1: "won", 0: "drawn", -1: "lost"}


@dataclass(frozen=True, slots=True)
class Problem:
    """A position with its proven value for the side to move and the moves that keep it."""

    position: Position
    value: int
    best: frozenset[Move]

    @property
    def phase(self) -> str:
        """Phase of the position, one of `PHASES`."""
        return phase_of(self.position)


def load(path: Path, rules: Rules) -> list[Problem]:
    """Return the problems of a suite under some rules.

    `InputError` names the file or the index of an invalid problem, counted from 0; `OSError` if the
    file cannot be read.
    """
    problems = []
    for number, row in enumerate(read_json_list(path, "positions")):
        try:
            problems.append(_problem(row, rules))
        except InputError as error:
            raise error.at(number) from None
    return problems


def _problem(row: object, rules: Rules) -> Problem:
    """Return the problem of a JSON object."""
    match row:
        case {"position": str(text), "value": -1 | 0 | 1 as value, "best": [*moves]}:
            position = parse_position(text, rules)
        case _:
            raise InputError(
                json.dumps(row), "expected an object with position, value (1, 0 or -1) and best"
            )
    best = frozenset(parse_move(str(move)) for move in moves)
    outcome = position.outcome()
    if outcome is not None:
        raise InputError(text, f"the game is over here: {outcome}; leave this position out")
    for move in best:
        position.push(move)
    return Problem(position, value, best)


def play(
    problems: Iterable[Problem], limit: Limit, searcher: Searcher
) -> Iterator[tuple[Problem, Move, bool]]:
    """Yield each problem, the searcher's move, and whether the move keeps the value.

    The searcher is cleared before each problem. A time limit applies only to the search.
    """
    for problem in problems:
        searcher.clear()
        move = searcher.search(problem.position, limit, overhead=0.0).move
        assert move is not None
        yield problem, move, move in problem.best


class BlunderCount:
    """Number of moves and of blunders by phase and proven value."""

    def __init__(self) -> None:
        self.played: Counter[tuple[str, int]] = Counter()
        self.blunders: Counter[tuple[str, int]] = Counter()

    def add(self, problem: Problem, kept_value: bool) -> None:
        """Count the move of a problem; it is a blunder unless it ``kept_value``."""
        self.played[problem.phase, problem.value] += 1
        self.blunders[problem.phase, problem.value] += not kept_value

    def lines(self) -> Iterator[str]:
        """Yield a line for each phase and value that occur, for each such phase, and for all."""
        for phase in PHASES:
            keys = [(phase, value) for value in VALUES if self.played[phase, value]]
            for key in keys:
                yield self._line(f"{phase} {VALUES[key[1]]}", [key])
            if keys:
                yield self._line(phase, keys)
        yield self._line("all", list(self.played))

    def _line(self, name: str, keys: list[tuple[str, int]]) -> str:
        played = sum(self.played[key] for key in keys)
        blunders = sum(self.blunders[key] for key in keys)
        share = 100 * blunders / played if played else 0.0
        return f"{name:<15} {blunders:5} of {played:5} thrown away  {share:6.2f} %"
