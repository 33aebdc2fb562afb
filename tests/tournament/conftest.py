"""Fixtures of the tournament's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from merels.tournament.play.engine_cache import EngineCache
from tests.processes import assert_none_is_left
from tests.tournament.processes import end_runs


@pytest.fixture(autouse=True)
def no_run_goes_on() -> Iterator[None]:
    """Whatever a test was waiting for, its tournaments end with it."""
    yield
    end_runs()


@pytest.fixture
def engines() -> Iterator[EngineCache]:
    """A pool that leaves no process behind."""
    with EngineCache() as pool:
        yield pool
    assert_none_is_left()
