"""``merels ratings``: rate engines by finished games, with crosstable and other tables."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from merels.engine.common.errors import InputError, suggestion
from merels.engine.common.numbers import counted
from merels.engine.common.shell import shell_text
from merels.protocol.commands.arguments import (
    Parser,
    add_flag,
    add_report_flags,
    make_parser,
    whole_from,
)
from merels.protocol.commands.exit_status import FAILED, OK
from merels.protocol.commands.faults import Faults
from merels.protocol.common.files import check_output, file_error, format_of, write_report
from merels.protocol.common.notices import notify
from merels.protocol.formats.pgn.variants import RecordRules
from merels.tournament.commands.accuracy import add_same_flag, measure
from merels.tournament.journal.import_games import Split
from merels.tournament.records.table import read_anchor
from merels.tournament.report.games_report import CountedGames, GamesReport
from merels.tournament.report.html import MAX_GAMES

FORMATS = ("text", "json", "csv", "html")
DESCRIPTION = """\
Rates engines by their finished games. The ratings are maximum likelihood estimates; their 95 %
errors treat the two games of an opening as one result. FILE is a journal of merels tournament or a
PGN file of any runner; a game of merels tournament that is in several files counts once. Results
come from tags and end markers; the moves are not read, so run merels convert on a PGN file to find
results that contradict the moves. With two engines, the report starts with the result of their
match. From a journal, it also shows the match's SPRT and each engine's settings.

A player is a name with its options, limits and announced version. If games differ in these, the
name stands for several players, such as A [nodes=50] and A [nodes=1000]; -same A makes them one. If
a file does not state enough to tell two players of a name apart, that is an error. A warning lists
different programs with the same name."""


def main(argv: list[str]) -> int:
    """Run ``merels ratings``; return the exit status."""
    options = _parser().parse_args(argv)
    if len(options.anchor) > 1:
        given = " ".join(f"-anchor {text}" for text in options.anchor)
        raise InputError(given, "expected one -anchor; the other ratings follow from it")
    anchor = read_anchor(options.anchor[0], "-anchor") if options.anchor else None
    check_output(options.out, options.files)
    form = options.format or format_of(options.out, FORMATS)
    if form == "csv" and options.tables is not None:
        raise InputError(
            "-tables", "a CSV report has no accuracy; use merels accuracy -format json"
        )
    max_replayed = options.games if form == "html" else 0
    games = CountedGames(options.files, options.same, options.split, max_replayed)
    if not games.matches:
        problem = "expected finished games between two engines with names, found none"
        raise file_error(options.files[0], problem)
    _report_omissions(games)
    if anchor is not None and not any(anchor[0] in match for match in games.matches):
        names = sorted({name for match in games.matches for name in match})
        namesakes = ", ".join(name for name in names if name.startswith(f"{anchor[0]} ["))
        hint = suggestion(anchor[0], names) or "; name an engine that did"
        if namesakes:
            hint = f"; name one of {namesakes}"
        raise InputError(anchor[0], f"the anchor played no rated game{hint}")
    accuracy, faults = None, Faults(strict=False)
    if options.tables is not None:
        accuracy = measure(faults, options.files, options.tables, RecordRules(), options.same)
    report = GamesReport(games, anchor, accuracy)
    formatters = {
        "text": lambda: report.text(points=options.cells == "points"),
        "json": report.json, "csv": report.csv, "html": report.html,
    }
    write_report(options.out, formatters[form]())
    return FAILED if faults.status else OK


def _report_omissions(games: CountedGames) -> None:
    """Report games that were not counted or are doubtful, and names of several players."""
    if games.duplicates:
        duplicates = counted(games.duplicates, "duplicate")
        notify(f"ignored {duplicates}; every game counts once")
    for reason, (place, count) in games.ignored.items():
        first = f"; the first is {place}" if count > 1 else f": {place}"
        notify(f"ignored {counted(count, 'game')} {reason}{first}")
    for notice, (place, count) in games.noticed.items():
        others = f" (as in {counted(count - 1, 'other game')})" if count > 1 else ""
        notify(f"{place}: {notice}{others}")
    for name, labels in games.namesakes.items():
        notify(
            f"{name} is {len(labels)} players: {', '.join(labels)}; "
            f"-same {shell_text([name])} makes them one"
        )


def _parser() -> Parser:
    parser = make_parser("ratings", DESCRIPTION)
    parser.add_argument("files", metavar="FILE", nargs="+", help="a journal or a PGN file")
    add_flag(
        parser, "anchor", metavar="NAME=ELO", action="append", default=[],
        help="fix the rating of this engine (default: the mean is 0)",
    )
    add_flag(
        parser, "tables", metavar="DIR", type=Path,
        help="also judge the engines' moves by the tables of perfect play in this folder",
    )
    add_same_flag(parser)
    add_flag(
        parser, "split", choices=get_args(Split),
        help="rate each engine separately on each machine (host) or for each of its programs",
    )
    add_report_flags(parser, FORMATS)
    add_flag(
        parser, "cells", choices=("wdl", "points"), default="wdl",
        help="cells of the crosstable: wins-draws-losses (default) or points",
    )
    add_flag(
        parser, "games", metavar="N", type=whole_from(0), default=MAX_GAMES,
        help=f"games to replay in the HTML report (default: {MAX_GAMES})",
    )
    return parser
