"""Signals to a search, sent before or after it begins."""

from __future__ import annotations

import pytest

from merels.engine.core import core
from merels.engine.game.position import WHITE
from merels.engine.game.score import Score
from merels.engine.search.limits import Limit
from merels.engine.search.signals import Signals
from merels.engine.search.time_management import TimeManager

LONG_AGO = core.monotonic_ns() - 10**12


def time_manager(seconds: float | None, *, pondering: bool = False) -> TimeManager:
    return TimeManager(Limit(time=seconds), WHITE, 0.0, pondering=pondering, asked=LONG_AGO)


def test_a_search_is_due_once_it_is_stopped_or_its_time_is_over() -> None:
    signals = Signals()
    assert not signals.due(), "no search has started"
    signals.begin(time_manager(None))
    assert not signals.due(), "the search has no time limit"
    signals.stop()
    assert signals.due()
    for seconds, is_due in ((1.0, True), (10_000.0, False)):
        signals = Signals()
        signals.begin(time_manager(seconds))
        assert signals.due() == is_due


@pytest.mark.parametrize("is_early", [True, False])
def test_a_stop_counts_before_and_after_the_search_begins(is_early: bool) -> None:
    signals = Signals()
    for step in (signals.stop, lambda: signals.begin(time_manager(None)))[:: 1 if is_early else -1]:
        step()
    assert signals.due() and signals.stopped
    signals.wait()


@pytest.mark.parametrize("is_early", [True, False])
def test_the_time_of_a_pondering_search_counts_from_the_ponderhit(is_early: bool) -> None:
    for hit, is_due in ((LONG_AGO, True), (core.monotonic_ns() + 10**12, False)):
        signals, manager = Signals(), time_manager(1.0, pondering=True)
        if is_early:
            signals.ponderhit(hit)
            signals.begin(manager)
        else:
            signals.begin(manager)
            assert not signals.due()
            signals.ponderhit(hit)
        assert (signals.due(), manager.pondering, manager.started) == (is_due, False, hit)
        signals.wait()


def pondering_on_a_clock(seconds: int) -> tuple[Signals, TimeManager]:
    """Return a search that has pondered for this time, with an hour on its clock."""
    signals, asked = Signals(), core.monotonic_ns() - seconds * 10**9
    manager = TimeManager(Limit(white_clock=3600.0), WHITE, 0.0, pondering=True, asked=asked)
    signals.begin(manager)
    return signals, manager


@pytest.mark.parametrize(
    ("seconds", "score", "is_over"),
    [(1000, Score(cp=0), True), (0, Score(cp=0), False), (0, Score(win_in=3), True)],
)
def test_a_pondering_search_that_would_have_stopped_ends_at_the_ponderhit(
    seconds: int, score: Score, is_over: bool
) -> None:
    signals, manager = pondering_on_a_clock(seconds)
    assert not manager.enough(1, 4, score) and not signals.due()
    signals.ponderhit()
    assert signals.due() == is_over
    assert manager.enough(1, 5, Score(cp=0)) == is_over


def test_a_ponderhit_during_a_long_iteration_ends_a_search_whose_time_has_passed() -> None:
    """Without pondering, the clock would have interrupted the iteration."""
    signals, _ = pondering_on_a_clock(1000)
    assert not signals.due()
    signals.ponderhit()
    assert signals.due()
