"""Public names of `merels.tournament`."""

from __future__ import annotations

import doctest

import merels.tournament


def test_public_names_exist_and_the_example_runs() -> None:
    assert all(getattr(merels.tournament, name) for name in merels.tournament.__all__)
    failed, tried = doctest.testmod(merels.tournament)
    assert tried and not failed
