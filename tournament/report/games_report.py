"""The whole report on finished games, from journals and PGN files, as text, JSON, CSV, HTML."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from collections.abc import Iterable, Mapping, Sequence

from merels.engine.game.errors import printable
from merels.tournament.journal.failures import failing_engines
from merels.tournament.journal.import_games import PlayedGame, endings, is_journal, scores
from merels.tournament.journal.open import read_journal
from merels.tournament.journal.rows import Row
from merels.tournament.pairing.past import past_rounds
from merels.tournament.pairing.schedule import schedule_for
from merels.tournament.records.as_flags import condition_rows
from merels.tournament.records.games import Results
from merels.tournament.records.settings import Settings, facts, read_settings
from merels.tournament.report.accuracy import Review
from merels.tournament.report.accuracy import as_dict as accuracy_dict
from merels.tournament.report.accuracy import section as accuracy_section
from merels.tournament.report.accuracy import text as accuracy_text
from merels.tournament.report.crosstable import (
    as_dict,
    crosstable,
    csv_rows,
    rating_list,
    results_table,
    superiority_table,
)
from merels.tournament.report.html import page, summary, times_section
from merels.tournament.report.rounds import round_lines, round_rows
from merels.tournament.report.summary import (
    match_dict,
    match_lines,
    reasons_dict,
    reasons_table,
    terminations_dict,
    terminations_table,
)
from merels.tournament.report.text_table import grid
from merels.tournament.report.times import MoveTimes, TimeLosses, add_times, times_table
from merels.tournament.report.times import as_dict as times_dict
from merels.tournament.statistics.accuracy import Accuracy
from merels.tournament.statistics.counts import count_matches
from merels.tournament.statistics.terminations import count_terminations


class GamesReport:
    """What is told of the games of some files, each in ``games`` once, some of which can be rated.

    ``anchor`` is the name and the rating of an engine whose rating is known. ``accuracy`` is what
    tables say of the moves, if they were asked, and ``review`` the command that shows a game.
    """

    def __init__(
        self, paths: Sequence[str], games: Sequence[PlayedGame], anchor: tuple[str, float] | None,
        accuracy: Accuracy | None, review: Review,
    ) -> None:  # fmt: skip
        self._accuracy, self._review = accuracy, review
        self._games, self._matches = games, count_matches(scores(games))
        self._table = crosstable(self._matches, anchor)
        self._ends = count_terminations(endings(games))
        self._reasons = count_terminations(endings(games), by_reason=True)
        self._rows = [game.row for game in games if game.row is not None]
        self._times, self._losses = _times(games)
        journals = [_notes(path) for path in paths if is_journal(path)]
        self._all_notes = list({notes["settings"]: notes for notes in journals[::-1]}.values())
        self._all_notes.reverse()
        self._tournaments = [read_settings(notes["settings"]) for notes in self._all_notes]
        is_one = len(paths) == len(journals) == 1
        self._one = self._tournaments[0] if is_one else None
        """The tournament, if all games are of one."""
        self._warnings = _warnings(paths[0]) if is_one else []
        self._verdict = self._all_notes[0].get("verdict") if is_one else None
        entrants = [entrant for settings in self._tournaments for entrant in settings.engines]
        self._conditions = condition_rows(entrants) if entrants else []
        names = list(dict.fromkeys(name for match in self._matches for name in match))
        self._names = names if self._one is None else [one.name for one in self._one.engines]
        self._past = None if self._one is None else _past(self._one, self._rows)

    def json(self) -> str:
        """One JSON object."""
        data = as_dict(self._table) | {
            "terminations": terminations_dict(self._ends), "reasons": reasons_dict(self._reasons),
        }
        if len(self._names) == 2:
            data["match"] = match_dict(self._matches, self._names, self._one, self._verdict)
        if self._tournaments:
            data["tournaments"] = [
                {name.lower(): value for name, value in _facts(notes)}
                | {"engines": [dict(zip(("name", "time_control", "command"), row))
                               for row in condition_rows(settings.engines)[1:]]}
                for settings, notes in zip(self._tournaments, self._all_notes)
            ]  # fmt: skip
        if self._times:
            losses = dataclasses.asdict(self._losses)
            data |= {"times": times_dict(self._times), "time_losses": losses}
        if self._warnings:
            data["warnings"] = self._warnings
        if self._accuracy is not None:
            data["accuracy"] = accuracy_dict(self._accuracy)
        return json.dumps(data, indent=2, allow_nan=False) + "\n"

    def csv(self) -> str:
        """A line for each engine."""
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows(csv_rows(self._table, self._conditions))
        return out.getvalue()

    def html(self, most: int) -> str:
        """A page to look at, on which so many games can be replayed."""
        known = _facts(self._all_notes[0]) if self._one is not None else []
        lines = [*known, ("Games", str(len(self._games)))]
        lines += [("Warning", warning) for warning in self._warnings]
        if len(self._rows) > most:
            lines.append(("Shown below", f"the first {most} games (-games N for more)"))
        body = summary(
            lines, self._table, self._ends, self._reasons,
            round_rows(*self._past, str) if self._past else [],
            self._match_lines(), self._conditions,
        )
        if self._times:
            body += times_section(self._times, self._losses)
        if self._accuracy is not None:
            body += accuracy_section(self._accuracy, self._review)
        return page(dict(known).get("Event", "Ratings"), body, self._rows[:most])

    def text(self, points: bool) -> str:
        """Tables for a terminal; ``points``: the cells of the crosstable are points."""
        rounds = round_lines(*self._past) if self._past else []
        blocks = [
            *(["\n".join([*lines, ""]) for lines in (self._match_lines(), rounds) if lines]),
            rating_list(self._table.ratings),
            results_table(self._table, points=points),
            *self._superiority(),
            terminations_table(self._ends),
            reasons_table(self._reasons),
        ]
        if self._times:
            blocks.append(times_table(self._times))
        if self._losses.lines():
            blocks.append("\n".join([*self._losses.lines(), ""]))
        if self._accuracy is not None:
            blocks.append(accuracy_text(self._accuracy, self._review))
        if self._conditions:
            blocks.append(grid([list(map(printable, row)) for row in self._conditions], (0, 1, 2)))
        blocks += [f"WARNING: {warning}\n" for warning in self._warnings]
        return "\n".join(blocks)

    def _superiority(self) -> list[str]:
        if not self._table.ratings.superiority:
            return []
        return ["Likelihood, in percent, that the row is stronger than the column:",
                superiority_table(self._table.ratings)]

    def _match_lines(self) -> list[str]:
        return match_lines(self._matches, self._names, self._one, self._verdict)


def _times(games: Iterable[PlayedGame]) -> tuple[dict[str, MoveTimes], TimeLosses]:
    """The times of the moves, and the losses on time, of the games of which journals tell them."""
    times: dict[str, MoveTimes] = {}
    rows = [(game.row, game.limits) for game in games if game.row is not None]
    losses = TimeLosses(len(rows))
    for row, limits in rows:
        add_times(times, row, limits)
        losses.add(row.lost_move(), row.attempts_voided)
    return times, losses


def _warnings(path: str) -> list[str]:
    """What is told of the engines of a journal that stopped playing."""
    with read_journal(path) as journal:
        return [printable(str(failing)) for failing in failing_engines(journal)]


def _notes(path: str) -> dict[str, str]:
    """What a journal notes of its tournament."""
    with read_journal(path) as journal:
        return journal.meta()


def _facts(notes: Mapping[str, str]) -> list[tuple[str, str]]:
    """What a report says about a tournament, from the notes of its journal."""
    return [*facts(notes["settings"]), ("Begun", notes.get("created", "?"))]


def _past(settings: Settings, rows: Iterable[Row]) -> tuple[Settings, Results, bool] | None:
    """The rounds of a tournament that pairs by results; see `past_rounds`."""
    return (settings, *past_rounds(settings, rows)) if schedule_for(settings).waits else None
