"""Reports of a running search: an `Info` for each line of each iteration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypedDict

from merels.engine.core import core
from merels.engine.core.convert import decode_move, decode_score
from merels.engine.game.position import Outcome
from merels.engine.game.score import PovScore, Score
from merels.engine.search.limits import Info
from merels.engine.search.root import Root
from merels.engine.search.time_management import TimeManager

Line = tuple[int, int, list[int]]
"""A line of the core: score, selective depth, principal variation."""
Lines = list[Line]
"""The lines of one iteration, the best first."""


class _Totals(TypedDict):
    """Fields of `Info` that are equal for all lines of a report."""

    nodes: int
    nps: int
    time: float
    hashfull: int
    tbhits: int


@dataclass
class Reporter:
    """Reports each iteration that the core completes; ``lines`` are those of the last report."""

    table: core.TranspositionTable
    workers: Sequence[core.SearchWorker]
    root: Root
    clock: TimeManager
    on_info: Callable[[Info], None]
    lines: list[Info] = field(default_factory=list)

    def report_iteration(self, depth: int, lines: Lines) -> bool:
        """Report an iteration; return whether time management ends the search."""
        totals = self._totals()
        self.lines = [
            self._info(line, depth, totals, multipv=number) for number, line in enumerate(lines, 1)
        ]
        for info in self.lines:
            self.on_info(info)
        best = self.lines[0].score
        assert best is not None
        return self.clock.enough(lines[0][2][0], depth, best.relative)

    def report_interruption(self) -> None:
        """Report the best line of a search that was interrupted within an iteration.

        If a line has proved better since the last iteration, it is reported with a lower bound as
        its score. Otherwise the last iteration's line is reported with the final counts.
        """
        last, better = self.lines[0], self.workers[0].better
        if better is None:
            last = replace(last, **self._totals())
        else:
            last = self._info(better, last.depth or 0, self._totals(), bound="lower")
        self.lines[0] = last
        self.on_info(last)

    def _info(
        self, line: Line, depth: int, totals: _Totals, multipv: int = 1, bound: str = ""
    ) -> Info:
        """Return the `Info` of a line; ``depth`` is that of the last complete iteration."""
        value, seldepth, pv = line
        score = self.root.score(pv[0], decode_score(value))
        moves = tuple(map(decode_move, pv))
        return Info(
            PovScore(score, self.clock.side), bound, depth, seldepth, multipv, wdl=score.wdl(),
            pv=moves, **totals,
        )  # fmt: skip

    def _totals(self) -> _Totals:
        """Return the time, nodes and other counts of the search so far."""
        nodes = sum(worker.nodes for worker in self.workers)
        elapsed = core.monotonic_ns() - self.clock.asked
        return {
            "nodes": nodes,
            "nps": nodes * 1_000_000_000 // max(elapsed, 1),
            "time": elapsed / 1e9,
            "hashfull": self.table.full(),
            "tbhits": self.root.hits + sum(worker.table_hits for worker in self.workers),
        }


def final_info(outcome: Outcome, side: int) -> Info:
    """Return the report for a game that is over, with ``side`` to move."""
    # `Score` has no "has won": if the side to move has won, report a win in one ply.
    score = {0: Score(cp=0), 1: Score(win_in=1), -1: Score(win_in=0)}[outcome.value(side)]
    return Info(
        PovScore(score, side), depth=0, seldepth=0, nodes=0, nps=0, time=0.0, hashfull=0, tbhits=0,
        wdl=score.wdl(),
    )  # fmt: skip
