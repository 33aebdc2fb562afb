"""Merging the journals of a tournament that was played in parts."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

from merels.engine.common.errors import InputError, printable
from merels.protocol.common.files import file_error
from merels.tournament.journal.compare import MAY_GROW, differences, listed
from merels.tournament.journal.journal import Journal
from merels.tournament.journal.open import new_journal, read_journal
from merels.tournament.journal.provenance import Provenance
from merels.tournament.journal.rows import SCORES
from merels.tournament.records.settings import LEAGUE, Settings, read_settings

Notes = dict[str, str]
WholeLine = Callable[[list[str]], list[str]]
"""Turns the command line of a part into that of the whole tournament."""


@dataclass(slots=True)
class Joined:
    """Result of merging journals."""

    settings: Settings
    """Settings of the journal with the most rounds."""
    numbers: Collection[int] = ()
    """Numbers of the games in the new journal."""
    duplicates: int = 0
    """Number of games skipped as duplicates."""
    conflicts: list[str] = field(default_factory=list)
    """Sentences on games with different results in two journals."""
    mixtures: list[str] = field(default_factory=list)
    """Sentences on names with several programs, and on several versions of merels."""
    shards: set[tuple[int, int]] = field(default_factory=set)
    """(i, n) of each ``-shard i/n`` in the journals' command lines."""
    is_decided: bool = False
    """Whether the SPRT has accepted a hypothesis."""

    @property
    def games(self) -> int:
        """Number of games in the new journal."""
        return len(self.numbers)


def merge(out: str, paths: Sequence[str], whole_line: WholeLine = list) -> Joined:
    """Write the merged journal, completely or not at all.

    A game in several journals is taken from the first. Raises InputError for journals of different
    tournaments, and if ``out`` exists.
    """
    if not paths:
        raise InputError(out, "expected the journals to merge after the name of the new journal")
    with new_journal(out) as target:
        joined = _fill(target, paths, whole_line)
    return joined


def _fill(target: Journal, paths: Sequence[str], whole_line: WholeLine) -> Joined:
    """Copy the games of all journals, and the notes of the first, with a new id.

    Settings, command line, folder and verdict are those of the journal with the most rounds.
    """
    largest: Notes = {}
    """Notes of the journal with the most rounds so far."""
    origins: dict[int, tuple[str, str]] = {}
    """Journal and result of each game, by number."""
    shards: set[tuple[int, int]] = set()
    provenance, duplicates, conflicts = Provenance(), 0, []
    for path in paths:
        with read_journal(path) as source:
            notes = source.meta()
            settings = read_settings(notes["settings"])
            if settings.is_converted:
                raise file_error(
                    path, "merels convert made this journal from a file of games, and its game "
                    "numbers mean nothing in other journals; leave it out"
                )
            if settings.format == LEAGUE or settings.tuning is not None:
                raise file_error(
                    path, "this is not the journal of a tournament; parts of a league are joined "
                    "with merels league DIR merge DIR2"
                )
            if not largest:
                largest = notes
                meta = {name: text for name, text in notes.items() if name != "verdict"}
                target.create(notes["settings"], {**meta, "id": secrets.token_hex(8)})
            largest = _with_more_rounds(largest, notes, paths[0], path)
            shards |= _shard_of(json.loads(notes["arguments"]))
            # One tuple per result, shared by all games, saves memory.
            origin_of = {result: (path, result) for result in (*SCORES, "*")}
            for row in source.rows():
                origin = origins.get(row.number)
                if origin is None:
                    origins[row.number] = origin_of[row.result]
                    target.append(row)
                    provenance.add(row)
                    continue
                duplicates += 1
                _, earlier_result = origin
                if earlier_result != row.result:
                    results = ", ".join(
                        f"{result} in {printable(name)}"
                        for name, result in (origin, origin_of[row.result])
                    )
                    conflicts.append(f"game {row.number} has two results: {results}")
    line = json.dumps(whole_line(json.loads(largest["arguments"])))
    meta = {name: largest[name] for name in ("folder", "verdict") if name in largest}
    target.set_meta({**meta, "settings": largest["settings"], "arguments": line})
    return Joined(
        read_settings(largest["settings"]), origins.keys(), duplicates, conflicts,
        provenance.mixtures(), shards, "verdict" in largest,
    )


def _shard_of(words: list[str]) -> set[tuple[int, int]]:
    """Return a set with (i, n) of the last ``-shard i/n`` of a command line, or an empty set."""
    shards: set[tuple[int, int]] = set()
    for flag, word in zip(words, words[1:]):
        if flag.lstrip("-") == "shard":
            part, _, count = word.partition("/")
            if part.isdecimal() and count.isdecimal() and len(word) < 20:
                shards = {(int(part), int(count))}
    return shards


def _with_more_rounds(largest: Notes, notes: Notes, first: str, path: str) -> Notes:
    """Return the notes with more rounds; InputError if the tournaments differ."""
    earlier, added = read_settings(largest["settings"]), read_settings(notes["settings"])
    folders = notes.get("folder", os.getcwd()), largest.get("folder", os.getcwd())
    rounds = max(earlier.rounds, added.rounds)
    result = largest if earlier.rounds == rounds else notes
    if earlier.format in MAY_GROW:
        earlier, added = replace(earlier, rounds=rounds), replace(added, rounds=rounds)
    names = [engine.name for engine in added.engines]
    if changed := differences(added, earlier, names, folders):
        what = listed(changed, "here", "there")
        raise file_error(path, f"belongs to a different tournament from {first}: {what}")
    return result
