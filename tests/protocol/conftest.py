"""Fixtures of the protocol's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.protocol.gui import Gui


@pytest.fixture
def gui() -> Iterator[Gui]:
    """A fresh process of the protocol loop."""
    with Gui() as started:
        yield started
