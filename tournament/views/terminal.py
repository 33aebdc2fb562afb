"""View of a tournament on a terminal: one table, redrawn in place."""

from __future__ import annotations

import os
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from typing import TextIO

from merels.engine.common.errors import printable
from merels.protocol.common.notices import notify
from merels.protocol.terminal.progress import terminal_size
from merels.tournament.journal.rows import Row
from merels.tournament.journal.standings import Standings
from merels.tournament.records.games import GameSpec
from merels.tournament.records.settings import Settings
from merels.tournament.report.crosstable import rating_list
from merels.tournament.report.rounds import live_lines
from merels.tournament.report.summary import hypotheses, summary_lines
from merels.tournament.report.table import cut, shorten, width
from merels.tournament.run.plan import Plan
from merels.tournament.run.scoreboard import View
from merels.tournament.statistics.counts import Counts
from merels.tournament.statistics.ratings import rate
from merels.tournament.statistics.sprt import Sprt, match_llr
from merels.tournament.views.output import (
    BACKGROUND_SHARE,
    CLEAR_BELOW,
    Background,
    Pace,
    Throttle,
    put,
    versus,
)

REDRAW_SECONDS = 0.25
NOTICES = 4
"""Number of notices shown below the table."""
MAX_RATED_AT_ONCE = 32
"""Largest number of engines that the runner's thread rates itself."""
MAX_BAR, MIN_BAR = 30, 8
"""Largest and smallest width of a bar, in columns; a line with less space has no progress bar."""
INDENT = "  "


class LiveView(View):
    """Draws standings, games per second and time left, cut to the size of the terminal."""

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
        self._size = size or partial(terminal_size, self._out)
        self._pace = Pace()
        self._last = ""
        self._notices: list[str] = []
        self._drawn_lines = 0
        self._throttle = Throttle(REDRAW_SECONDS)
        self._ratings = Background[list[str]](REDRAW_SECONDS, BACKGROUND_SHARE)

    def finished_in_order(self, row: Row, standings: Standings) -> None:
        names = versus(row.white, row.black)
        self._last = f"game {row.number} ({names}): {row.result} {{{printable(row.reason)}}}"
        self._pace.add()

    def notice(self, text: str) -> None:
        """Show a notice below the table while it is one of the last; print it after the run."""
        self._notices.append(printable(text))

    def tick(self, standings: Standings, playing: Mapping[int, GameSpec]) -> None:
        """Redraw the table, if the pause of the `Throttle` has passed."""
        self._throttle.run(lambda: self._draw(self.lines(standings, playing)))

    def close(self) -> None:
        """Remove the table and print the notices."""
        self._draw([])
        for notice in self._notices:
            notify(notice)

    def lines(self, standings: Standings, playing: Mapping[int, GameSpec]) -> list[str]:
        """Return the lines to draw; the last lines, on games and notices, may be too wide."""
        plan, columns = self._plan, self._columns
        lines = self._head_lines(standings)
        if plan.settings.format != "knockout" and (text := leader(standings, columns)):
            lines[-1:] = join_if_fits(lines[-1], text, columns)
        lines.append("")
        if table := live_lines(self._settings, plan.so_far, plan.is_open, columns):
            lines += [*table, ""]
        names = standings.names
        if len(names) == 2:
            counts = standings.counts(names[0], names[1])
            by_pairs = self._settings.by_pairs
            for line in summary_lines(counts, names[0], names[1], penta=by_pairs):
                lines += folded(line, columns)
            sprt = self._settings.sprt
            if sprt is not None:
                llr = match_llr(sprt, counts, by_pairs)
                lines += llr_lines(sprt, llr, columns)
        elif standings.matches:
            lines += self._rating_list(standings, columns)
        games = ", ".join(
            f"{number} ({versus(spec.white.name, spec.black.name)})"
            for number, spec in playing.items()
        )
        return lines + self._foot_lines(f"playing: {games}")

    @property
    def _columns(self) -> int:
        """Largest width of a line; terminals may wrap a line that reaches the last column."""
        return self._size()[0] - 1

    def _head_lines(self, standings: Standings) -> list[str]:
        """Return progress and pace, with a progress bar between them if the line has room."""
        progress = self._plan.progress(standings.finished)
        pace = self._pace.text(progress)
        length = self._columns - len(progress.text) - len(pace) - len("  []  ")
        if length >= MIN_BAR:
            return [f"{progress.text}  {bar(progress.share, min(length, MAX_BAR))}  {pace}"]
        return join_if_fits(progress.text, pace, self._columns)

    def _foot_lines(self, *playing: str) -> list[str]:
        """Return the lines below the table: last game, the lines ``playing``, latest notices."""
        notes = [f"note:    {note}" for note in self._notices[-NOTICES:]]
        return ["", f"last:    {self._last}", *playing, *notes]

    def _rating_list(self, standings: Standings, columns: int) -> list[str]:
        """Return the rating list; for many engines, the latest list made in the background."""
        if len(standings.names) <= MAX_RATED_AT_ONCE:
            return _rating_lines(standings.matches, columns)
        self._ratings.update(lambda: partial(_rating_lines, dict(standings.matches), columns))
        return self._ratings.value or ["rating the engines..."]

    def _draw(self, lines: list[str]) -> None:
        """Draw lines over the previous ones."""
        columns, rows = self._size()
        lines = [cut(line, columns - 1) for line in lines[: max(1, rows - 1)]]
        up = f"\x1b[{self._drawn_lines}A" if self._drawn_lines else ""
        put(self._out, f"{up}\r{CLEAR_BELOW}" + "".join(line + "\n" for line in lines))
        self._drawn_lines = len(lines)


