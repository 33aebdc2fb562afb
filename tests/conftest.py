"""Signal handling, options of the kit, marks of the folders that only CI runs, and a fixture."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from merels.engine.core import weights
from tests.kit import session, shards
from tests.kit.session import pytest_runtest_makereport as pytest_runtest_makereport
from tests.kit.shards import (
    pytest_addoption as pytest_addoption,
    pytest_configure as pytest_configure,
    pytest_report_header as pytest_report_header,
)

HOME = session.isolate()
FOLDERS = ("page", "system", "tools")
"""Folders whose tests only CI runs; each test there has the folder's name as a mark."""

# Background jobs of a shell ignore SIGINT, and so do their child processes. Without this line,
# tests could not interrupt the programs that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    tests = Path(__file__).parent
    for item in items:
        for folder in FOLDERS:
            if item.path.is_relative_to(tests / folder):
                item.add_marker(folder)
    shards.shuffle(config, items)


@pytest.fixture
def own_weights() -> Iterator[None]:
    """Reload the package's weights after a test that loads others."""
    yield
    weights.load()
