"""Fixtures of the core's tests."""

from __future__ import annotations

import pytest

from merels.engine.core import weights
from tests.engine.core.known_values import count_men


@pytest.fixture
def equal_positions(own_weights: None) -> None:
    """Evaluate all positions as equal, until the test calls `count_men`."""
    weights.ensure()
    count_men(0)
