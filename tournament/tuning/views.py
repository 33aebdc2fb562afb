"""A tune while it runs: lines now and then, or one table that is redrawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TextIO

from merels.engine.common.errors import printable
from merels.tournament.journal.rows import Row, Standings
from merels.tournament.records.games import GameSpec
from merels.tournament.report.text_table import grid
from merels.tournament.tuning.tune_plan import TuningPlan
from merels.tournament.views.output import Pace, put, time_left
from merels.tournament.views.plain import NoticeView
from merels.tournament.views.terminal import NOTICES, LiveView, head_lines


class PlainTuneView(NoticeView):
    """Prints the values at regular numbers of pairs."""

    def __init__(self, plan: TuningPlan, interval: int, out: TextIO) -> None:
        self._plan = plan
        self._interval = interval
        self._out = out
        self._pace = Pace()

    def finished(self, row: Row, standings: Standings) -> None:
        """``Pair 100 of 10000, 0:12:30 left: Futility 61.2, Window 23.8``."""
        self._pace.add()
        course, pairs = self._plan.course, standings.finished // 2
        if standings.finished % (2 * self._interval):
            return
        values = ", ".join(
            f"{printable(parameter.name)} {value:.1f}"
            for parameter, value in zip(course.parameters, course.values)
        )
        left = time_left(self._pace, self._plan.progress(standings.finished))
        put(self._out, f"Pair {pairs} of {course.pairs}{left}: {values}\n")


class LiveTuneView(LiveView):
    """Draws how far the tune is, and each parameter's value."""

    def __init__(self, plan: TuningPlan, out: TextIO) -> None:
        super().__init__(plan.settings, plan, out)
        self._course = plan.course

    def lines(self, standings: Standings, playing: Mapping[int, GameSpec]) -> list[str]:
        """The table; the terminal cuts what is wider."""
        progress = self._plan.progress(standings.finished)
        pace = f"{self._pace.rate():.1f} games/s{time_left(self._pace, progress)}"
        rows = [["Parameter", "Start", "Now", "Bounds"]]
        rows += [
            [printable(one.name), str(one.start), f"{value:.1f}", f"{one.minimum} to {one.maximum}"]
            for one, value in zip(self._course.parameters, self._course.values)
        ]
        return [
            *head_lines(progress.text, progress.share, pace, self._size()[0] - 1), "",
            *grid(rows, 0).splitlines(), "", f"last:    {self._last}",
            *(f"note:    {note}" for note in self._notices[-NOTICES:]),
        ]
