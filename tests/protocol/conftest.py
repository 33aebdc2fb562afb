"""Fixtures of the protocol layer's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.processes import assert_no_engine_is_left
from tests.protocol.gui import Gui, LocalGui


@pytest.fixture
def no_engine_is_left() -> Iterator[None]:
    """Fail if the test leaves an engine process."""
    yield
    assert_no_engine_is_left()


@pytest.fixture
def gui() -> Iterator[Gui]:
    """A new engine in a thread of this process."""
    with LocalGui() as engine:
        yield engine


@pytest.fixture
def process() -> Iterator[Gui]:
    """A new engine process."""
    with Gui() as engine:
        yield engine
