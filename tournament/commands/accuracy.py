"""``merels accuracy``: judge engines' moves by tables of perfect play."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from time import monotonic

from merels.engine.common.errors import InputError
from merels.engine.tablebase.files import rules_folder
from merels.engine.tablebase.probe import Tables, default_root, open_tables
from merels.engine.tablebase.verdict import judge
from merels.protocol.commands.arguments import (
    Parser,
    add_flag,
    add_report_flags,
    add_rules_flags,
    leave_variant_open,
    make_parser,
    record_rules,
    require_tables,
)
from merels.protocol.commands.exit_status import USAGE_ERROR
from merels.protocol.commands.faults import Faults
from merels.protocol.common.files import check_output, format_of, write_report
from merels.protocol.common.notices import notify
from merels.protocol.formats.pgn.variants import RecordRules
from merels.protocol.games.record import notices_of
from merels.protocol.terminal.progress import ProgressLine
from merels.tournament.journal.import_games import Duplicates
from merels.tournament.journal.players import ALL, Roster
from merels.tournament.journal.replay import StoredGame, stored_games
from merels.tournament.report.accuracy_report import as_dict, text
from merels.tournament.statistics.accuracy import Accuracy, Coverage

FORMATS = ("text", "json")
PROGRESS_SECONDS = 1.0
"""Seconds after which a progress line is shown."""
UNNAMED_SIDES = ("unnamed White", "unnamed Black")
"""Names for players whose name is unknown."""
DESCRIPTION = """\
Judges engines' moves by tables of perfect play. Prints, for each phase, how many moves kept the
proven value and how many wins and draws were thrown away.
Moves of the opening book do not count if the file marks them. FILE is a journal of merels
tournament or a PGN file of any runner; a game of merels that is in several files counts once.

A page with games to replay: merels ratings FILE -tables DIR -out report.html"""


def main(argv: list[str]) -> int:
    """Run ``merels accuracy``; return the exit status."""
    parser = make_parser("accuracy", DESCRIPTION)
    parser.add_argument(
        "files", metavar="FILE", nargs="+", help="a journal or a PGN file, or - for standard input"
    )
    add_flag(
        parser, "tables", metavar="DIR", type=Path,
        help="the folder of tables (default: MERELS_TABLES, or the user's cache folder)",
    )
    add_same_flag(parser)
    add_report_flags(parser, FORMATS)
    add_flag(
        parser, "strict", action="store_true", help="stop at the first game that cannot be read"
    )
    add_rules_flags(parser)
    leave_variant_open(parser)
    options = parser.parse_args(argv)
    check_output(options.out, options.files)
    form = options.format or format_of(options.out, (*FORMATS, "html"))
    if form == "html":
        raise InputError(
            options.out, "expected a text or JSON report; for a page, use merels ratings FILE "
            "-tables DIR -out FILE"
        )  # fmt: skip
    faults, rules = Faults(options.strict), record_rules(options)
    accuracy = measure(faults, options.files, options.tables, rules, options.same)
    if faults.status != USAGE_ERROR:
        is_json = form == "json"
        report = json.dumps(as_dict(accuracy), indent=2) + "\n" if is_json else text(accuracy)
        write_report(options.out, report)
    return faults.status


def add_same_flag(parser: Parser) -> None:
    """Add ``-same``, which merges players of the same name."""
    add_flag(
        parser, "same", metavar="NAME", action="append", default=[],
        help=f"count this name as one player for all settings and versions ({ALL}: every name)",
    )


def measure(
    faults: Faults, paths: Sequence[str], folder: Path | None, rules: RecordRules,
    same: Collection[str] = (),
) -> Accuracy:
    """Judge the games of some files, each once, and return the counts of all players.

    ``faults`` collects games that cannot be read. ``folder``: root of the tables, None for the
    default. ``rules``: rules of records that name none. ``same``: as for `Roster`. Raise
    `InputError` for a file that cannot be read, or if the tables of a game's rules are missing.
    """
    judging = _Judging(faults, paths, folder or default_root())
    roster = Roster(same)
    stored = chain.from_iterable(stored_games(path, rules, roster) for path in paths)
    try:
        for game in Duplicates().deduplicate(stored):
            judging.add(game)
    finally:
        judging.line.clear()
    labels, accuracy = roster.labels(), judging.accuracy
    engines = {labels.get(key, key): engine for key, engine in accuracy.engines.items()}
    return replace(accuracy, engines=engines)


class _Judging:
    """Judges games by the tables in a folder, opened for the rules of each game."""

    def __init__(self, faults: Faults, paths: Sequence[str], root: Path) -> None:
        self.accuracy = Accuracy()
        self.line = ProgressLine()
        self._faults, self._paths, self._root = faults, list(paths), root
        self._opened: dict[str, Tables] = {}
        self._started = monotonic()
        self._reported: set[str] = set()

    def add(self, game: StoredGame) -> None:
        """Judge a game; raise `InputError` if the tables of its rules are missing."""
        try:
            record = game.read()
        except InputError as error:
            self.line.clear()
            self._faults.skip(error)
            return
        self._report(f"{game.place}: {notice}" for notice in notices_of(record))
        rules = record.start.rules
        key = rules_folder(rules)
        if key not in self._opened:
            self._opened[key] = open_tables(self._root, rules)
        tables = self._opened[key]
        self._report(tables.problems)
        require_tables(tables, self._root)
        self.accuracy.coverage[str(rules)] = Coverage(tables.men, tables.complete)
        self.accuracy.has_all_depths &= tables.has_all_depths
        white, black = (key or unnamed for key, unnamed in zip(game.keys, UNNAMED_SIDES))
        first = game.opening_plies(record)
        self.accuracy.add(white, black, judge(tables, record.start, record.moves, first))
        self._report(tables.problems)  # A probe may find a damaged block.
        self._faults.read += 1
        seconds, games = monotonic() - self._started, self.accuracy.games
        if seconds > PROGRESS_SECONDS:
            share = (self._paths.index(game.path) + game.share) / len(self._paths)
            self.line.show(share, f"{games:,} games judged, {games / seconds:,.0f} a second")

    def _report(self, notices: Iterable[str]) -> None:
        """Report each notice once."""
        for notice in notices:
            if notice not in self._reported:
                self._reported.add(notice)
                self.line.clear()
                notify(notice)
