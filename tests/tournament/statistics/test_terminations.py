"""Reasons of endings, and the engines at fault."""

from __future__ import annotations

import pytest

from merels.tournament.statistics.terminations import CAUSES, FAULTS, Ending


@pytest.mark.parametrize(("cause", "termination"), CAUSES.items())
def test_an_ending_has_its_cause_as_reason(cause: str, termination: str) -> None:
    assert Ending("A", "B", 0.5, termination, cause).reason == cause


def test_an_ending_of_unknown_cause_has_its_termination_as_reason() -> None:
    assert Ending("A", "B", 0.5, "normal").reason == "normal"
    assert Ending("A", "B", None, "unterminated").reason == "unterminated"


@pytest.mark.parametrize(("score", "culprit"), [(1.0, "B"), (0.0, "A"), (0.5, ""), (None, "")])
def test_the_culprit_is_the_engine_that_lost_by_a_fault(score: float | None, culprit: str) -> None:
    for cause, termination in CAUSES.items():
        ending = Ending("A", "B", score, termination, cause)
        assert ending.culprit == (culprit if cause in FAULTS else "")
