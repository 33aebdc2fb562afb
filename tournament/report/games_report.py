"""The report of ``merels ratings``, from journals and PGN files, as text, JSON, CSV or HTML."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from merels.engine.game.rules import parse_rules
from merels.tournament.journal.import_games import Duplicates, GamesFile, Split
from merels.tournament.journal.players import Roster, description_of
from merels.tournament.journal.provenance import Provenance
from merels.tournament.journal.standings import HealthCounter, TimeLosses, failure_warnings
from merels.tournament.pairing.past import PastRounds
from merels.tournament.pairing.schedule import schedule_for
from merels.tournament.records.as_flags import condition_rows
from merels.tournament.records.games import Entrant, Results
from merels.tournament.records.settings import Settings, facts, read_settings
from merels.tournament.report.accuracy_report import as_dict as accuracy_dict
from merels.tournament.report.accuracy_report import section as accuracy_section
from merels.tournament.report.accuracy_report import text as accuracy_text
from merels.tournament.report.crosstable import (
    as_dict,
    by_rank,
    crosstable,
    data_table,
    rating_list,
    results_text,
    superiority_table,
)
from merels.tournament.report.html import details, facts_list, page, standings, times_section
from merels.tournament.report.lots import GameArchive
from merels.tournament.report.rounds import round_lines, rounds_table
from merels.tournament.report.summary import (
    conditions_table,
    endings_text,
    health_table,
    match_dict,
    match_lines,
    reasons_dict,
    terminations_dict,
)
from merels.tournament.report.time_report import MoveTimes, add_times, times_table
from merels.tournament.report.time_report import as_dict as times_dict
from merels.tournament.statistics.accuracy import Accuracy
from merels.tournament.statistics.counts import Counts, MatchCounter
from merels.tournament.statistics.terminations import EndingCounter

T = TypeVar("T")


class CountedGames:
    """Counts of the games of several files, made in one pass over each file.

    Memory grows with the number of players and pairings. Of each game only hashes are kept, which
    detect duplicates; of the first games, the archive keeps the moves, too.
    """

    def __init__(
        self, paths: Sequence[str], same: Collection[str] = (), split: Split | None = None,
        max_replayed: int = 0,
    ) -> None:  # fmt: skip
        """Count the games.

        ``same`` is an argument of `Roster`, ``split`` of `GamesFile.games`; the archive keeps the
        first ``max_replayed`` games. Raises `InputError`, which names the file that cannot be read.
        """
        self.games = 0
        self.ignored: dict[str, tuple[str, int]] = {}
        """First place and number of the games that are not rated, by the reason."""
        self.noticed: dict[str, tuple[str, int]] = {}
        """First place and number of the games with each notice of `PlayedGame.notice`."""
        self.archive = GameArchive(max_replayed)
        self.notes: list[dict[str, str]] = []
        """The notes of each journal."""
        self.past: tuple[Settings, Results, bool] | None = None
        """Settings, results by round, and whether the last round is unfinished.

        None unless the only file is the journal of a Swiss tournament or a knockout."""
        self.is_one_journal = False
        """Whether the only file is a journal."""
        self._roster = Roster(same)
        self._keeps_replays = max_replayed > 0
        self._matches = MatchCounter()
        self._terminations, self._reasons = EndingCounter(), EndingCounter(by_reason=True)
        self._times: dict[str, MoveTimes] = {}
        self.losses = TimeLosses()
        self.provenance = Provenance()
        self._health = HealthCounter()
        duplicates = Duplicates()
        for path in paths:
            file = GamesFile(path)
            with contextlib.ExitStack() as closing:
                if file.journal is not None:
                    closing.enter_context(file.journal)
                    self.notes.append(file.notes)
                self._count(file, duplicates, split, is_only_file=len(paths) == 1)
        self.is_one_journal = len(paths) == len(self.notes) == 1
        self.duplicates = duplicates.skipped
        labels = self.labels = self._roster.labels() | {"": ""}
        self.namesakes: dict[str, list[str]] = {}
        """Labels of each name of several players; empty with ``split``."""
        if split is None:
            for name in self._roster.namesakes:
                self.namesakes[name] = [labels[key] for key in self._roster.keys(name)]
        self.matches: Counts = {
            (labels[first], labels[second]): counts
            for (first, second), counts in self._matches.counts.items()
        }
        self.terminations, self.reasons = (
            dataclasses.replace(counts, lost=self._by_label(counts.lost))
            for counts in (self._terminations.counts(), self._reasons.counts())
        )
        self.times = self._by_label(self._times)
        self.provenance.programs = self._by_label(self.provenance.programs)
        self.health = self._by_label(self._health.engines)
        self.warnings = failure_warnings(self.health)

    def _by_label(self, values: Mapping[str, T]) -> dict[str, T]:
        """Return values by the `Roster`'s keys of players as values by label."""
        return {self.labels[key]: value for key, value in values.items()}

    def labels_of(self, entrant: Entrant) -> list[str]:
        """Return the labels of an entrant; several if different versions played under its name."""
        keys = self._roster.keys(entrant.name, description_of(entrant))
        return [self.labels[key] for key in keys] or [entrant.name]

    def conditions(self, entrants: Iterable[Entrant]) -> list[list[str]]:
        """Return the rows of `condition_rows` with the entrants' labels."""
        rows = [
            [label, *words] for entrant in entrants for _, *words in condition_rows([entrant])
            for label in self.labels_of(entrant)
        ]
        return [row for index, row in enumerate(rows) if row not in rows[:index]]

    def _count(
        self, file: GamesFile, duplicates: Duplicates, split: Split | None, is_only_file: bool
    ) -> None:
        """Count the games of a file."""
        rounds: PastRounds | None = None
        if is_only_file and file.settings is not None and schedule_for(file.settings).waits:
            rounds = PastRounds(file.settings)
        rules = None if file.settings is None else parse_rules(file.settings.rules)
        games = file.games(self._roster, split, is_only_file, is_replayed=self._keeps_replays)
        for game in duplicates.deduplicate(games):
            self.games += 1
            if (score := game.score) is not None:
                self._matches.add(score)
            for counts, reason in (
                (self.ignored, game.unrated), (self.noticed, game.notice)
            ):
                if reason:
                    place, number = counts.get(reason, (game.place, 0))
                    counts[reason] = place, number + 1
            ending = game.ending
            self._terminations.add(ending)
            self._reasons.add(ending)
            row = game.row
            # Games of different files may have the same number.
            number = row.number if is_only_file and row is not None else self.games
            self.archive.add(number, game.result, ending, row, rules)
            if row is None:
                continue
            assert game.limits is not None
            keys = game.white, game.black
            add_times(self._times, row, game.limits, keys)
            self.losses.add(row)
            self.provenance.add(row, keys)
            self._health.add(row, keys)
            if rounds is not None:
                rounds.add(row)
        if rounds is not None:
            self.past = (rounds.settings, *rounds.results())


