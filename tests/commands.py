"""Running a command of merels in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from merels.tournament.commands.main import main


def command(name: str) -> Callable[[Sequence[str]], int]:
    """What runs ``merels NAME`` with the words behind it and returns the exit status."""
    return lambda words: main([name, *words])
