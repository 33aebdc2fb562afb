"""``merels merge``: one journal from those of a tournament that was played in parts."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Sequence

from merels.engine.game.errors import InputError
from merels.protocol.commands.arguments import make_parser
from merels.protocol.commands.exit_status import OK
from merels.tournament.commands.flags import without
from merels.tournament.journal.journal import Journal, connect, read_journal, remove_files
from merels.tournament.records.files import create_partial, file_error, system_error
from merels.tournament.records.settings import MAY_GROW, differences

OF_A_PART = ("-shard", "-pgnout", "-log")
"""The flags of a part that are not those of the whole: whoever goes on with it plays all of it, and
writes nothing to the part's files."""
DESCRIPTION = """\
Joins the journals IN of one tournament, played in parts (merels tournament -shard i/n) or on
several machines, into the new journal OUT. A game that is in several of them is taken once, from
the first. Journals of different tournaments are refused, and it is said what differs.

What is still missing can be played: merels tournament -journal file=OUT -resume
That writes to no PGN file and no log of a part; -pgnout and -log name those of the whole."""


def main(argv: list[str]) -> int:
    """Run ``merels merge``; returns the exit status."""
    parser = make_parser("merge", DESCRIPTION)
    parser.add_argument("out", metavar="OUT", help="the journal to write; it must not exist yet")
    parser.add_argument("journals", metavar="IN", nargs="*", help="a journal to take games from")
    arguments = parser.parse_args(argv)
    print(merge(arguments.out, arguments.journals))
    return OK


def merge(out: str, paths: Sequence[str]) -> str:
    """Write the joined journal, whole or not at all; returns a line that says what is in it."""
    if not paths:
        raise InputError(out, "expected the journals to join behind the one to write")
    _check_free(out)
    partial = create_partial(out)
    try:
        with connect(partial) as target:
            target.path = out  # Errors speak of what the user named.
            total, again = _fill(target, paths)
            # Only the file is renamed: what is not in it by now would be lost.
            target.fold()
        _check_free(out)
        os.rename(partial, out)
    except BaseException as error:
        remove_files(partial)
        if isinstance(error, OSError):
            raise system_error(out, "write", error) from None
        raise
    doubles = f"; {again} came more than once" if again else ""
    journals = "journal" if len(paths) == 1 else "journals"
    return f"{out}: {total} games from {len(paths)} {journals}{doubles}"


def _check_free(out: str) -> None:
    """Raise an `InputError` where there is something already."""
    if os.path.lexists(out):
        raise file_error(out, "this file exists; name another to write to")


def _fill(target: Journal, paths: Sequence[str]) -> tuple[int, int]:
    """Copy the games; returns how many there are, and how many came more than once."""
    first = settings = arguments = ""
    numbers: set[int] = set()
    again = 0
    for path in paths:
        with read_journal(path) as source:
            notes = source.meta()
            if not first:
                first = path
                target.create(notes["settings"], {**notes, "id": secrets.token_hex(8)})
            common = _common(settings or notes["settings"], notes["settings"], first, path)
            if common != settings:
                settings, arguments = common, notes["arguments"]
            for row in source.rows():
                if row.number in numbers:
                    again += 1
                else:
                    target.append(row)
                    numbers.add(row.number)
    whole = without(json.loads(arguments), OF_A_PART)
    target.set_meta({"settings": settings, "arguments": json.dumps(whole)})
    return len(numbers), again


def _common(settings: str, theirs: str, first: str, path: str) -> str:
    """The settings of both, with the larger number of rounds; an error says what differs."""
    ours_rounds, their_rounds = (json.loads(text)[MAY_GROW] for text in (settings, theirs))
    larger, smaller = (theirs, settings) if their_rounds > ours_rounds else (settings, theirs)
    changed = differences(larger, smaller)
    if changed:
        raise file_error(
            path, f"this is the journal of another tournament than {first}; " + "; ".join(changed)
        )
    return larger
