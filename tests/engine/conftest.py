"""Fixtures of the engine's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from merels.engine.core import weights


@pytest.fixture
def own_weights() -> Iterator[None]:
    """Reload the package's weights after a test that loads others."""
    yield
    weights.load()
