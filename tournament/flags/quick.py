"""``-quick``: a match of two programs with a book and usual settings."""

from __future__ import annotations

import os
from collections.abc import Sequence

from merels.engine.common.errors import InputError

QUICK_FLAGS = (
    ("-each", ["tc=10+0.1"]),
    ("-games", ["2"]),
    ("-rounds", ["25000"]),
    ("-draw", ["movenumber=30", "movecount=8", "score=8"]),
    ("-output", ["format=cutechess"]),
)
"""Flags that ``-quick`` sets unless the command line gives them, with their values."""
SPARE_CORES = 2
"""Number of cores that ``-quick`` leaves idle."""


def quick_flags(words: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return the flags that ``-quick cmd=A cmd=B book=FILE`` stands for, with their values."""
    form = "-quick cmd=A cmd=B book=FILE"
    pairs = [word.partition("=")[::2] for word in words]
    for key, _ in pairs:
        if key not in ("cmd", "book"):
            raise InputError(key, f"expected {form}")
    books = [value for key, value in pairs if key == "book" and value]
    programs = [value for key, value in pairs if key == "cmd" and value]
    if len(programs) != 2 or len(books) != 1:
        raise InputError("-quick", f"expected two programs and a book: {form}")
    concurrency = max(1, len(usable_cores()) - SPARE_CORES)
    return [
        *(("-engine", [f"cmd={program}"]) for program in programs),
        ("-openings", [f"file={books[0]}", "order=random"]),
        ("-concurrency", [str(concurrency)]),
        *QUICK_FLAGS,
    ]


def usable_cores() -> list[int]:
    """Return the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))
