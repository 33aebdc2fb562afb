"""Joining the journals of a tournament that was played in parts."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

from merels.engine.common.errors import InputError, printable
from merels.engine.common.files import file_error
from merels.tournament.journal.compare import MAY_GROW, differences, listed
from merels.tournament.journal.journal import Journal
from merels.tournament.journal.open import new_journal, read_journal
from merels.tournament.journal.provenance import Provenance
from merels.tournament.journal.rows import SCORES
from merels.tournament.records.settings import Settings, read_settings

Words = list[str]
Notes = dict[str, str]


@dataclass(slots=True)
class Joined:
    """The result of joining journals."""

    settings: Settings
    """Those with the most rounds."""
    numbers: Collection[int] = ()
    """Those of the new journal's games."""
    again: int = 0
    """How many games came more than once."""
    conflicts: list[str] = field(default_factory=list)
    """A sentence for each game with different results in two journals."""
    mixtures: list[str] = field(default_factory=list)
    """A sentence for each name that was several programs."""
    shards: set[tuple[int, int]] = field(default_factory=set)
    """The parts (i, n) that the journals are, as far as their command lines name them."""
    is_decided: bool = False
    """Whether the test of the match has accepted a hypothesis."""

    @property
    def games(self) -> int:
        """How many games the new journal has."""
        return len(self.numbers)


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
    origins: dict[int, tuple[str, str]] = {}
    """By number, the journal that a game is from and its result."""
    shards: set[tuple[int, int]] = set()
    provenance, again, conflicts = Provenance(), 0, []
    for path in paths:
        with read_journal(path) as source:
            notes = source.meta()
            if not kept:
                kept = notes
                target.create(notes["settings"], {**notes, "id": secrets.token_hex(8)})
            kept = _larger(kept, notes, paths[0], path)
            shards |= _shard_of(json.loads(notes["arguments"]))
            found = {result: (path, result) for result in (*SCORES, "*")}
            for row in source.rows():
                first = origins.setdefault(row.number, found[row.result])
                if first is found[row.result]:
                    target.append(row)
                    provenance.add(row)
                    continue
                again += 1
                if first[1] != row.result:
                    one, other = (f"{result} in {printable(name)}"
                                  for name, result in (first, found[row.result]))
                    conflicts.append(f"game {row.number} has two results: {one}, {other}")
    line = json.dumps(whole(json.loads(kept["arguments"])))
    folder = {"folder": kept["folder"]} if "folder" in kept else {}
    target.set_meta({"settings": kept["settings"], "arguments": line, **folder})
    return Joined(
        read_settings(kept["settings"]), origins.keys(), again, conflicts, provenance.mixtures(),
        shards, "verdict" in kept,
    )


def _shard_of(words: Words) -> set[tuple[int, int]]:
    """The part (i, n) that a command line names; none, or the last of several."""
    found: set[tuple[int, int]] = set()
    for flag, word in zip(words, words[1:]):
        if flag.lstrip("-") == "shard":
            part, _, count = word.partition("/")
            if part.isdecimal() and count.isdecimal() and len(word) < 20:
                found = {(int(part), int(count))}
    return found


def _larger(kept: Notes, notes: Notes, first: str, path: str) -> Notes:
    """Return the notes with more rounds; raise an error with the differences of the tournaments."""
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
