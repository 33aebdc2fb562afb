"""Joining the journals of a tournament that was played in parts."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from merels.engine.game.errors import InputError
from merels.tournament.journal.compare import MAY_GROW, differences, listed
from merels.tournament.journal.journal import Journal
from merels.tournament.journal.open import new_journal, read_journal
from merels.tournament.records.files import file_error
from merels.tournament.records.settings import read_settings

Words = list[str]
Notes = dict[str, str]


class Joined(NamedTuple):
    """How many games a joined journal has, and how many came more than once."""

    games: int
    again: int


def merge(out: str, paths: Sequence[str], whole: Callable[[Words], Words] = list) -> Joined:
    """Write the joined journal, whole or not at all.

    A game that is in several of them is taken from the first. ``whole`` turns the command line of
    a part into that of the whole. `InputError` for journals of different tournaments, and where
    ``out`` exists.
    """
    if not paths:
        raise InputError(out, "expected the journals to join behind the one to write")
    with new_journal(out) as target:
        joined = _fill(target, paths, whole)
    return joined


def _fill(target: Journal, paths: Sequence[str], whole: Callable[[Words], Words]) -> Joined:
    """Copy the games of each journal, and the settings and command line with the most rounds."""
    kept: Notes = {}
    numbers: set[int] = set()
    again = 0
    for path in paths:
        with read_journal(path) as source:
            notes = source.meta()
            if not kept:
                kept = notes
                target.create(notes["settings"], {**notes, "id": secrets.token_hex(8)})
            kept = _larger(kept, notes, paths[0], path)
            for row in source.rows():
                if row.number in numbers:
                    again += 1
                else:
                    target.append(row)
                    numbers.add(row.number)
    line = json.dumps(whole(json.loads(kept["arguments"])))
    folder = {"folder": kept["folder"]} if "folder" in kept else {}
    target.set_meta({"settings": kept["settings"], "arguments": line, **folder})
    return Joined(len(numbers), again)


def _larger(kept: Notes, notes: Notes, first: str, path: str) -> Notes:
    """The notes with the larger number of rounds; an error says how the tournaments differ."""
    before, found = (read_settings(each["settings"]) for each in (kept, notes))
    here, there = (each.get("folder", os.getcwd()) for each in (notes, kept))
    most = max(before.rounds, found.rounds)
    larger = kept if before.rounds == most else notes
    if before.format in MAY_GROW:
        before, found = replace(before, rounds=most), replace(found, rounds=most)
    names = [engine.name for engine in found.engines]
    if changed := differences(found, before, names, (here, there)):
        what = listed(changed, "here", "there")
        raise file_error(path, f"this is the journal of another tournament than {first}; {what}")
    return larger
