"""Plain output of a tournament: lines in a format that scripts can parse."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TextIO

from merels.engine.common.errors import printable
from merels.protocol.common.notices import notify
from merels.tournament.journal.rows import Row
from merels.tournament.journal.standings import Health, Standings, failure_warnings
from merels.tournament.pairing import knockout
from merels.tournament.records.games import GameSpec
from merels.tournament.records.output import Intervals
from merels.tournament.records.settings import Settings
from merels.tournament.report.crosstable import crosstable, rating_list, results_text
from merels.tournament.report.rounds import round_lines, round_start_lines
from merels.tournament.report.summary import (
    endings_text,
    health_table,
    match_lines,
    score_line,
)
from merels.tournament.run.plan import Plan
from merels.tournament.run.scoreboard import Scoreboard, View
from merels.tournament.statistics.ratings import rate
from merels.tournament.views.output import put, versus


class NoticeView(View):
    """Prints only notices, on standard error."""

    def notice(self, text: str) -> None:
        notify(text)


class PlainView(NoticeView):
    """Prints a line at the start and the end of each game, and standings at intervals."""

    def __init__(
        self, settings: Settings, plan: Plan, intervals: Intervals, out: TextIO | None = None
    ) -> None:
        self._settings = settings
        self._plan = plan
        self._intervals = intervals
        self._out = out or sys.stdout

    def round_paired(self) -> None:
        self._print(*round_start_lines(self._settings, self._plan.so_far))

    def game_started(self, spec: GameSpec, time: str) -> None:
        """Print ``Started game 1 of 200 (A vs B)``; in a knockout ``1 of at most 200``."""
        names, bound = versus(spec.white.name, spec.black.name), ""
        if self._settings.format == "knockout":
            bound = "at most "
        self._print(f"Started game {spec.number} of {bound}{self._plan.games} ({names})")

    def finished_in_order(self, row: Row, standings: Standings) -> None:
        """Print ``Finished game 1 (A vs B): 0-1 {White loses on time (13ms overrun)}``."""
        names, reason = versus(row.white, row.black), printable(row.reason)
        finished = f"Finished game {row.number} ({names}): {row.result} {{{reason}}}"
        self._print(finished, *self._standings_lines(row, standings))

    def _standings_lines(self, row: Row, standings: Standings) -> list[str]:
        """Return the standings or the score after a game, or no lines if they are not due."""
        games, intervals = standings.finished, self._intervals
        if intervals.rating and games % intervals.rating == 0:
            return interim_lines(self._settings, standings)
        if intervals.score and games % intervals.score == 0:
            first, second = standings.in_entry_order(row.white, row.black)
            return [score_line(standings.counts(first, second), first, second)]
        return []

    def run_ended(self, end: str, why: str = "") -> None:
        """With more than two engines, print an empty line before the report of a run."""
        if len(self._settings.engines) > 2 and end != "failed":
            self._print("")

    def _print(self, *lines: str) -> None:
        put(self._out, "".join(line + "\n" for line in lines))


def interim_lines(settings: Settings, standings: Standings) -> list[str]:
    """Return the current standings: estimates of a match, or a rating list of more engines."""
    names = standings.names
    if len(names) > 2:
        return rating_list(rate(standings.matches)).splitlines() if standings.matches else []
    return match_lines(standings.matches, names, settings)


def final_lines(board: Scoreboard) -> list[str]:
    """Return the final report: match, rounds, ratings, crosstable, terminations, time losses."""
    settings, plan, standings = board.settings, board.plan, board.standings
    lines = match_lines(standings.matches, standings.names, settings, board.verdict)
    lines += round_lines(settings, plan.so_far, plan.is_open)
    if settings.format == "knockout":
        winner = knockout.champion(settings, plan.results)
        if winner is not None:
            lines.append(f"Winner of the knockout: {printable(settings.engines[winner].name)}")
    if standings.matches:
        table = crosstable(standings.matches)
        lines += ["", *rating_list(table.ratings).splitlines()]
        lines += ["", *results_text(table).splitlines()]
    if standings.finished:
        lines += ["", *endings_text(standings.endings.counts()).splitlines()]
    if time_losses := standings.losses.lines():
        lines += ["", *time_losses]
    return lines


def health_lines(healths: Mapping[str, Health]) -> tuple[list[str], bool]:
    """Return lines on the faults of engines, with warnings, and whether there are warnings."""
    if not healths:
        return [], False
    failing = failure_warnings(healths)
    lines = ["", *health_table(healths).text().splitlines()]
    lines += ([""] if failing else []) + [f"WARNING: {warning}" for warning in failing]
    return lines, bool(failing)
