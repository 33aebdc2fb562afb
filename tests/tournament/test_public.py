"""Public names of `merels.tournament`."""

from __future__ import annotations

import doctest

import merels.tournament


def test_public_names_exist_and_the_example_runs() -> None:
    assert all(getattr(merels.tournament, name) for name in merels.tournament.__all__)
    failures, examples = doctest.testmod(merels.tournament)
    assert examples and not failures
