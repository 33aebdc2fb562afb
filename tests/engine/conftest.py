"""Fixtures of the engine's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from merels.engine.core import weights


@pytest.fixture
def own_weights() -> Iterator[None]:
    """Lets a test load other weights; the package's are loaded again after it."""
    yield
    weights.load()
