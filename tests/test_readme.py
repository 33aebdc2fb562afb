"""The output shown in the README and the guides agrees with the program."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from merels.engine.search.levels import LEVELS
from tests.commands import output

ROOT = Path(__file__).parent.parent
NAMES = {level.name for level in LEVELS}


def test_the_examples_of_the_python_api_run() -> None:
    failed, tried = doctest.testfile(str(ROOT / "protocol" / "python.md"), module_relative=False)
    assert tried > 0 and failed == 0


def shapes(report: str) -> list[list[str]]:
    """Return each line's words, with placeholders for names and numbers.

    Lines on virtual draws are left out, as only some runs have them.
    """
    return [
        ["NAME" if word in NAMES else re.sub(r"-?\d+(\.\d+)?", "0", word) for word in line.split()]
        for line in report.splitlines()
        if line and not line.startswith("Virtual draws")
    ]


@pytest.mark.thorough
def test_a_tournament_without_flags_prints_what_the_guide_shows() -> None:
    example = (ROOT / "tournament" / "guide.md").read_text("utf-8").split("```\n")[1]
    assert len(shapes(example)) > 3 * len(NAMES)
    quick = ["-quiet", "-each", "nodes=1", "-rounds", "2", "-srand", "1"]
    assert shapes(output("tournament", *quick)) == shapes(example)


def test_the_readme_has_at_most_120_lines() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 120


def test_the_readme_repeats_the_ratings_of_the_guide() -> None:
    ratings = (ROOT / "README.md").read_text("utf-8").split("```\n")[7]
    assert all(name in ratings for name in NAMES)
    assert ratings in (ROOT / "tournament" / "guide.md").read_text("utf-8")
