"""``merels ratings``: a rating list, crosstable and more from files of finished games."""

from __future__ import annotations

import argparse
import csv
import dataclasses
import io
import json
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from merels.engine.game.errors import InputError
from merels.engine.game.numbers import read_real
from merels.engine.game.rules import DEFAULT_RULES
from merels.protocol.commands.arguments import Parser, add_flag, make_parser, whole_from
from merels.protocol.commands.exit_status import OK
from merels.tournament.commands.accuracy import measure, review_command
from merels.tournament.journal.import_games import (
    PlayedGame,
    endings,
    is_journal,
    read_games,
    scores,
    without_doubles,
)
from merels.tournament.journal.open import read_journal
from merels.tournament.pairing.past import past_rounds
from merels.tournament.pairing.schedule import schedule_for
from merels.tournament.records.files import check_out, file_error, format_of, write_report
from merels.tournament.records.games import Results
from merels.tournament.records.settings import Settings, facts, read_settings
from merels.tournament.report.accuracy import as_dict as accuracy_dict
from merels.tournament.report.accuracy import section as accuracy_section
from merels.tournament.report.accuracy import text as accuracy_text
from merels.tournament.report.crosstable import (
    Crosstable,
    as_dict,
    crosstable,
    csv_rows,
    rating_list,
    results_table,
    superiority_table,
)
from merels.tournament.report.html import MOST_GAMES, page, summary, times_section
from merels.tournament.report.rounds import round_lines, round_rows
from merels.tournament.report.terminations import as_dict as terminations_dict
from merels.tournament.report.terminations import terminations_table
from merels.tournament.report.times import MoveTimes, TimeLosses, add_times, times_table
from merels.tournament.report.times import as_dict as times_dict
from merels.tournament.statistics.accuracy import Accuracy
from merels.tournament.statistics.counts import count_matches
from merels.tournament.statistics.terminations import count_terminations

MOST_ELO = 100_000
"""The greatest rating of the anchor, up or down."""
FORMATS = ("text", "json", "csv", "html")
DESCRIPTION = """\
Rates engines by their finished games: maximum likelihood, with 95 % errors that count the two
games of an opening as one. FILE is a journal of merels tournament or a PGN file of any runner; a
game of merels that is in several files counts once."""


def main(argv: list[str]) -> int:
    """Run ``merels ratings``; returns the exit status."""
    options = _parser().parse_args(argv)
    anchor = _anchor(options.anchor)
    check_out(options.out, options.files)
    games = _games(options.files)
    form = options.format or format_of(options.out, FORMATS)
    known = _journal_facts(options.files[0]) if len(options.files) == 1 else []
    if anchor is not None and not any(anchor[0] in (s.white, s.black) for s in scores(games)):
        raise InputError(anchor[0], "the anchor played no rated game")
    table = crosstable(count_matches(scores(games)), anchor)
    accuracy = None
    if options.tables is not None:
        if form == "csv":
            raise InputError("-tables", "adds nothing to CSV; see merels accuracy -format csv")
        accuracy = measure("ratings", options.files, options.tables, DEFAULT_RULES)
    write_report(options.out, _render(table, games, form, options, known, accuracy))
    return OK


def _games(paths: Sequence[str]) -> list[PlayedGame]:
    """The games of the files, each once; an `InputError` where none of them can be rated."""
    found = read_games(paths)
    games = list(without_doubles(found))
    doubles = len(found) - len(games)
    if doubles:
        text = f"merels ratings: ignored {doubles} duplicates; every game counts once"
        print(text, file=sys.stderr)
    if not scores(games):
        raise file_error(paths[0], "expected finished games between two engines, found none")
    return games


