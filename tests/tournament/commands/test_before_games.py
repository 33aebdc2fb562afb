"""Errors about processors and a notice about the book, before the first game."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.tournament.processes import Marked, play
from tests.tournament.specs import match, parallel

pytestmark = pytest.mark.thorough

needs_affinity = pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity"), reason="this system pins nothing"
)
ONE_GAME = ("-rounds", "1", "-games", "1")


def run_on_one_core(*words: str, **options: object) -> tuple[int, str, str]:
    """Run a tournament on one core; return status, output and errors."""
    core = min(os.sched_getaffinity(0))
    run = Marked(*words, preexec_fn=lambda: os.sched_setaffinity(0, {core}), **options)
    return run.wait()


@needs_affinity
def test_more_games_at_once_than_processors_are_refused_unless_forced(tmp_path: Path) -> None:
    journal = tmp_path / "j.db"
    journal_flags = ("-journal", str(journal))
    status, out, err = run_on_one_core(*match(*ONE_GAME, "-concurrency", "2", *journal_flags))
    assert (status, out, err.count("\n")) == (2, "", 1) and not journal.exists()
    assert "'-concurrency 2': merels may use 1 processor" in err
    assert "give -concurrency 1" in err and "-force-concurrency" in err

    status, out, err = run_on_one_core(*match(*ONE_GAME, *parallel(2), *journal_flags))
    assert status == 0 and "Finished game 1" in out
    # The journal stores -force-concurrency, but only for its own command line.
    assert run_on_one_core("-resume", *journal_flags)[0] == 0
    words = match(*ONE_GAME, "-concurrency", "2", *journal_flags)
    status, _, err = run_on_one_core("-resume", *words)
    assert status == 2 and "-force-concurrency" in err


@pytest.mark.parametrize(
    ("fields", "has_notice"),
    [((), False), (("-set", "Repetition=5"), False), (("-set", "NoRemovalPlies=200"), True)],
)
def test_a_notice_names_rules_beyond_the_proofs_of_a_book(
    fields: tuple[str, ...], has_notice: bool
) -> None:
    words = match(*ONE_GAME, "-openings", "book", "-variant", "morris", *fields, "-quiet")
    _, err = play(*words)
    note = "proven drawn under morris, not under morris NoRemovalPlies=200: one side may be winning"
    assert (note in err) is has_notice
