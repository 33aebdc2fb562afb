"""A browser, and pages in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kit.webdriver import Browser, missing
from tests.protocol.board.conftest import clock_time as clock_time, server as server
from tests.protocol.board.server import Server
from tests.protocol.board.steps import console_errors, stop_engines
from tests.tournament.conftest import (
    end_runs_after_each_test as end_runs_after_each_test,
    engines as engines,
)
from tests.tournament.report.conftest import played as played


@pytest.fixture(scope="session")
def session_browser() -> Iterator[Browser]:
    """A headless Chromium for all files that this process runs."""
    reason = missing()
    if reason:
        pytest.skip(f"no browser: {reason}")
    with Browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def chromium(session_browser: Browser) -> Iterator[Browser]:
    """A browser with one empty tab and no stored data, for the tests of a file.

    The pages of an ended server would leave errors to the next file.
    """
    session_browser.reset()
    yield session_browser


@pytest.fixture
def browser(chromium: Browser) -> Iterator[Browser]:
    """A browser of desktop size; after the test, its console must have no messages."""
    chromium.keep_tab(chromium.tabs()[0])
    chromium.set_view(1280, 900)
    chromium.messages()
    yield chromium
    assert chromium.messages() == []


@pytest.fixture
def page(server: Server, chromium: Browser) -> Iterator[Browser]:
    """A browser with a new board at desktop size; the test must leave no console errors."""
    chromium.keep_tab(chromium.tabs()[0])
    chromium.set_view(1280, 860)
    server.let_in(chromium)
    # A file of the same origin gives access to sessionStorage without running the page's scripts.
    chromium.open(server.address + "theme.css")
    chromium.messages()  # The server of an earlier test has ended while its page was open.
    chromium.run("sessionStorage.clear(); localStorage.clear()")
    chromium.open(server.address)
    chromium.wait_for_count(".target", 24)
    # Hide the offer to resume the game of an earlier test.
    chromium.run("document.getElementById('resume').hidden = true")
    yield chromium
    errors = console_errors(chromium)
    stop_engines(chromium)
    assert errors == []
