"""``merels book``: make a file of balanced openings."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import time
from pathlib import Path
from typing import TextIO

from merels.engine import full_version
from merels.engine.common.errors import InputError, printable
from merels.engine.common.numbers import read_whole
from merels.engine.common.saving import publish
from merels.engine.game.rules import DEFAULT_RULES
from merels.engine.tablebase.probe import Tables, build_command, open_tables
from merels.protocol.commands.arguments import (
    MAX_NUMBER,
    add_flag,
    add_rules_flags,
    make_parser,
    rules_of,
    whole_from,
)
from merels.protocol.common.files import file_error, new_draft, system_error
from merels.protocol.common.notices import notify
from merels.protocol.terminal.progress import ProgressLine
from merels.tournament.openings.generator import (
    CHOICE_MARGIN,
    CHOICES,
    HOLDING_SHARE,
    BookSettings,
    make_book,
)

DESCRIPTION = f"""\
Makes a book of balanced openings: random positions of the placing phase, no two of them equal under
the symmetries of the board. No man is removed, and neither side can close a mill with its next man.
Two deep searches, one of the position and one after its best move, must find it level. In both, the
best {CHOICES} moves must differ by at most {CHOICE_MARGIN} hundredths of a man. The same command
makes the same file.

With -tables, all positions are proven draws by tables of the whole game (merels tables build -all
-placing), and at most one move in {HOLDING_SHARE} holds the draw. The search then only rejects
positions that are far from level.

The books that come with merels (-openings book) are proven."""

MAX_POSITIONS = 100_000


def main(argv: list[str]) -> int:
    """Run ``merels book``; return the exit status."""
    defaults = BookSettings(DEFAULT_RULES)
    parser = make_parser("book", DESCRIPTION)
    add_rules_flags(parser)
    for flag, metavar, most, default, text in (
        ("positions", "N", MAX_POSITIONS, defaults.positions, "number of positions"),
        ("nodes", "N", MAX_NUMBER, defaults.nodes, "nodes of each deep search"),
        ("bound", "CP", MAX_NUMBER, defaults.bound,
         "highest score of either side, in hundredths of a man"),
    ):
        add_flag(
            parser, flag, metavar=metavar, type=whole_from(1, most), default=default,
            help=f"{text} (default: {default})",
        )
    add_flag(
        parser, "plies", metavar="A-B", default=f"{defaults.shortest}-{defaults.longest}",
        help="plies before a position, from A to B in equal shares (default: %(default)s)",
    )
    add_flag(
        parser, "srand", metavar="N", default=str(defaults.seed),
        help="seed of the random positions (default: %(default)s)",
    )
    add_flag(parser, "out", metavar="FILE", help="write to this file (default: standard output)")
    add_flag(
        parser, "tables", metavar="DIR", type=Path,
        help="prove every position with the tables in this folder",
    )
    arguments = parser.parse_args(argv)
    settings, tables = _settings(arguments), None
    if arguments.tables is not None:
        tables = open_tables(arguments.tables, settings.rules)
        for problem in tables.problems:
            notify(problem)
        if not tables.complete:
            command = build_command(settings.rules, arguments.tables)
            raise InputError(
                str(arguments.tables), f"expected all tables of the rules; make them with {command}"
            )
    return _make(settings, tables, arguments.out)


def _settings(arguments: argparse.Namespace) -> BookSettings:
    first, dash, last = arguments.plies.partition("-")
    shortest = read_whole(first, 0, MAX_NUMBER, "A of -plies A-B")
    return BookSettings(
        rules=rules_of(arguments),
        positions=arguments.positions,
        shortest=shortest,
        longest=read_whole(last, 0, MAX_NUMBER, "B of -plies A-B") if dash else shortest,
        nodes=arguments.nodes,
        bound=arguments.bound,
        seed=read_whole(arguments.srand, 0, 2**63 - 1, "-srand"),
        proven=arguments.tables is not None,
    )


def _make(settings: BookSettings, tables: Tables | None, out: str | None) -> int:
    """Make the book; an output file gets its name only when it is complete."""
    if out is None:
        _write(settings, tables, sys.stdout, "FILE")  # The header contains the name.
        return 0
    target = os.path.realpath(out)  # so that a symbolic link is not replaced
    if os.path.lexists(target) and not os.path.isfile(target):
        # A folder, a device, or a symbolic link to itself.
        raise file_error(out, "cannot write the book here: expected the name of a file")
    draft = new_draft(target)
    try:
        with open(draft, "r+", encoding="utf-8", newline="\n") as file:
            _write(settings, tables, file, out)
        publish(draft, target)
    except BaseException as error:
        notify(f"stopped; the positions found so far are in {draft}")
        if isinstance(error, OSError):
            raise system_error(out, "write", error) from None
        raise
    return 0


def _write(settings: BookSettings, tables: Tables | None, file: TextIO, name: str) -> None:
    """Write the book, one position at a time, and show the progress on standard error."""
    bar, started = ProgressLine(), time.monotonic()
    count, total, text = 0, settings.positions, ""
    print(*header(settings, name), sep="\n", file=file)
    try:
        for step in make_book(settings, tables):
            if step.entry is not None:
                count += 1
                line = step.entry.line(f"{settings.rules.variant} {count}")
                print(line, file=file, flush=True)
            seconds = time.monotonic() - started
            text = f"{count} of {total} positions, {step.tried} tried, {seconds:.0f} s"
            bar.show(count / total, text)
    finally:
        bar.clear()
        if text:  # Otherwise the command was interrupted before the first position was tried.
            notify(text)


def header(settings: BookSettings, name: str) -> list[str]:
    """Return the comment lines at the start of a book.

    They name its rules and the command that makes it, and explain the scores or the tables.
    """
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
    remark = "; The score is the side to move's, in hundredths of a man."
    if settings.proven:
        words += ["-tables", "DIR"]
        remark = "; DIR holds the tables of the whole game."
    return [
        f"; Balanced openings under the rules {rules}, made by merels {full_version()} with",
        f";   {shlex.join(words)}",
        remark,
    ]
