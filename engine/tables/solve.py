"""Proofs through the placing phase: a position's value and its turns', from the tables."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from merels.engine import core
from merels.engine.board import SYMMETRIES
from merels.engine.bridge import core_board, core_rules
from merels.engine.errors import InputError
from merels.engine.position import Position, Turn
from merels.engine.tables.probe import Tables

_REPORT_EVERY = 1.0  # seconds


@dataclass
class Solution:
    """What was proven: values (-1, 0, 1) for the side to move, and what it took.

    ``turns`` has every legal turn; those that symmetry makes equal were proven once.
    """

    value: int
    turns: dict[Turn, int] = field(default_factory=dict)
    nodes: int = 0
    probes: int = 0


def solve(
    tables: Tables,
    position: Position,
    *,
    threads: int = 1,
    hash_mb: int = 256,
    report: Callable[[int, int], None] | None = None,
) -> Solution:
    """Prove the value of a position and of each of its turns.

    ``report`` gets the proofs that are done and their number, about once a second. Raises
    `InputError` where a table is missing that the proof needs.
    """
    turns = position.legal_turns()
    if position.outcome() is not None or not turns:
        raise InputError(repr(position), "the game is over there, nothing is to be solved")
    prover = core.PlacingProver(core_rules(position.rules), tables.core, hash_mb)
    shapes = {turn: _shape(position.play(turn)) for turn in turns}
    values: dict[tuple[int, int], int] = {}
    examples = {shape: position.play(turn) for turn, shape in shapes.items()}
    with ThreadPoolExecutor(threads) as pool:
        work = [pool.submit(_prove, prover, shape, after) for shape, after in examples.items()]
        try:
            while wait(work, _REPORT_EVERY).not_done:
                if report:
                    report(sum(future.done() for future in work), len(work))
        except BaseException:
            prover.stop()
            raise
    for future in work:
        shape, value = future.result()
        if value is None:
            missing = prover.missing
            raise InputError(
                "{}-{}".format(*missing) if missing else "proof",
                "a table that the proof needs is not here: build it first",
            )
        values[shape] = value
    by_turn = {turn: -values[shape] for turn, shape in shapes.items()}
    return Solution(max(by_turn.values()), by_turn, prover.nodes, prover.probes)


def _prove(
    prover: core.PlacingProver, shape: tuple[int, int], position: Position
) -> tuple[tuple[int, int], int | None]:
    """The value of a position for its side to move, by one or two questions."""
    fields = core_board(position)
    holds = prover.reaches(fields, 0)
    if holds is None or not holds:
        return shape, None if holds is None else -1
    wins = prover.reaches(fields, 1)
    return shape, None if wins is None else int(wins)


def _shape(position: Position) -> tuple[int, int]:
    """The same for positions that a symmetry of the board makes one."""
    return min(
        (
            sum(1 << symmetry[point] for point in range(24) if position.men[0] >> point & 1),
            sum(1 << symmetry[point] for point in range(24) if position.men[1] >> point & 1),
        )
        for symmetry in SYMMETRIES
    )
