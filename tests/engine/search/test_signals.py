"""Signals to a search, sent before or after it begins."""

from __future__ import annotations

import pytest

from merels.engine.core import core
from merels.engine.game.position import WHITE
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
