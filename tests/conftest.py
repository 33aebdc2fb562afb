"""What applies to the whole test run."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from tests.protocol.board.webdriver import Browser, missing

# A shell makes its background jobs ignore SIGINT, and that is inherited: the programs that the
# tests interrupt would not notice.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What happens in a browser is thorough."""
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.thorough)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A headless Chromium."""
    why = missing()
    if why:
        pytest.skip(f"no test in a browser: {why}")
    with Browser() as started:
        yield started