def _render(
    table: Crosstable, games: Sequence[PlayedGame], form: str, options: argparse.Namespace,
    known: Sequence[tuple[str, str]], accuracy: Accuracy | None,
) -> str:  # fmt: skip
    """The report on some games in one of `FORMATS`; ``known`` are facts for the page."""
    ends, past = count_terminations(endings(games)), _past(options.files)
    times, losses = _times(games)
    review = partial(review_command, flags=["-tables", str(options.tables)])
    if form == "json":
        data = as_dict(table) | {"terminations": terminations_dict(ends)}
        if times:
            data |= {"times": times_dict(times), "time_losses": dataclasses.asdict(losses)}
        if accuracy is not None:
            data["accuracy"] = accuracy_dict(accuracy)
        return json.dumps(data, indent=2, allow_nan=False) + "\n"
    if form == "csv":
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows(csv_rows(table))
        return out.getvalue()
    if form == "html":
        rows = [game.row for game in games if game.row is not None]
        lines = [*known, ("Games", str(len(games)))]
        if len(rows) > options.games:
            lines.append(("Shown below", f"the first {options.games} games (-games N for more)"))
        title = dict(known).get("Event", "Ratings")
        table_of_rounds = round_rows(*past, str) if past else []
        body = summary(lines, table, ends, table_of_rounds)
        if times:
            body += times_section(times, losses)
        if accuracy is not None:
            body += accuracy_section(accuracy, review)
        return page(title, body, rows[: options.games])
    rounds = ["\n".join([*round_lines(*past), ""])] if past else []
    return "\n".join([
        *rounds,
        rating_list(table.ratings),
        results_table(table, points=options.cells == "points"),
        "Likelihood, in percent, that the row is stronger than the column:",
        superiority_table(table.ratings),
        terminations_table(ends),
        *([times_table(times)] if times else []),
        *(["\n".join([*losses.lines(), ""])] if losses.lines() else []),
        *([accuracy_text(accuracy, review)] if accuracy is not None else []),
    ])


def _times(games: Iterable[PlayedGame]) -> tuple[dict[str, MoveTimes], TimeLosses]:
    """The times of the moves, and the losses on time, of the games of which journals tell them."""
    times: dict[str, MoveTimes] = {}
    rows = [(game.row, game.limits) for game in games if game.row is not None]
    losses = TimeLosses(len(rows))
    for row, limits in rows:
        add_times(times, row, limits)
        losses.add(row.lost_move(), row.attempts_voided)
    return times, losses


def _journal_facts(path: str) -> list[tuple[str, str]]:
    """What a journal knows of its tournament; nothing for another file."""
    if not is_journal(path):
        return []
    with read_journal(path) as journal:
        meta = journal.meta()
        return [*facts(meta["settings"]), ("Begun", meta.get("created", "?"))]


def _past(paths: Sequence[str]) -> tuple[Settings, Results, bool] | None:
    """The rounds of a single journal whose tournament pairs by results; see `past_rounds`."""
    if len(paths) > 1 or not is_journal(paths[0]):
        return None
    with read_journal(paths[0]) as journal:
        settings = read_settings(journal.meta()["settings"])
        if not schedule_for(settings).waits:
            return None
        return settings, *past_rounds(settings, journal.rows())


def _parser() -> Parser:
    parser = make_parser("ratings", DESCRIPTION)
    parser.add_argument("files", metavar="FILE", nargs="+", help="a journal or a PGN file")
    add_flag(
        parser, "anchor", metavar="NAME=ELO",
        help="fix the rating of this engine (default: the mean is 0)",
    )
    add_flag(
        parser, "tables", metavar="DIR", type=Path,
        help="judge the engines' moves by the tables of perfect play in this folder, too",
    )
    add_flag(parser, "out", metavar="FILE", help="write to this file (default: standard output)")
    add_flag(
        parser, "format", choices=FORMATS,
        help="the report's format (default: by the ending of -out, else text)",
    )
    add_flag(
        parser, "cells", choices=("wdl", "points"), default="wdl",
        help="cells of the crosstable: wins-draws-losses (default) or points",
    )
    add_flag(
        parser, "games", metavar="N", type=whole_from(0), default=MOST_GAMES,
        help=f"games to replay in the HTML report (default: {MOST_GAMES})",
    )
    return parser


def _anchor(text: str | None) -> tuple[str, float] | None:
    """The engine and the rating of ``NAME=ELO``."""
    if text is None:
        return None
    name, equals, value = text.rpartition("=")
    if not equals:
        raise InputError(text, "expected -anchor NAME=ELO, such as A=1500")
    return name, read_real(value, -MOST_ELO, MOST_ELO, "-anchor NAME=ELO")
