"""Fixtures of the tournament's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from merels.tournament.play.engine_cache import EngineCache
from tests.processes import assert_no_engine_is_left
from tests.tournament.processes import end_runs


@pytest.fixture(autouse=True)
def end_runs_after_each_test() -> Iterator[None]:
    """End the runs that a test started, even if the test failed."""
    yield
    end_runs()


@pytest.fixture
def engines() -> Iterator[EngineCache]:
    """Provide an engine cache; after the test, check that no engine is left."""
    with EngineCache() as cache:
        yield cache
    assert_no_engine_is_left()
