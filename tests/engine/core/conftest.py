"""Fixtures of the core's tests."""

from __future__ import annotations

import pytest

from merels.engine.core import weights
from tests.engine.core.known_values import count_men


@pytest.fixture
def equal_positions(own_weights: None) -> None:
    """All positions are equal, until a test counts men."""
    weights.ensure()
    count_men(0)
