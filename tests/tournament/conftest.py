"""Fixtures of the tournament's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from merels.tournament.play.engine_cache import EngineCache
from tests.processes import assert_no_engine_is_left
from tests.tournament.processes import end_runs


@pytest.fixture(autouse=True)
def end_runs_after_each_test() -> Iterator[None]:
    """End the tournaments that a test started, even if it failed."""
    yield
    end_runs()


@pytest.fixture
def engines() -> Iterator[EngineCache]:
    """Provide an engine cache; check that it leaves no process behind."""
    with EngineCache() as cache:
        yield cache
    assert_no_engine_is_left()
