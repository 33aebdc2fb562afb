"""View of a league's run on standard output: one line that is redrawn, or lines at intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TextIO

from merels.engine.common.errors import printable
from merels.tournament.journal.rows import Row
from merels.tournament.journal.standings import Standings
from merels.tournament.league.plan import LeaguePlan
from merels.tournament.records.games import GameSpec
from merels.tournament.views.output import CLEAR_BELOW, Pace, Throttle, put, versus
from merels.tournament.views.plain import NoticeView

REDRAW_SECONDS = 0.5
LINE_SECONDS = 60.0
"""Seconds between two lines if standard output is not a terminal."""


class LeagueView(NoticeView):
    """Shows the games of this run, their rate, and the largest error."""

    def __init__(self, plan: LeaguePlan, out: TextIO, is_live: bool) -> None:
        self._plan, self._out, self._is_live = plan, out, is_live
        self._pace = Pace()
        self._games = 0
        self._is_drawn = False
        """Whether the line that is redrawn is on the screen."""
        self._throttle = Throttle(REDRAW_SECONDS if is_live else LINE_SECONDS)

    def finished_in_order(self, row: Row, standings: Standings) -> None:
        """Count the game, and print it if it was lost by a fault."""
        self._games += 1
        self._pace.add()
        if row.culprit:
            self._clear()
            names = versus(row.white, row.black)
            put(self._out, f"game {row.number} ({names}): {row.result} {printable(row.reason)}\n")

    def tick(self, standings: Standings, playing: Mapping[int, GameSpec]) -> None:
        """Show the progress, if it is due."""
        self._throttle.run(self._show)

    def notice(self, text: str) -> None:
        """Print a notice."""
        self._clear()
        super().notice(text)

    def close(self) -> None:
        """Remove the line that is redrawn."""
        self._clear()

    def _show(self) -> None:
        if not self._games:  # There is no rate yet.
            return
        progress = self._plan.progress(self._games)
        text = f"{printable(progress.text)}; {self._pace.rate():.1f} games/s"
        self._clear()
        put(self._out, text if self._is_live else text + "\n")
        self._is_drawn = self._is_live

    def _clear(self) -> None:
        if self._is_drawn:
            put(self._out, f"\r{CLEAR_BELOW}")
            self._is_drawn = False
