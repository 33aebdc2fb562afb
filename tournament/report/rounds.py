"""The table of a Swiss tournament and the bracket of a knockout."""

from __future__ import annotations

from collections.abc import Callable

from merels.engine.common.numbers import counted
from merels.tournament.pairing import knockout, swiss
from merels.tournament.pairing.knockout import MAX_EXTRA, Match
from merels.tournament.records.games import Results
from merels.tournament.records.settings import Settings
from merels.tournament.report.text_table import MAX_NAME, fitted, grid, shorten

STAGE, MATCH, GOES_ON = "Stage", "Match", "Goes on"
"""Heads of the bracket's columns that are aligned to the left."""
BESIDE_NAMES, SHORTEST = 30, 8
"""Approximate width of a bracket without names, and the least width given to a name, in columns."""
_STAGES = {1: "Final", 2: "Semi-finals", 4: "Quarter-finals"}
_OF_MAX = f"of at most {MAX_EXTRA}"
"""End of the line of a match in its extra pairings."""

ShowName = Callable[[str], str]


def stage_name(matches: int) -> str:
    """Return the name of a knockout's stage by its number of matches, byes included."""
    return _STAGES.get(matches, f"Round of {2 * matches}")


def round_rows(
    settings: Settings, results: Results, unfinished: bool, show_name: ShowName
) -> list[list[str]]:
    """Return the state of a Swiss or knockout as a head and rows; empty for another format.

    ``unfinished``: the last round in ``results`` is not over.
    """
    if settings.format == "swiss":
        return swiss_rows(settings, results, show_name)
    if settings.format == "knockout":
        return bracket_rows(settings, results, unfinished, show_name)
    return []


def round_lines(settings: Settings, results: Results, unfinished: bool) -> list[str]:
    """Return `round_rows` as lines of text."""
    rows = round_rows(settings, results, unfinished, shorten)
    return grid(rows, left=(1,) if settings.format == "swiss" else (0, 2, 4)).splitlines()


def news_of_round(settings: Settings, results: Results) -> list[str]:
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
    if settings.format != "knockout":
        rows = round_rows(settings, results, unfinished, shorten)
        rows = fitted(rows, 1, columns, ("Buchholz", "Bye")) if rows else rows
        return grid(rows, left=1).splitlines()
    head, current, others = _split(settings, results, unfinished, columns)
    return [head, *current, *others]


def _split(
    settings: Settings, results: Results, unfinished: bool, columns: int | None = None
) -> tuple[str, list[str], list[str]]:
    """Return the bracket's head, the lines of the current stage, and all other lines.

    Names are cut, and the first two columns left out, to fit into ``columns``.
    """
    width = MAX_NAME if columns is None else max(SHORTEST, (columns - BESIDE_NAMES) // 2)
    rows = bracket_rows(settings, results, unfinished, lambda name: shorten(name, width))
    shown = rows
    if columns is not None:
        fitting = fitted([row[:-1] for row in rows], 2, columns, ("#", STAGE), 2 * SHORTEST + 4)
        shown = [[*cells, row[-1]] for cells, row in zip(fitting, rows)]
    left = [number for number, head in enumerate(shown[0]) if head in (STAGE, MATCH, GOES_ON)]
    head, *lines = grid(shown, left).splitlines()
    stage = stage_name(len(knockout.stages(settings, results, unfinished)[-1]))
    is_current = [row[0] == stage for row in rows[1:]]
    current = [line for line, now in zip(lines, is_current) if now]
    return head, current, [line for line, now in zip(lines, is_current) if not now]


def swiss_rows(settings: Settings, results: Results, show_name: ShowName) -> list[list[str]]:
    """Return the table of a Swiss tournament; with an odd number of engines it has a Bye column."""
    rows = [["#", "Name", "Points", "Buchholz"]]
    places = swiss.places(settings, results)
    for rank, place in enumerate(places, 1):
        name = show_name(settings.engines[place.engine].name)
        rows.append([str(rank), name, f"{place.points:.1f}", f"{place.buchholz:.1f}"])
    if len(places) % 2:
        rows[0].append("Bye")
        for row, place in zip(rows[1:], places):
            row.append(", ".join(f"round {number}" for number in place.byes) or "-")
    return rows


def bracket_rows(
    settings: Settings, results: Results, unfinished: bool, show_name: ShowName
) -> list[list[str]]:
    """Return a head and a row for every match of a knockout: its engines, its score, its winner.

    Later matches name the winner of an undecided match by its number: ``winner of 3``.
    """
    rows = [[STAGE, "#", MATCH, "Score", GOES_ON]]
    names = [show_name(entrant.name) for entrant in settings.engines]
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
    return rows


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
