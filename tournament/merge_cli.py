"""``merels merge``: one journal from those of a tournament that was played in parts."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import sys
from collections.abc import Sequence

from merels.engine.errors import InputError
from merels.protocol.console import guarded, make_parser
from merels.tournament.files import file_error
from merels.tournament.settings import MAY_GROW, differences
from merels.tournament.store import Journal, JournalError, connect, read_journal

DESCRIPTION = """\
Joins the journals IN of one tournament, played in parts (merels tournament -shard i/n) or on
several machines, into the new journal OUT. A game that is in several of them is taken once, from
the first. Journals of different tournaments are refused, and it is said what differs.

What is still missing can be played: merels tournament -journal file=OUT -resume"""


def main(argv: list[str]) -> int:
    """Run ``merels merge``; returns the exit status, 2 for a user's mistake."""
    parser = make_parser("merge", DESCRIPTION)
    parser.add_argument("out", metavar="OUT", help="the journal to write; it must not exist yet")
    parser.add_argument("journals", metavar="IN", nargs="*", help="a journal to take games from")
    arguments = parser.parse_args(argv)
    return guarded("merge", lambda: _merge(arguments.out, arguments.journals))


def _merge(out: str, paths: Sequence[str]) -> int:
    try:
        print(merge(out, paths))
    except JournalError as error:
        print(f"merels merge: {error}", file=sys.stderr)
        return 1
    return 0


def merge(out: str, paths: Sequence[str]) -> str:
    """Write the joined journal, whole or not at all; returns a line that says what is in it."""
    if not paths:
        raise InputError(out, "expected the journals to join behind the one to write")
    if os.path.exists(out):
        raise file_error(out, "this file exists; name another to write to")
    partial = f"{out}.part"
    for leftover in (partial, partial + "-wal", partial + "-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.remove(leftover)
    try:
        with connect(partial) as target:
            total, again = _fill(target, paths)
        os.rename(partial, out)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.remove(partial)
        raise
    doubles = f"; {again} came more than once" if again else ""
    return f"{out}: {total} games from {len(paths)} journals{doubles}"


def _fill(target: Journal, paths: Sequence[str]) -> tuple[int, int]:
    """Copy the games; returns how many there are, and how many came more than once."""
    settings, first = "", ""
    total = again = 0
    for path in paths:
        with read_journal(path) as source:
            theirs = source.meta()["settings"]
            if not first:
                first, settings = path, theirs
                notes = {**source.meta(), "id": secrets.token_hex(8), "shard": "1/1"}
                notes["arguments"] = _whole(notes["arguments"])
                target.create(theirs, notes)
            settings = _common(settings, theirs, first, path)
            for row in source.rows():
                if row.number in target:
                    again += 1
                else:
                    target.append(row)
                    total += 1
    target.set_meta({"settings": settings})
    return total, again


def _whole(arguments: str) -> str:
    """A command line, as JSON, without its ``-shard i/n``."""
    words: list[str] = json.loads(arguments)
    while "-shard" in words:
        place = words.index("-shard")
        del words[place : place + 2]
    return json.dumps(words)


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
