"""The table of a Swiss tournament and the bracket of a knockout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from merels.engine.common.numbers import counted
from merels.tournament.pairing import knockout, swiss
from merels.tournament.pairing.knockout import MAX_EXTRA, Match
from merels.tournament.records.games import Results
from merels.tournament.records.settings import Settings
from merels.tournament.report.table import MAX_NAME, Column, Table, shorten, text_columns

BESIDE_NAMES, SHORTEST = 30, 8
"""Approximate width of a bracket without names, and the least width given to a name, in columns."""
_STAGES = {1: "Final", 2: "Semi-finals", 4: "Quarter-finals"}
_OF_MAX = f"of at most {MAX_EXTRA}"
"""End of the line of a match in its extra pairings."""


def stage_name(matches: int) -> str:
    """Return the name of a knockout's stage by its number of matches, byes included."""
    return _STAGES.get(matches, f"Round of {2 * matches}")


def rounds_table(
    settings: Settings, results: Results, unfinished: bool, max_name: int | None = None
) -> Table | None:
    """Return the state of a Swiss tournament or a knockout; None for another format.

    ``unfinished``: the last round in ``results`` is not over. ``max_name`` is the width to which
    the names of a bracket are cut.
    """
    if settings.format == "swiss":
        return swiss_table(settings, results)
    if settings.format == "knockout":
        return bracket(settings, results, unfinished, max_name)
    return None


def round_lines(settings: Settings, results: Results, unfinished: bool) -> list[str]:
    """Return `rounds_table` as lines of text; none for another format."""
    table = rounds_table(settings, results, unfinished, MAX_NAME)
    return [] if table is None else table.text().splitlines()


def round_start_lines(settings: Settings, results: Results) -> list[str]:
    """Return lines of text for the start of the last round in ``results``.

    For a Swiss tournament: the round, and its bye, if any. For a knockout: in the first round the
    whole bracket, later the matches of the current stage, or only those in extra pairings, if any.
    """
    if settings.format == "swiss":
        text = f"Round {len(results)} of {settings.rounds}"
        for place in swiss.places(settings, results):
            if len(results) in place.byes:
                name = shorten(settings.engines[place.engine].name)
                text += f"; {name} has a bye: {counted(settings.games, 'point')}"
        return [text]
    head, current, others = _split(settings, results, unfinished=True)
    if len(results) == 1:
        return [head, *current, *others]
    return [line for line in current if line.endswith(_OF_MAX)] or current


def live_lines(
    settings: Settings, results: Results, unfinished: bool, columns: int
) -> list[str]:
    """Return `round_lines`, with names cut and some columns left out to fit into ``columns``.

    A bracket begins with its current stage, because the screen may cut its end.
    """
    if settings.format == "swiss":
        return swiss_table(settings, results).text(columns, ("Buchholz", "Bye")).splitlines()
    if settings.format != "knockout":
        return []
    head, current, others = _split(settings, results, unfinished, columns)
    return [head, *current, *others]


def _split(
    settings: Settings, results: Results, unfinished: bool, columns: int | None = None
) -> tuple[str, list[str], list[str]]:
    """Return the bracket's head, the lines of the current stage, and all other lines.

    Names are cut, and the first two columns left out, to fit into ``columns``.
    """
    max_name = MAX_NAME if columns is None else max(SHORTEST, (columns - BESIDE_NAMES) // 2)
    table = bracket(settings, results, unfinished, max_name)
    head, *lines = table.text(columns, ("#", "Stage"), 2 * SHORTEST + 4).splitlines()
    stage = stage_name(len(knockout.stages(settings, results, unfinished)[-1]))
    current, others = list[str](), list[str]()
    for line, row in zip(lines, table.rows):
        (current if row[0] == stage else others).append(line)
    return head, current, others


def swiss_table(settings: Settings, results: Results) -> Table:
    """Return the table of a Swiss tournament; with an odd number of engines it has a Bye column."""
    places = swiss.places(settings, results)
    head = [Column("#"), *text_columns("Name"), Column("Points", form="{:.1f}"),
            Column("Buchholz", form="{:.1f}"), *([Column("Bye")] if len(places) % 2 else [])]
    rows = [
        [
            rank, settings.engines[place.engine].name, place.points, place.buchholz,
            ", ".join(f"round {number}" for number in place.byes) or None,
        ]
        for rank, place in enumerate(places, 1)
    ]
    return Table("Points, byes included", head, rows, "ranked", names=1)


def bracket(
    settings: Settings, results: Results, unfinished: bool, max_name: int | None = None
) -> Table:
    """Return a row for every match of a knockout: its engines, its score, its winner.

    Later matches name the winner of an undecided match by its number: ``winner of 3``.
    """
    names = [engine.name for engine in settings.engines]
    if max_name is not None:
        names = [shorten(name, max_name) for name in names]
    rows: list[Sequence[Any]] = []
    number, winners = 0, list[str]()
    for stage in knockout.stages(settings, results, unfinished):
        winners = []
        for match in stage:
            label, players = "", names[match.higher]
            if match.lower is not None:
                number += 1
                label, players = str(number), f"{players} vs {names[match.lower]}"
            row = [stage_name(len(stage)), label, players, _score(match)]
            rows.append([*row, _goes_on(settings, match, names)])
            winners.append(
                f"winner of {number}" if match.winner is None else names[match.winner]
            )
    while len(winners) > 1:
        pairs = list(zip(winners[::2], winners[1::2]))
        winners = []
        for upper, lower in pairs:
            number += 1
            rows.append([stage_name(len(pairs)), str(number), f"{upper} vs {lower}", "", ""])
            winners.append(f"winner of {number}")
    stage_column, match_column, winner_column = text_columns("Stage", "Match", "Goes on")
    head = [stage_column, Column("#"), match_column, Column("Score"),
            replace(winner_column, is_loose=True)]
    return Table("Bracket", head, rows, "bracket", names=2, max_name=2 * MAX_NAME + 4)


def _score(match: Match) -> str:
    """Return the points of both engines; empty for a bye or without points."""
    return "{:.1f}-{:.1f}".format(*match.points) if any(match.points) else ""


def _goes_on(settings: Settings, match: Match, names: list[str]) -> str:
    """Return the winner, with the reason if the regular pairings did not decide the match.

    For an undecided match, return the number of its extra pairing, or '' before the first.
    """
    if match.winner is None:
        extra = match.pairings - settings.rounds + 1
        return f"extra pairing {extra} {_OF_MAX}" if extra > 0 else ""
    reason = ""
    if match.lower is None:
        reason = "bye"
    elif match.points[0] == match.points[1]:
        reason = f"the higher seed, after {MAX_EXTRA} extra pairings"
    elif match.pairings > settings.rounds:
        reason = f"after {counted(match.pairings - settings.rounds, 'extra pairing')}"
    return names[match.winner] + (f" ({reason})" if reason else "")