def _rating_lines(matches: Counts, columns: int) -> list[str]:
    return rating_list(rate(matches), columns).splitlines()


def leader(standings: Standings, columns: int) -> str:
    """Return a text such as ``A leads with 62.5 %``; '' if several engines lead, or none played.

    The percentage is the engine's share of the points in its games.
    """
    points, games = defaultdict[str, float](float), Counter[str]()
    for (first, second), counts in standings.matches.items():
        points[first] += counts.points
        points[second] += counts.games - counts.points
        games[first] += counts.games
        games[second] += counts.games
    shares = {name: points[name] / count for name, count in games.items()}
    best_share = max(shares.values(), default=0)
    leaders = [name for name, share in shares.items() if share == best_share]
    if len(leaders) != 1:
        return ""
    end = f" leads with {100 * best_share:.1f} %"
    return shorten(leaders[0], columns - len(end)) + end


def bar(share: float, length: int = MAX_BAR) -> str:
    """Return a progress bar; ``share``: the filled part, from 0 to 1."""
    filled = round(length * min(1.0, max(0.0, share)))
    return "[" + "#" * filled + "." * (length - filled) + "]"


def llr_lines(sprt: Sprt, llr: float, columns: int) -> list[str]:
    """Return the log-likelihood ratio as a mark between the bounds of the SPRT, and as a number."""
    start, end = f"LLR: H0 {sprt.lower:.2f} [", f"] {sprt.upper:.2f} H1"
    length = max(MIN_BAR, min(MAX_BAR, columns - len(start + end)))
    share = (llr - sprt.lower) / (sprt.upper - sprt.lower)
    mark = round((length - 1) * min(1.0, max(0.0, share)))
    line = "-" * mark + "|" + "-" * (length - 1 - mark)
    return join_if_fits(start + line + end, f"now {llr:z.2f}  {hypotheses(sprt)}", columns)


def join_if_fits(first: str, second: str, columns: int) -> list[str]:
    """Return two texts as one line if it fits into ``columns``, else as two lines."""
    line = f"{first}  {second}"
    return [line] if width(line) <= columns else [first, second]


def folded(line: str, columns: int) -> list[str]:
    """Return a line of figures, broken after a comma or a colon if it is too wide."""
    lines: list[str] = []
    for part in line.split(", "):
        if lines and width(f"{lines[-1]}, {part}") <= columns:
            lines[-1] += f", {part}"
        elif ": " in part and width(part) + len(INDENT) > columns:
            name, _, figures = part.rpartition(": ")
            lines += [f"{name}:", INDENT + figures]
        else:
            lines.append(INDENT + part if lines else part)
    return lines


def is_terminal(out: TextIO) -> bool:
    """Return whether ``out`` is a terminal on which a table can be redrawn in place."""
    return out.isatty() and (os.environ.get("TERM") or "dumb") != "dumb"
