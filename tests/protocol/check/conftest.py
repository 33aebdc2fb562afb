"""No test of the check may leave a process behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.processes import assert_none_is_left


@pytest.fixture(autouse=True, scope="package")
def leaves_no_process() -> Iterator[None]:
    """Whatever the engines do, none of their processes is left at the end."""
    yield
    assert_none_is_left()
