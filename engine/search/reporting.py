"""Reports of a running search: an `Info` for each line of each iteration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypedDict

from merels.engine.core import core
from merels.engine.core.convert import decode_move, decode_score
from merels.engine.game.position import Outcome
from merels.engine.game.score import TABLE_CP, PovScore, Score
from merels.engine.search.clock import Clock
from merels.engine.search.limits import Info
from merels.engine.search.root import Root

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
    clock: Clock
    on_info: Callable[[Info], None]
    lines: list[Info] = field(default_factory=list)

    def report_iteration(self, depth: int, lines: Lines) -> bool:
        """Report an iteration; return whether the clock ends the search."""
        totals, ordered = self._totals(), self._in_order(lines)
        self.lines = [
            self._info(line, score, depth, totals, multipv=number)
            for number, (line, score) in enumerate(ordered, 1)
        ]
        for info in self.lines:
            self.on_info(info)
        best, score = ordered[0]
        return self.clock.enough(best[2][0], depth, score)

    def _in_order(self, lines: Lines) -> list[tuple[Line, Score]]:
        """Return lines and their scores, the best score first.

        The core orders lines by rank, and lines that repeat a position after other lines of similar
        value. So an estimate above that of an earlier line is lowered to it. Values from tables and
        proven ends are exact: their lines are only moved.
        """
        ordered, most = list[tuple[Line, Score]](), TABLE_CP
        for line in lines:
            score = self._score(line)
            if score.cp is not None:
                if not self.root.is_certain(line[2][0]):
                    score = Score(cp=min(score.cp, most))
                most = min(most, score.cp or 0)
            ordered.append((line, score))
        return sorted(ordered, key=lambda pair: pair[1], reverse=True)

    def report_interruption(self) -> None:
        """Report the best line of a search that was interrupted within an iteration.

        If a line has proved better since the last iteration, it is reported with a lower bound as
        its score. Otherwise the last iteration's line is reported with the final counts.
        """
        last, better = self.lines[0], self.workers[0].better
        if better is None:
            last = replace(last, **self._totals())
        else:
            depth = last.depth or 0
            last = self._info(better, self._score(better), depth, self._totals(), bound="lower")
        self.lines[0] = last
        self.on_info(last)

    def _score(self, line: Line) -> Score:
        """Return the score of a line, corrected by the value of its first move in the tables."""
        return self.root.score(line[2][0], decode_score(line[0]))

    def _info(
        self, line: Line, score: Score, depth: int, totals: _Totals, multipv: int = 1,
        bound: str = "",
    ) -> Info:
        """Return the `Info` of a line; ``depth`` is that of the last complete iteration."""
        _, seldepth, pv = line
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
