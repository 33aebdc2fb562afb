"""``merels accuracy``: judge engines' moves by tables of perfect play."""

from __future__ import annotations

import argparse
import csv
import io
import json
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import chain, islice
from multiprocessing import get_context
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from merels.engine.common.errors import InputError, printable
from merels.engine.common.files import check_output, format_of, write_report
from merels.engine.common.shell import shell_text
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
from merels.protocol.formats.pgn.variants import RecordRules
from merels.protocol.games.record import notices_of
from merels.protocol.terminal.progress import ProgressLine
from merels.tournament.flags.quick import usable_cores
from merels.tournament.journal.import_games import Duplicates
from merels.tournament.journal.players import ALL, Roster
from merels.tournament.journal.replay import StoredGame, stored_games
from merels.tournament.report.accuracy_report import as_dict, csv_rows, text
from merels.tournament.statistics.accuracy import Accuracy, Coverage, GameName

FORMATS = ("text", "json", "csv")
GAMES_BEFORE_WORKERS = 200
"""Number of games that are judged before worker processes are started."""
BATCH_GAMES = 25
"""Number of games that are sent to a worker process at once."""
BATCHES_AHEAD = 3
"""Number of batches per worker process that are queued or in progress."""
UNNAMED_SIDES = ("unnamed White", "unnamed Black")
"""Names for players whose name is unknown."""
DESCRIPTION = """\
Judges engines' moves by tables of perfect play. Prints, for each phase, how many moves kept the
proven value and how many wins and draws were thrown away, and each engine's worst move and game.
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
        raise InputError(options.out, "use merels ratings FILE -tables DIR -out FILE for a page")
    faults, rules = Faults("accuracy", options.strict), record_rules(options)
    accuracy = measure(faults, options.files, options.tables, rules, options.same)
    if faults.status != USAGE_ERROR:
        write_report(options.out, _render(accuracy, form, options))
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
    default. ``rules``: rules of records that name none. ``same``: as for `Roster`. Many games are
    judged by several processes, with the same result. Raise `InputError` for a file that cannot be
    read, or if the tables of a game's rules are missing.
    """
    judge, roster, accuracy = Judge(folder or default_root()), Roster(same), Accuracy()
    progress = _Progress(faults, paths)
    stored = chain.from_iterable(stored_games(path, rules, roster) for path in paths)
    try:
        for batch in _judged(judge, Duplicates().deduplicate(stored)):
            for fault in batch.faults:
                progress.clear()
                faults.skip(fault)
            for notice in batch.notices:
                progress.clear()
                faults.report(notice)
            faults.read += batch.accuracy.games
            accuracy.merge(batch.accuracy)
            progress.show(accuracy.games, batch)
    finally:
        progress.clear()
    labels = roster.labels() | {name: name for name in UNNAMED_SIDES}
    return accuracy.relabelled(labels)


class Judged(NamedTuple):
    """Result of judging some games."""

    accuracy: Accuracy
    problems: list[str]
    """Problems of the tables."""
    faults: list[InputError]
    """Errors of games that cannot be read."""
    notices: list[str]
    """Notices on games that continue after a draw, such as by repetition."""
    path: str
    """File of the last game; empty without games."""
    share: float
    """Share of that file that was read, from 0 to 1."""


class Judge:
    """Judges games by the tables in a folder, opened for the rules of each game."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._opened: dict[str, Tables] = {}

    def judge(self, games: Iterable[StoredGame]) -> Judged:
        """Judge some games; raise `InputError` if the tables of their rules are missing."""
        accuracy, problems, path, share = Accuracy(), list[str](), "", 0.0
        faults: list[InputError] = []
        notices: list[str] = []
        for game in games:
            path, share = game.path, game.share
            try:
                record = game.read()
            except InputError as error:
                faults.append(error)
                continue
            notices += [f"{game.place}: {notice}" for notice in notices_of(record)]
            rules = record.start.rules
            key = rules_folder(rules)
            if key not in self._opened:
                self._opened[key] = open_tables(self.root, rules)
            tables = self._opened[key]
            problems += [text for text in tables.problems if text not in problems]
            require_tables(tables, self.root)
            accuracy.coverage[str(rules)] = Coverage(tables.men, tables.complete)
            accuracy.depths &= tables.has_all_depths
            names = (key or unnamed for key, unnamed in zip(game.keys, UNNAMED_SIDES))
            name = GameName(game.path, game.number, *names)
            first = game.opening_plies(record)
            accuracy.add(name, judge(tables, record.start, record.moves, first))
        return Judged(accuracy, problems, faults, notices, path, share)


def _judged(judge: Judge, games: Iterator[StoredGame]) -> Iterator[Judged]:
    """Judge games in batches and yield the results in order.

    Worker processes judge the games after the first `GAMES_BEFORE_WORKERS`, unless there is only
    one processor.
    """
    yield judge.judge(islice(games, GAMES_BEFORE_WORKERS))
    processors = len(usable_cores())
    batches = iter(lambda: list(islice(games, BATCH_GAMES)), [])
    if processors == 1:
        yield from map(judge.judge, batches)
        return
    first = next(batches, None)
    if first is None:
        return
    with ProcessPoolExecutor(
        processors, get_context("spawn"), initializer=_begin_worker, initargs=(judge.root,)
    ) as pool:
        waiting: deque[Future[Judged]] = deque()
        try:
            for batch in chain([first], batches):
                waiting.append(pool.submit(_judge_batch, batch))
                if len(waiting) > BATCHES_AHEAD * processors:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _begin_worker(root: Path) -> None:
    global _worker
    _worker = Judge(root)


def _judge_batch(games: Sequence[StoredGame]) -> Judged:
    assert _worker is not None
    return _worker.judge(games)


_worker: Judge | None = None
"""The judge of a worker process; None in the main process."""


class _Progress:
    """Progress line of judging some files; reports problems of the tables."""

    def __init__(self, faults: Faults, paths: Sequence[str]) -> None:
        self._faults = faults
        self._paths = list(paths)
        self._line = ProgressLine()
        self._started = monotonic()
        self._problems: set[str] = set()

    def show(self, games: int, batch: Judged) -> None:
        """Update the line after a batch; ``games``: number of all judged games."""
        for problem in batch.problems:
            if problem not in self._problems:
                self._problems.add(problem)
                self._faults.report(problem)
        if games > GAMES_BEFORE_WORKERS:
            share = (self._paths.index(batch.path) + batch.share) / len(self._paths)
            rate = games / max(1e-9, monotonic() - self._started)
            self._line.show(share, f"{games:,} games judged, {rate:,.0f} a second")

    def clear(self) -> None:
        """Remove the line from the terminal."""
        self._line.clear()


def _render(accuracy: Accuracy, form: str, options: argparse.Namespace) -> str:
    """Return the report in one of `FORMATS`."""
    if form == "json":
        return json.dumps(as_dict(accuracy), indent=2) + "\n"
    if form == "csv":
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows(csv_rows(accuracy))
        return out.getvalue()
    flags = ["-tables", str(options.tables)] if options.tables else []
    flags += ["-variant", options.variant] if options.variant else []
    flags += ["-set", *options.set] if options.set else []
    return text(accuracy, lambda game: review_command(game, flags))


def review_command(game: GameName, flags: Sequence[str] = ()) -> str:
    """Return the command line that reviews a game."""
    words = ["merels", "review", game.path, "-game", str(game.number), *flags]
    return printable(shell_text(words))
