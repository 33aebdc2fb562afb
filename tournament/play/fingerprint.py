"""Fingerprints of engines' programs, which detect rebuilt or replaced programs."""

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
"""Length of a fingerprint in hexadecimal digits."""
THIS_ORIGIN = Origin(socket.gethostname(), full_version())
"""This machine and this version of merels."""


def fingerprint(engine: EngineSpec) -> str:
    """Return a fingerprint of an engine's program and of the files among its arguments.

    It is the first digits of the SHA-256 of these files' SHA-256 digests, or empty if a file cannot
    be read. For the engine of merels, run by any Python interpreter, the files are the compiled
    core and the weights. Libraries and modules that a script imports are not covered.
    """
    if engine.command[1:] == MERELS[1:]:
        paths = [core.__file__, weights.PATH]
    else:
        program, *arguments = engine.command
        path = locate(program, engine.directory)
        if path is None:
            return ""
        arguments = [os.path.join(engine.directory or "", word) for word in arguments]
        paths = [path, *filter(os.path.isfile, arguments)]
    try:
        files = [(path, os.stat(path)) for path in paths]
        return _digest(tuple((path, stat.st_size, stat.st_mtime_ns) for path, stat in files))
    except OSError:
        return ""


@lru_cache(maxsize=1024)
def _digest(files: tuple[tuple[str, int, int], ...]) -> str:
    """Return the digest of files, cached by path, size in bytes and modification time."""
    digest = hashlib.sha256()
    for path, _, _ in files:
        with open(path, "rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:DIGITS]


def changed_programs(journal: Journal, settings: Settings) -> list[str]:
    """Return a sentence for each engine whose fingerprint differs from all those in the journal."""
    stored = fingerprints(journal)
    texts = []
    for entrant in settings.engines:
        now, earlier = fingerprint(entrant.engine), sorted(stored.get(entrant.name, ()))
        if now and earlier and now not in earlier:
            texts.append(
                f"the program of {entrant.name} has changed since it played (fingerprint now "
                f"{now}, then {', '.join(earlier)}); merels ratings -split program rates them "
                "separately"
            )
    return texts
