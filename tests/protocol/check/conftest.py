"""A fixture that finds processes left by tests of the check."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.processes import assert_no_engine_is_left


@pytest.fixture(autouse=True, scope="package")
def leaves_no_process() -> Iterator[None]:
    """Fail if a process of an engine still runs after the tests of this package."""
    yield
    assert_no_engine_is_left()
