"""``merels accuracy``: the engines' moves against proven values."""

from __future__ import annotations

import argparse
import csv
import io
import json
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from merels.engine.game.errors import InputError, printable
from merels.engine.game.rules import DEFAULT_VARIANT, Rules
from merels.engine.game.shell import shell_text
from merels.engine.tablebase.files import rules_folder
from merels.engine.tablebase.probe import Tables, default_root
from merels.engine.tablebase.verdict import judge
from merels.protocol.commands.arguments import (
    add_flag,
    add_report_flags,
    add_rules_flags,
    make_parser,
    open_named,
    rules_of,
)
from merels.protocol.commands.exit_status import OK
from merels.tournament.journal.import_games import without_doubles
from merels.tournament.journal.replay import stored_games
from merels.tournament.records.files import check_out, format_of, write_report
from merels.tournament.report.accuracy import as_dict, csv_rows, text
from merels.tournament.statistics.accuracy import Accuracy, Coverage, GameName

FORMATS = ("text", "json", "csv")
DESCRIPTION = """\
Judges the moves that engines played by tables of perfect play: by phase, how many kept the proven
value, which wins and draws were thrown away, and each engine's worst move and game. Moves of an
opening do not count where the file tells them. FILE is a journal of merels tournament or a PGN
file of any runner; a game of merels that is in several files counts once.

A page with games to replay: merels ratings FILE -tables DIR -out report.html"""


def main(argv: list[str]) -> int:
    """Run ``merels accuracy``; returns the exit status."""
    parser = make_parser("accuracy", DESCRIPTION)
    parser.add_argument(
        "files", metavar="FILE", nargs="+", help="a journal or a PGN file, or - for standard input"
    )
    add_flag(
        parser, "tables", metavar="DIR", type=Path,
        help="the folder of tables (default: MERELS_TABLES, or the user's cache folder)",
    )
    add_report_flags(parser, FORMATS)
    add_rules_flags(parser)
    options = parser.parse_args(argv)
    check_out(options.out, options.files)
    form = options.format or format_of(options.out, (*FORMATS, "html"))
    if form == "html":
        raise InputError(options.out, "merels ratings FILE -tables DIR -out FILE makes the page")
    accuracy = measure("accuracy", options.files, options.tables, rules_of(options))
    write_report(options.out, _render(accuracy, form, options))
    return OK


def measure(command: str, paths: Sequence[str], folder: Path | None, rules: Rules) -> Accuracy:
    """Judge the games of some files, each once; ``rules`` hold for records that name none.

    An `InputError` names a file that cannot be read, or rules that the folder has no tables of.
    """
    root = folder or default_root()
    opened: dict[str, Tables] = {}
    accuracy = Accuracy()
    for game in without_doubles(chain.from_iterable(stored_games(path, rules) for path in paths)):
        record = game.read()
        key = rules_folder(record.start.rules)
        if key not in opened:
            opened[key] = open_named(command, root, record.start.rules)
            found = Coverage(opened[key].men, opened[key].whole)
            accuracy.coverage[str(record.start.rules)] = found
            accuracy.depths &= opened[key].deep
        name = GameName(game.path, game.number, game.white, game.black)
        accuracy.add(name, judge(opened[key], record, game.opening_plies(record)))
    return accuracy


def _render(accuracy: Accuracy, form: str, options: argparse.Namespace) -> str:
    """The report in one of `FORMATS`."""
    if form == "json":
        return json.dumps(as_dict(accuracy), indent=2) + "\n"
    if form == "csv":
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows(csv_rows(accuracy))
        return out.getvalue()
    flags = ["-tables", str(options.tables)] if options.tables else []
    flags += ["-variant", options.variant] if options.variant != DEFAULT_VARIANT else []
    flags += ["-set", *options.set] if options.set else []
    return text(accuracy, lambda game: review_command(game, flags))


def review_command(game: GameName, flags: Sequence[str] = ()) -> str:
    """What a user types to review a game."""
    words = ["merels", "review", game.path, "-game", str(game.number), *flags]
    return printable(shell_text(words))
