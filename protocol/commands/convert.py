"""``merels convert``: write positions, games and rules in another form."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from merels.engine.common.errors import InputError
from merels.protocol.commands.arguments import (
    add_flag,
    add_rules_flags,
    leave_variant_open,
    make_parser,
    record_rules,
    rules_of,
)
from merels.protocol.commands.exit_status import OK
from merels.protocol.commands.faults import Faults
from merels.protocol.common.files import check_output, errors_at, write_report
from merels.protocol.common.notices import notify
from merels.protocol.formats.files import JOURNAL, Journals, read_file
from merels.protocol.formats.forms import FORMS, RULES, omissions, write
from merels.protocol.games.record import Record

DESCRIPTION = """\
Writes positions, games and rules in another form:
  six        a position in six fields, as merels writes it
  seventeen  a position in the 17 fields of Sanmill
  mfen       a position as MFEN/1.0 of the Mill Interchange Format
  pgn        games with tags, comments, annotation glyphs and variations
  playok     games in PlayOK's numbers, without comments and variations
  wmd        only the moves of games, in the notation of the WMD, which merels also uses
  rules      a rule set by its name and the changed fields, such as morris Flying=never"""
_EPILOG = """\
A file has one position or rule set per line; a semicolon starts a comment. A game is read by the
rules of its Variant tag; -variant overrides the tag, and -set changes fields of its rules. Without
a FILE, -to rules writes the rules that -variant and -set choose.

A game that cannot be read is skipped: a line on standard error names its number and the reason, the
other games are written, and the exit status is 1, or 2 if nothing can be read. With -strict, the
first such game ends the command with status 2. A game with moves after its end is unreadable.
Moves after a draw by repetition, without a removal, or of three against three are read, because
other programs do not enforce these draws; a line on standard error names the draw. If the Result
tag and the result after the last move differ, the latter is used unless it is *; a line names both.
A line also names a result that contradicts the last position. Move numbers must count the moves or
the plies.

Content that the form cannot express is an error: a removal that is still due, the moves of a game
as a position, a start position in PlayOK's or the WMD's form.
Content that the form merely leaves out, such as comments, is named on standard error.
"""


def main(argv: list[str], journals: Journals) -> int:
    """Run ``merels convert``; return the exit status. ``journals`` opens journals."""
    parser = make_parser("convert", DESCRIPTION, _EPILOG)
    parser.add_argument(
        "files", metavar="FILE", nargs="*", help="a file to convert (default: standard input, -)"
    )
    add_flag(parser, "to", metavar="FORM", choices=FORMS, required=True, help="the form to write")
    add_flag(
        parser, "from", dest="source", metavar="FORM", choices=(*FORMS, JOURNAL),
        help="the form of the files, also journal (default: detected)",
    )
    add_flag(parser, "last", action="store_true", help="write the last position of a game")
    add_flag(parser, "out", metavar="FILE", help="write to this file (default: standard output)")
    add_flag(
        parser, "strict", action="store_true",
        help="stop at the first game, position or rule set that cannot be read",
    )
    add_rules_flags(parser)
    leave_variant_open(parser)
    arguments = parser.parse_args(argv)
    has_rules = arguments.variant is not None or bool(arguments.set)
    if has_rules and not arguments.files and arguments.to == RULES:
        write_report(arguments.out, write(rules_of(arguments), arguments.to, False))
        return OK
    return _convert(arguments, journals)


def _convert(arguments: argparse.Namespace, journals: Journals) -> int:
    """Write all items in the requested form, report omissions, and return the exit status."""
    form, out, files = arguments.to, arguments.out, arguments.files or ["-"]
    rules = record_rules(arguments)
    omitted: set[str] = set()
    faults = Faults(arguments.strict)

    def written() -> Iterator[str]:
        for path in files:
            for found in read_file(path, arguments.source, journals):
                try:
                    item = found.read(rules, arguments.source)
                except InputError as error:
                    faults.skip(error)
                    continue
                faults.read += 1
                with errors_at(found.place):
                    text = write(item, form, arguments.last)
                if isinstance(item, Record):
                    faults.notice(item, found.place)
                    omitted.update(omissions(item, form, rules.default))
                yield text

    if out is None:
        for text in written():
            sys.stdout.write(text)
    else:
        check_output(out, files)
        report = "".join(written())
        if faults.read:
            write_report(out, report)
    if omitted:
        notify(f"{form} has no place for these: {', '.join(sorted(omitted))}")
    return faults.status
