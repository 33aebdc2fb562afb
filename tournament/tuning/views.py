"""Views of a running tune: lines at intervals, or one table that is redrawn in place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TextIO

from merels.engine.common.errors import printable
from merels.tournament.journal.rows import Row
from merels.tournament.journal.standings import Standings
from merels.tournament.records.games import GameSpec
from merels.tournament.report.table import Table, number_columns, text_columns
from merels.tournament.tuning.tune_plan import TuningPlan
from merels.tournament.views.output import Pace, put
from merels.tournament.views.plain import NoticeView
from merels.tournament.views.terminal import LiveView


class PlainTuneView(NoticeView):
    """Prints the values every ``interval`` pairs."""

    def __init__(self, plan: TuningPlan, interval: int, out: TextIO) -> None:
        self._plan, self._state = plan, plan.state
        self._interval = interval
        self._out = out
        self._pace = Pace()

    def finished_in_order(self, row: Row, standings: Standings) -> None:
        """Print ``Pair 100 of 10000, 0:12:30 left: Futility 61.2, Window 23.8``."""
        self._pace.add()
        pairs, games_of_unfinished_pair = divmod(standings.finished, 2)
        if games_of_unfinished_pair or pairs % self._interval:
            return
        values = ", ".join(
            f"{printable(parameter.name)} {value:.1f}"
            for parameter, value in zip(self._state.parameters, self._state.values)
        )
        remaining = self._pace.left(self._plan.progress(standings.finished))
        put(self._out, f"Pair {pairs} of {self._state.pairs}{remaining}: {values}\n")


class LiveTuneView(LiveView):
    """Draws the progress of the tune and the value of each parameter."""

    def __init__(self, plan: TuningPlan, out: TextIO) -> None:
        super().__init__(plan.settings, plan, out)
        self._state = plan.state

    def lines(self, standings: Standings, playing: Mapping[int, GameSpec]) -> list[str]:
        """Return the lines to draw, which may be wider than the terminal."""
        head = [*text_columns("Parameter"), *number_columns("Start", "Now", "Bounds")]
        rows = [
            [
                parameter.name, parameter.start, f"{value:.1f}",
                f"{parameter.minimum} to {parameter.maximum}",
            ]
            for parameter, value in zip(self._state.parameters, self._state.values)
        ]
        return [
            *self._head_lines(standings), "", *Table("", head, rows).text().splitlines(),
            *self._foot_lines(),
        ]