class GamesReport:
    """The report on the counted games; most tables list engines in the order of their ratings.

    ``anchor`` is the name and the rating of an engine whose rating is fixed. ``accuracy`` counts
    moves judged by tables.
    """

    def __init__(
        self, counted: CountedGames, anchor: tuple[str, float] | None, accuracy: Accuracy | None
    ) -> None:
        self._counted = counted
        self._matches = counted.matches
        self._table = crosstable(counted.matches, anchor)
        ratings = self._table.ratings
        self._terminations, self._reasons = (
            dataclasses.replace(counts, lost=by_rank(ratings, counts.lost))
            for counts in (counted.terminations, counted.reasons)
        )
        self._accuracy = accuracy and dataclasses.replace(
            accuracy, engines=by_rank(ratings, accuracy.engines)
        )
        self._times, self._losses = by_rank(ratings, counted.times), counted.losses
        self._health = by_rank(ratings, counted.health)
        self._all_notes: list[Mapping[str, str]] = []
        """The notes of the first journal of each tournament."""
        for notes in counted.notes:
            if all(notes["settings"] != other["settings"] for other in self._all_notes):
                self._all_notes.append(notes)
        self._tournaments = [read_settings(notes["settings"]) for notes in self._all_notes]
        self._settings = self._tournaments[0] if counted.is_one_journal else None
        """Settings of the tournament, if all games are from one journal."""
        self._warnings = [*counted.warnings, *counted.provenance.mixtures()]
        self._verdict = self._all_notes[0].get("verdict") if counted.is_one_journal else None
        self._conditions = counted.conditions(
            entrant for settings in self._tournaments for entrant in settings.engines
        )
        self._names = list(dict.fromkeys(name for match in self._matches for name in match))
        settings = self._settings
        if settings is not None and len(settings.engines) >= len(self._names):
            # List names in the order of entry, including engines that have not played.
            order = [label for engine in settings.engines for label in counted.labels_of(engine)]
            if set(self._names) <= set(order):
                self._names = order
        self._past = counted.past

    def json(self) -> str:
        """Return the report as one JSON object."""
        data = as_dict(self._table) | {
            "terminations": terminations_dict(self._terminations),
            "reasons": reasons_dict(self._reasons),
        }
        if len(self._names) == 2:
            data["match"] = match_dict(self._matches, self._names, self._settings, self._verdict)
        if self._tournaments:
            data["tournaments"] = [
                {name.lower(): value for name, value in _facts(notes)}
                | {"engines": conditions_table(self._counted.conditions(settings.engines)).json()}
                for settings, notes in zip(self._tournaments, self._all_notes)
            ]  # fmt: skip
        if self._times:
            losses = dataclasses.asdict(self._losses)
            data |= {"times": times_dict(self._times), "time_losses": losses}
        if self._health:
            data["health"] = {
                name: health.as_dict() for name, health in self._health.items()
            }
        if programs := self._counted.provenance.as_dict():
            data["programs"] = programs
        if self._warnings:
            data["warnings"] = self._warnings
        if self._accuracy is not None:
            data["accuracy"] = accuracy_dict(self._accuracy)
        return json.dumps(data, indent=2, allow_nan=False) + "\n"

    def csv(self) -> str:
        """Return rating list, crosstable and conditions as CSV: a head and a line per engine."""
        conditions = conditions_table(self._conditions) if self._conditions else None
        return data_table(self._table, conditions).csv()

    def html(self) -> str:
        """Return a page with the tables, on which the archived games can be replayed."""
        properties = dict(_facts(self._all_notes[0])) if self._settings is not None else {}
        title = properties.pop("Event", "Ratings")
        lines = [*properties.items(), ("Games", str(self._counted.games))]
        lines += [("Warning", warning) for warning in self._warnings]
        rounds = rounds_table(*self._past) if self._past else None
        parts = [
            facts_list(lines), standings(self._table, rounds, self._match_lines()),
            details(self._table, self._reasons, self._conditions),
        ]
        if self._times:
            parts.append(times_section(self._times, self._losses))
        if self._accuracy is not None:
            parts.append(accuracy_section(self._accuracy))
        games = self._counted.archive.json(self._table.ratings, self._counted.labels)
        return page(title, "\n".join(parts), games)

    def text(self, points: bool) -> str:
        """Return tables for a terminal; with ``points``, cells of the crosstable are points."""
        rounds = round_lines(*self._past) if self._past else []
        blocks = ["\n".join([*lines, ""]) for lines in (self._match_lines(), rounds) if lines]
        blocks += [
            rating_list(self._table.ratings),
            results_text(self._table, points),
            *self._superiority(),
            endings_text(self._terminations),
            endings_text(self._reasons, "Reason"),
        ]
        if self._times:
            times = times_table(self._times)
            blocks.append(f"{times.title}:\n{times.text()}")
        if self._losses.lines():
            blocks.append("\n".join([*self._losses.lines(), ""]))
        if self._health:
            blocks.append(health_table(self._health).text())
        if self._accuracy is not None:
            blocks.append(accuracy_text(self._accuracy))
        if self._conditions:
            blocks.append(conditions_table(self._conditions).text())
        blocks += [f"WARNING: {warning}\n" for warning in self._warnings]
        return "\n".join(blocks)

    def _superiority(self) -> list[str]:
        if not self._table.ratings.superiority:
            return []
        return ["Likelihood, in percent, that the row is stronger than the column:",
                superiority_table(self._table.ratings).text()]

    def _match_lines(self) -> list[str]:
        return match_lines(self._matches, self._names, self._settings, self._verdict)


def _facts(notes: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return names and values that describe a tournament, from the notes of its journal."""
    return [*facts(notes["settings"]), ("Begun", notes.get("created", "?"))]
