"""How endings are named, whatever stands before and behind the words that name them."""

from __future__ import annotations

import pytest

from merels.tournament.statistics.terminations import FAULTS, REASONS, Ending


@pytest.mark.parametrize(("words", "reason"), REASONS.items())
def test_a_sentence_may_begin_with_the_words_of_its_reason(words: str, reason: str) -> None:
    for sentence in (words, f"White {words}", f"{words}: stalls, loses on time"):
        assert Ending("A", "B", 0.5, "normal", sentence).reason == reason


def test_an_ending_of_unknown_words_has_its_termination_as_reason() -> None:
    assert Ending("A", "B", 0.5, "normal", "the lights went out").reason == "normal"
    assert Ending("A", "B", None, "unterminated").reason == "unterminated"


@pytest.mark.parametrize(("score", "culprit"), [(1.0, "B"), (0.0, "A"), (0.5, ""), (None, "")])
def test_the_culprit_is_the_loser_of_a_game_that_a_fault_ended(
    score: float | None, culprit: str
) -> None:
    for words, reason in REASONS.items():
        ending = Ending("A", "B", score, "normal", f"White {words}")
        assert ending.culprit == (culprit if reason in FAULTS else "")
