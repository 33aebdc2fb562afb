"""``merels book``: make a file of balanced openings."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import time
from pathlib import Path
from typing import TextIO

from merels.engine import __version__
from merels.engine.game.errors import printable
from merels.engine.game.numbers import read_whole
from merels.engine.game.rules import DEFAULT_RULES
from merels.engine.tablebase.probe import Tables, open_tables
from merels.protocol.commands.arguments import (
    MOST,
    add_flag,
    add_rules_flags,
    make_parser,
    rules_of,
    whole_from,
)
from merels.tournament.pairing.book import (
    CHOICE_MARGIN,
    CHOICES,
    HOLDING_SHARE,
    BookSettings,
    Found,
    make_book,
)
from merels.tournament.records.files import create_partial, file_error, system_error

DESCRIPTION = f"""\
Makes balanced openings: random positions from the placing phase, all different under the
symmetries of the board, no man ahead and no mill in sight, that two deep searches find level:
one for the side to move, one for the other side after the best move. Either must have
{CHOICES} moves that differ by no more than {CHOICE_MARGIN} hundredths of a man. The same command
makes the same file.

With -tables they are positions that tables of the whole moving phase (merels tables build -all)
prove drawn, where at most one move of {HOLDING_SHARE} holds the draw; searches only move away in
advance what is far from level.

The books that merels tournament -openings book plays from are proven ones."""

MOST_POSITIONS = 100_000
TERMINAL_SECONDS = 0.5
"""How often the progress line is written anew on a terminal."""
FILE_SECONDS = 30.0
"""How often it is written where it stays."""


def main(argv: list[str]) -> int:
    """Run ``merels book``; returns the exit status."""
    usual = BookSettings(DEFAULT_RULES)
    parser = make_parser("book", DESCRIPTION)
    add_rules_flags(parser)
    for flag, metavar, most, default, text in (
        ("positions", "N", MOST_POSITIONS, usual.positions, "how many"),
        ("nodes", "N", MOST, usual.nodes, "nodes of a deep search"),
        ("bound", "CP", MOST, usual.bound, "how far from level a score may be, in centi-men"),
    ):
        add_flag(
            parser, flag, metavar=metavar, type=whole_from(1, most), default=default,
            help=f"{text} (default: {default})",
        )
    add_flag(
        parser, "plies", metavar="A-B", default=f"{usual.shortest}-{usual.longest}",
        help="placements before the position, in turn (default: %(default)s)",
    )
    add_flag(
        parser, "srand", metavar="N", default=str(usual.seed),
        help="the seed (default: %(default)s)",
    )
    add_flag(parser, "out", metavar="FILE", help="write there instead of to the terminal")
    add_flag(
        parser, "tables", metavar="DIR", type=Path,
        help="prove every position by the tables in this folder",
    )
    arguments = parser.parse_args(argv)
    return _run(arguments)


def _run(arguments: argparse.Namespace) -> int:
    """Make the book that the flags ask for."""
    settings, tables = _settings(arguments), None
    if arguments.tables is not None:
        tables = open_tables(arguments.tables, settings.rules)
        for problem in tables.problems:
            print(f"merels book: {problem}", file=sys.stderr)
    return _make(settings, tables, arguments.out)


def _settings(arguments: argparse.Namespace) -> BookSettings:
    """The book that the flags ask for."""
    first, dash, last = arguments.plies.partition("-")
    shortest = read_whole(first, 0, MOST, "A of -plies A-B")
    return BookSettings(
        rules=rules_of(arguments),
        positions=arguments.positions,
        shortest=shortest,
        longest=read_whole(last, 0, MOST, "B of -plies A-B") if dash else shortest,
        nodes=arguments.nodes,
        bound=arguments.bound,
        seed=read_whole(arguments.srand, 0, 2**63 - 1, "-srand"),
        proven=arguments.tables is not None,
    )


def _make(settings: BookSettings, tables: Tables | None, out: str | None) -> int:
    """Make the book; a file gets its name when it is whole."""
    if out is None:
        _write(settings, tables, sys.stdout, "FILE")
        return 0
    target = os.path.realpath(out)  # a link stays one
    if not os.path.isfile(out) and (os.path.exists(out) or os.path.lexists(target)):
        raise file_error(out, "cannot write the book here: expected the name of a file")
    partial = create_partial(target)
    try:
        with open(partial, "w", encoding="utf-8", newline="\n") as file:
            _write(settings, tables, file, out)
        os.replace(partial, target)
    except BaseException as error:
        print(
            f"merels book: stopped; what there is stands in {printable(partial)}", file=sys.stderr
        )
        if isinstance(error, OSError):
            raise system_error(out, "write", error) from None
        raise
    return 0


def _write(settings: BookSettings, tables: Tables | None, file: TextIO, name: str) -> None:
    """Write the book, position by position, and tell on standard error how far it is."""
    progress = _Progress(settings.positions)
    print(*header(settings, name), sep="\n", file=file)
    try:
        for found in make_book(settings, tables):
            progress.add(found)
            if found.entry is not None:
                variant = settings.rules.variant
                print(found.entry.line(f"{variant} {progress.kept}"), file=file, flush=True)
    finally:
        progress.close()


def header(settings: BookSettings, name: str) -> list[str]:
    """The comment at the head of a book: what it is and the command that makes it."""
    rules = settings.rules
    words = ["merels", "book", "-variant", rules.variant]
    if rules.fields_text():
        words += ["-set", *rules.fields_text().split()]
    for flag, value in (
        ("-positions", settings.positions),
        ("-plies", f"{settings.shortest}-{settings.longest}"),
        ("-nodes", settings.nodes),
        ("-bound", settings.bound),
        ("-srand", settings.seed),
        ("-out", printable(name)),
    ):
        words += [flag, str(value)]
    if settings.proven:
        words += ["-tables", "DIR"]
        known = "; DIR holds the tables of the whole moving phase."
    else:
        known = "; The score is the side to move's, in hundredths of a man."
    return [
        f"; Balanced openings under the rules {rules}, made by merels {__version__} with",
        f";   {shlex.join(words)}",
        known,
    ]


class _Progress:
    """A line on standard error that says how far the book is; a terminal's is written over."""

    def __init__(self, wanted: int) -> None:
        self.kept = 0
        self._tried = 0
        self._wanted = wanted
        self._started = self._shown = time.monotonic()
        self._terminal = sys.stderr.isatty()

    def add(self, found: Found) -> None:
        """Count a position that was tried."""
        self._tried = found.tried
        self.kept += found.entry is not None
        every = TERMINAL_SECONDS if self._terminal else FILE_SECONDS
        if time.monotonic() - self._shown >= every:
            self._show("\r" if self._terminal else "\n")

    def close(self) -> None:
        """Show where it ended."""
        self._show("\n")

    def _show(self, end: str) -> None:
        self._shown = time.monotonic()
        seconds = self._shown - self._started
        print(
            f"merels book: {self.kept} of {self._wanted} positions, {self._tried} tried, "
            f"{seconds:.0f} s", end=end, file=sys.stderr, flush=True,
        )
