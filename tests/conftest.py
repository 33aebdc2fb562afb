"""What applies to the whole test run."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from tests.protocol.board.webdriver import Browser, missing

# A shell makes its background jobs ignore SIGINT, and that is inherited: the programs that the
# tests interrupt would not notice.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A headless Chromium."""
    why = missing()
    if why:
        pytest.skip(f"no test in a browser: {why}")
    with Browser() as started:
        yield started
