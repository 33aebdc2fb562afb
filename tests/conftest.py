"""Signal handling, markers and fixtures for all tests."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from tests.protocol.board.webdriver import Browser, missing

# Background jobs of a shell ignore SIGINT, and so do their child processes. Without this line,
# tests could not interrupt the programs that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all browser tests as thorough."""
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.thorough)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A headless Chromium."""
    reason = missing()
    if reason:
        pytest.skip(f"no browser: {reason}")
    with Browser() as browser:
        yield browser
