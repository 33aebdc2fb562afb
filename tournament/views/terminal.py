"""The tournament on a terminal: one table, redrawn in place."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from typing import TextIO

from merels.engine.game.errors import printable
from merels.tournament.journal.rows import Row, Standings
from merels.tournament.records.games import GameSpec
from merels.tournament.records.settings import Settings
from merels.tournament.report.crosstable import rating_list
from merels.tournament.report.rounds import live_lines
from merels.tournament.report.summary import hypotheses, summary_lines
from merels.tournament.report.text_table import width
from merels.tournament.run.plan import Plan
from merels.tournament.run.view import View
from merels.tournament.statistics.ratings import rate
from merels.tournament.statistics.sprt import Sprt, match_llr
from merels.tournament.views.output import Pace, Throttle, notify, put, time_left, versus

REDRAW_SECONDS = 0.25
NOTICES = 4
BAR = 30


class LiveView(View):
    """Draws the standings, the pace and the time left within the terminal's size."""

    def __init__(
        self,
        settings: Settings,
        plan: Plan,
        out: TextIO | None = None,
        size: Callable[[], tuple[int, int]] | None = None,
    ) -> None:
        self._settings = settings
        self._plan = plan
        self._out = out or sys.stdout
        self._size = size or shutil.get_terminal_size
        self._pace = Pace()
        self._last = ""
        self._notices: list[str] = []
        self._drawn = 0
        self._throttle = Throttle(REDRAW_SECONDS)

    def finished(self, row: Row, standings: Standings) -> None:
        """Note how the game ended, and count it."""
        names = versus(row.white, row.black)
        self._last = f"game {row.number} ({names}): {row.result} {{{printable(row.reason)}}}"
        self._pace.add()

    def notice(self, text: str) -> None:
        """Keep a notice in sight."""
        self._notices.append(printable(text))

    def tick(self, standings: Standings, playing: Mapping[int, GameSpec]) -> None:
        """Draw the table if that is due."""
        self._throttle.run(lambda: self._draw(self.lines(standings, playing)))

    def close(self) -> None:
        """Remove the table and print the notices."""
        self._draw([])
        for notice in self._notices:
            notify(notice)

    def lines(self, standings: Standings, playing: Mapping[int, GameSpec]) -> list[str]:
        """The table, not yet cut to the terminal's size."""
        plan, progress = self._plan, self._plan.progress(standings.finished)
        pace = f"{self._pace.rate():.1f} games/s{time_left(self._pace, progress)}"
        lines = [f"{progress.text}  {bar(progress.share)}  {pace}", ""]
        if table := live_lines(self._settings, plan.so_far, plan.is_open):
            lines += [*table, ""]
        names = standings.names
        if len(names) == 2:
            counts = standings.counts(names[0], names[1])
            lines += summary_lines(counts, names[0], names[1], None, self._settings.by_pairs)
            sprt = self._settings.sprt
            if sprt is not None:
                lines.append(llr_bar(sprt, match_llr(sprt, counts, self._settings.by_pairs)))
        elif standings.matches:
            lines += rating_list(rate(standings.matches)).splitlines()
        lines += ["", f"last:    {self._last}"]
        games = ", ".join(
            f"{number} ({versus(spec.white.name, spec.black.name)})"
            for number, spec in playing.items()
        )
        lines += [f"playing: {games}", *(f"note:    {note}" for note in self._notices[-NOTICES:])]
        return lines

    def _draw(self, lines: list[str]) -> None:
        """Replace the lines drawn before."""
        columns, rows = self._size()
        lines = [cut(line, columns - 1) for line in lines[: max(1, rows - 1)]]
        up, clear_below = f"\x1b[{self._drawn}A" if self._drawn else "", "\x1b[J"
        put(self._out, f"{up}\r{clear_below}" + "".join(line + "\n" for line in lines))
        self._drawn = len(lines)


def bar(share: float) -> str:
    """A bar filled to a share from 0 to 1."""
    filled = round(BAR * min(1.0, max(0.0, share)))
    return "[" + "#" * filled + "." * (BAR - filled) + "]"


def llr_bar(sprt: Sprt, llr: float) -> str:
    """The ratio of a test as a mark between its bounds."""
    share = (llr - sprt.lower) / (sprt.upper - sprt.lower)
    place = round((BAR - 1) * min(1.0, max(0.0, share)))
    line = "-" * place + "|" + "-" * (BAR - 1 - place)
    return (
        f"LLR: H0 {sprt.lower:.2f} [{line}] {sprt.upper:.2f} H1  now {llr:z.2f}  "
        f"{hypotheses(sprt)}"
    )


def cut(text: str, columns: int) -> str:
    """The text as far as it fits."""
    while width(text) > columns:
        text = text[:-1]
    return text


def is_terminal(out: TextIO) -> bool:
    """Whether a table can be redrawn in place there."""
    return out.isatty() and os.environ.get("TERM", "dumb") != "dumb"
