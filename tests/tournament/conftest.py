"""Fixtures of the tournament's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from merels.tournament.pool import EnginePool
from tests.processes import assert_none_is_left


@pytest.fixture
def engines() -> Iterator[EnginePool]:
    """A pool that leaves no process behind."""
    with EnginePool() as pool:
        yield pool
    assert_none_is_left()
