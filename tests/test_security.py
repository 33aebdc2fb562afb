"""SECURITY.md names at least one test for each promise, and all of these tests exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_every_promise_names_tests_that_exist() -> None:
    text = (ROOT / "SECURITY.md").read_text("utf-8").partition("## Reporting")[0]
    promises = re.findall(r"^- .*\n(?:  .*\n)*", text, re.M)
    assert len(promises) > 10
    for promise in promises:
        named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", promise)
        assert named, promise
        for path, name in named:
            assert f"def {name}(" in (ROOT / path).read_text("utf-8"), f"{path}::{name}"
