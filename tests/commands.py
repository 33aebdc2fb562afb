"""Running a command of merels in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from merels.tournament.commands.main import main


def command(name: str) -> Callable[[Sequence[str]], int]:
    """What runs ``merels NAME`` with the words behind it and returns the exit status."""
    return lambda words: main([name, *words])


def run(capsys: pytest.CaptureFixture[str], words: Sequence[str]) -> tuple[int, str, str]:
    """Run ``merels`` with some words; returns its exit status, output and errors."""
    capsys.readouterr()
    status = main(list(words))
    return status, *capsys.readouterr()
