"""Fingerprints of engines' programs, by which a rebuilt or swapped one is noticed."""

from __future__ import annotations

import hashlib
import os
import socket
from functools import lru_cache

from merels.engine import full_version
from merels.engine.core import core, weights
from merels.protocol.client.engine_spec import MERELS, EngineSpec
from merels.protocol.process.command import locate
from merels.tournament.journal.journal import Journal
from merels.tournament.journal.provenance import fingerprints
from merels.tournament.records.games import Origin
from merels.tournament.records.settings import Settings

DIGITS = 16
"""Hexadecimal digits of a fingerprint."""
HERE = Origin(socket.gethostname(), full_version())
"""This machine, and this version of merels."""


def fingerprint(engine: EngineSpec) -> str:
    """The start of the SHA-256 of an engine's program and of the files among its arguments.

    Of merels' own engine, it is that of the compiled core and the weights. Libraries, and modules
    that a script imports, are not covered. Empty where there is no such program.
    """
    if engine.command[1:] == MERELS[1:]:
        paths = [core.__file__, weights.PATH]
    else:
        program, *arguments = engine.command
        found = locate(program, engine.directory)
        if found is None:
            return ""
        inside = (os.path.join(engine.directory or "", word) for word in arguments)
        paths = [found, *(path for path in inside if os.path.isfile(path))]
    try:
        files = [(path, os.stat(path)) for path in paths]
        return _digest(tuple((path, stat.st_size, stat.st_mtime_ns) for path, stat in files))
    except OSError:
        return ""


@lru_cache(maxsize=1024)
def _digest(files: tuple[tuple[str, int, int], ...]) -> str:
    """The digest of files, each with its size and the time of its last change."""
    whole = hashlib.sha256()
    for path, _, _ in files:
        with open(path, "rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()[:DIGITS]


def changed_programs(journal: Journal, settings: Settings) -> list[str]:
    """A sentence for each engine whose program is none of those that played in a journal."""
    known = fingerprints(journal)
    texts = []
    for entrant in settings.engines:
        now, before = fingerprint(entrant.engine), sorted(known.get(entrant.name, ()))
        if now and before and now not in before:
            texts.append(
                f"the program of {entrant.name} has changed since it played (SHA-256 now {now}, "
                f"then {', '.join(before)}); merels ratings -split program separates them"
            )
    return texts
