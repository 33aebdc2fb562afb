"""Proofs through the placing phase: the values of a position and of its moves, by the tables."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from merels.engine.core import core
from merels.engine.core.convert import core_board, core_rules
from merels.engine.game.board import SYMMETRIES, mask_of, points_of
from merels.engine.game.errors import InputError
from merels.engine.game.notation import format_position
from merels.engine.game.position import Move, Position
from merels.engine.tablebase.probe import Tables

_REPORT_EVERY = 1.0
"""Seconds."""


@dataclass
class Solution:
    """What was proven: values (-1, 0, 1) for the side to move, and what it took.

    ``moves`` has every legal move; symmetric ones were proven once.
    """

    value: int
    moves: dict[Move, int] = field(default_factory=dict)
    nodes: int = 0
    probes: int = 0


class Prover:
    """Proves the values of positions with men in hand; what it finds serves later proofs, too.

    Several threads may use it at once. It remembers what it finds in ``hash_mb`` MiB; `InputError`
    where there is no memory for them.
    """

    def __init__(self, tables: Tables, hash_mb: int = 256) -> None:
        self.tables = tables
        try:
            self.core = core.PlacingProver(core_rules(tables.rules), tables.core, hash_mb)
        except MemoryError:
            raise InputError(f"{hash_mb} MiB", "not enough memory for a proof") from None

    def reaches(self, position: Position, goal: int) -> bool:
        """Whether the side to move reaches at least ``goal`` (0: a draw, 1: a win).

        Raises `InputError` where a table is missing that the proof needs.
        """
        reached = self.core.reaches(core_board(position), goal)
        if reached is None:
            missing = self.core.missing
            raise InputError(
                "{}-{}".format(*missing) if missing else "proof",
                "a table that the proof needs is not here: build it first"
                if missing else "it was stopped",
            )
        return reached

    def value(self, position: Position) -> int:
        """The value for the side to move: 1, 0 or -1."""
        return int(self.reaches(position, 1)) if self.reaches(position, 0) else -1


def solve(
    tables: Tables,
    position: Position,
    *,
    threads: int = 1,
    hash_mb: int = 256,
    prover: Prover | None = None,
    report: Callable[[int, int], None] | None = None,
) -> Solution:
    """Prove the value of a position with men in hand, and of each of its moves.

    ``prover`` may know something already; without it a new one takes ``hash_mb`` MiB. ``report``
    gets the number of proofs done and of all, about once a second. `InputError` where a table is
    missing that the proof needs.
    """
    if position.hands == (0, 0):
        raise InputError(
            format_position(position), "no man is in hand there: use merels tables probe"
        )
    moves = position.legal_moves()
    if position.outcome() is not None or not moves:
        raise InputError(format_position(position), "the game is over: there is nothing to solve")
    prover = prover or Prover(tables, hash_mb)
    shapes = {move: _shape(position.play(move)) for move in moves}
    examples = {shape: position.play(move) for move, shape in shapes.items()}
    with ThreadPoolExecutor(threads) as pool:
        work = {shape: pool.submit(prover.value, after) for shape, after in examples.items()}
        try:
            while wait(work.values(), _REPORT_EVERY).not_done:
                if report:
                    report(sum(future.done() for future in work.values()), len(work))
        except BaseException:
            prover.core.stop()
            raise
    values = {shape: future.result() for shape, future in work.items()}
    by_move = {move: -values[shape] for move, shape in shapes.items()}
    return Solution(max(by_move.values()), by_move, prover.core.nodes, prover.core.probes)


def _shape(position: Position) -> tuple[int, int]:
    """The same for all positions that a symmetry of the board turns into each other."""
    white, black = (tuple(points_of(men)) for men in position.men)
    return min(
        (
            mask_of(tuple(symmetry[point] for point in white)),
            mask_of(tuple(symmetry[point] for point in black)),
        )
        for symmetry in SYMMETRIES
    )
