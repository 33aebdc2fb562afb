"""The tournament on a terminal: one table, redrawn in place."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from typing import TextIO

from merels.engine.common.errors import printable
from merels.tournament.journal.rows import Row, Standings
from merels.tournament.records.games import GameSpec
from merels.tournament.records.settings import Settings
from merels.tournament.report.crosstable import rating_list
from merels.tournament.report.rounds import live_lines
from merels.tournament.report.summary import hypotheses, summary_lines
from merels.tournament.report.text_table import shorten, width
from merels.tournament.run.plan import Plan
from merels.tournament.run.view import View
from merels.tournament.statistics.counts import Counts
from merels.tournament.statistics.ratings import rate
from merels.tournament.statistics.sprt import Sprt, match_llr
from merels.tournament.views.output import (
    SHARE_BESIDE,
    Background,
    Pace,
    Throttle,
    notify,
    put,
    time_left,
    versus,
)

REDRAW_SECONDS = 0.25
NOTICES = 4
AT_ONCE = 32
"""Engines that are rated within the runner's thread: that takes some milliseconds."""
BAR, SHORTEST_BAR = 30, 8
INDENT = "  "


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
        self._size = size or partial(terminal_size, self._out)
        self._pace = Pace()
        self._last = ""
        self._notices: list[str] = []
        self._drawn = 0
        self._throttle = Throttle(REDRAW_SECONDS)
        self._ratings = Background[list[str]](REDRAW_SECONDS, SHARE_BESIDE)

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
        """The table as it suits the terminal's width; the lines below it may be wider."""
        columns = self._size()[0] - 1
        plan, progress = self._plan, self._plan.progress(standings.finished)
        pace = f"{self._pace.rate():.1f} games/s{time_left(self._pace, progress)}"
        lines = head_lines(progress.text, progress.share, pace, columns)
        if plan.settings.format != "knockout" and (first := leader(standings, columns)):
            lines[-1:] = together(lines[-1], first, columns)
        lines.append("")
        if table := live_lines(self._settings, plan.so_far, plan.is_open, columns):
            lines += [*table, ""]
        names = standings.names
        if len(names) == 2:
            counts = standings.counts(names[0], names[1])
            for line in summary_lines(counts, names[0], names[1], None, self._settings.by_pairs):
                lines += folded(line, columns)
            sprt = self._settings.sprt
            if sprt is not None:
                llr = match_llr(sprt, counts, self._settings.by_pairs)
                lines += llr_lines(sprt, llr, columns)
        elif standings.matches:
            lines += self._rated(standings, columns)
        lines += ["", f"last:    {self._last}"]
        games = ", ".join(
            f"{number} ({versus(spec.white.name, spec.black.name)})"
            for number, spec in playing.items()
        )
        lines += [f"playing: {games}", *(f"note:    {note}" for note in self._notices[-NOTICES:])]
        return lines

    def _rated(self, standings: Standings, columns: int) -> list[str]:
        """The rating list; of a large field, what a thread beside the runner's made of it last."""
        if len(standings.names) <= AT_ONCE:
            return _rating_lines(standings.matches, columns)
        self._ratings.update(lambda: partial(_rating_lines, dict(standings.matches), columns))
        return self._ratings.value or ["rating the engines..."]

    def _draw(self, lines: list[str]) -> None:
        """Replace the lines drawn before."""
        columns, rows = self._size()
        lines = [cut(line, columns - 1) for line in lines[: max(1, rows - 1)]]
        up, clear_below = f"\x1b[{self._drawn}A" if self._drawn else "", "\x1b[J"
        put(self._out, f"{up}\r{clear_below}" + "".join(line + "\n" for line in lines))
        self._drawn = len(lines)


def _rating_lines(matches: Counts, columns: int) -> list[str]:
    return rating_list(rate(matches), columns).splitlines()


def head_lines(done: str, share: float, pace: str, columns: int) -> list[str]:
    """Progress and speed, with a bar between them that fills the line."""
    room = columns - len(done) - len(pace) - len("  []  ")
    if room >= SHORTEST_BAR:
        return [f"{done}  {bar(share, min(room, BAR))}  {pace}"]
    return together(done, pace, columns)


def leader(standings: Standings, columns: int) -> str:
    """``A leads with 62.5 %``: the engine with the greatest share of its points, if one has it."""
    points, games = defaultdict[str, float](float), Counter[str]()
    for (first, second), counts in standings.matches.items():
        points[first] += counts.points
        points[second] += counts.games - counts.points
        games[first] += counts.games
        games[second] += counts.games
    shares = {name: points[name] / count for name, count in games.items()}
    most = max(shares.values(), default=0)
    best = [name for name, share in shares.items() if share == most]
    if len(best) != 1:
        return ""
    end = f" leads with {100 * shares[best[0]]:.1f} %"
    return shorten(best[0], columns - len(end)) + end


def bar(share: float, length: int = BAR) -> str:
    """A bar filled to a share from 0 to 1."""
    filled = round(length * min(1.0, max(0.0, share)))
    return "[" + "#" * filled + "." * (length - filled) + "]"


def llr_lines(sprt: Sprt, llr: float, columns: int) -> list[str]:
    """The ratio of a test as a mark between its bounds, and as a number."""
    start, end = f"LLR: H0 {sprt.lower:.2f} [", f"] {sprt.upper:.2f} H1"
    length = max(SHORTEST_BAR, min(BAR, columns - len(start + end)))
    share = (llr - sprt.lower) / (sprt.upper - sprt.lower)
    place = round((length - 1) * min(1.0, max(0.0, share)))
    line = "-" * place + "|" + "-" * (length - 1 - place)
    return together(start + line + end, f"now {llr:z.2f}  {hypotheses(sprt)}", columns)


def together(one: str, other: str, columns: int) -> list[str]:
    """Two texts in one line if they fit, else one below the other."""
    return [f"{one}  {other}"] if width(f"{one}  {other}") <= columns else [one, other]


def folded(line: str, columns: int) -> list[str]:
    """A line of figures, broken behind its commas, or its name, where it is too wide."""
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


def cut(text: str, columns: int) -> str:
    """The text as far as it fits."""
    room = columns
    for index, character in enumerate(text):
        room -= width(character)
        if room < 0:
            return text[:index]
    return text


def terminal_size(out: TextIO) -> tuple[int, int]:
    """Columns and lines of a terminal, which need not be that of standard output.

    A terminal that does not know its size says 0.
    """
    columns, lines = 80, 24
    with contextlib.suppress(OSError):
        found = os.get_terminal_size(out.fileno())
        columns, lines = found.columns or columns, found.lines or lines
    return shutil.get_terminal_size((columns, lines))


def is_terminal(out: TextIO) -> bool:
    """Whether a table can be redrawn in place there."""
    return out.isatty() and os.environ.get("TERM", "dumb") != "dumb"
