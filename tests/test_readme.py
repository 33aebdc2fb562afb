"""README, guides and the page of strength agree with the program and with stored figures."""

from __future__ import annotations

import doctest
import json
import re
from pathlib import Path

from merels.engine.search.levels import LEVELS
from tests.benchmarks.strength import PARTS, STORE, page

ROOT = Path(__file__).parent.parent
NAMES = {level.name for level in LEVELS}


def test_the_examples_of_the_python_api_run() -> None:
    failed, tried = doctest.testfile(str(ROOT / "protocol" / "python.md"), module_relative=False)
    assert tried > 0 and failed == 0


def test_the_page_has_the_stored_figures() -> None:
    stored = json.loads(STORE.read_text(encoding="utf-8"))
    text = (ROOT / "engine" / "strength.md").read_text(encoding="utf-8")
    assert text == page(stored), "run python -m tests.benchmarks.strength -print"
    for part in PARTS:
        for row in stored[part]:
            assert row["commit"] and row["date"] and row["machine"], row


def test_the_readme_has_at_most_120_lines() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 120


def test_the_readme_repeats_the_ratings_of_the_guide() -> None:
    ratings = (ROOT / "README.md").read_text("utf-8").split("```\n")[7]
    assert all(name in ratings for name in NAMES)
    assert ratings in (ROOT / "tournament" / "guide.md").read_text("utf-8")


def test_readme_and_guide_state_the_measured_span_of_the_ratings() -> None:
    """In a former version they stated the span of the levels' own ratings as the measured one."""
    elos = [row["elo"] for row in json.loads(STORE.read_text(encoding="utf-8"))["levels"]]
    for path in ("README.md", "tournament/guide.md"):
        text = (ROOT / path).read_text(encoding="utf-8")
        (span,) = re.findall(r"600 games per level spans (\d+)|levels span (\d+)", text)
        assert int("".join(span)) == max(elos) - min(elos), path
