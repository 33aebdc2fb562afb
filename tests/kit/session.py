"""The environment of a run of the tests: folders of its own, and no skipped test in CI."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

MAY_SKIP = (
    "no qemu-x86_64 here",  # the emulator of another processor
    "this machine pauses its processes",  # a busy host of virtual machines
    "no __buffer__ before Python 3.12",
    "the finder of an editable installation",  # for developers only
)
"""Beginnings of the reasons for which a test may skip even in CI, where ``MERELS_CI`` is 1."""

BUILT_TABLES = "MERELS_TESTS_TABLES"
"""Environment variable: folder of `tests.kit.tables`, which all processes of a run share."""
OPTIONS = ""
"""Further options of this run, from ``PYTEST_ADDOPTS``; tests that run pytest do not get them."""


def isolate() -> Path:
    """Give this process and its children empty folders of a user; return their common folder.

    Call this function before merels is imported. The folders are removed at exit.
    """
    global OPTIONS
    OPTIONS = os.environ.pop("PYTEST_ADDOPTS", "")
    home = Path(tempfile.mkdtemp(prefix="merels-tests-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    for name in [name for name in os.environ if name.startswith(("MERELS_", "XDG_"))]:
        if name not in ("MERELS_CI", BUILT_TABLES):
            del os.environ[name]
    folders = {
        "HOME": home, "USERPROFILE": home, "LOCALAPPDATA": home / "local",
        "XDG_CACHE_HOME": home / "cache", "XDG_DATA_HOME": home / "data",
        "XDG_CONFIG_HOME": home / "config", "MERELS_TABLES": home / "tables",
        "MERELS_GAMES": home / "games",
    }  # fmt: skip
    os.environ.update({name: str(path) for name, path in folders.items()})
    os.environ.setdefault(BUILT_TABLES, str(home / "built"))
    return home


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Turn a skip into a failure in CI: a test that does not run there guards nothing."""
    report = yield
    if os.environ.get("MERELS_CI") == "1" and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        if not str(reason).removeprefix("Skipped: ").startswith(MAY_SKIP):
            report.outcome = "failed"
            report.longrepr = f"must not skip in CI: {reason}; see MAY_SKIP in tests/kit/session.py"
    return report
