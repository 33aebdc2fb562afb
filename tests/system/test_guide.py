"""The output that the guide shows is what the program prints."""

from __future__ import annotations

import re

from tests.commands import output
from tests.test_readme import NAMES, ROOT


def shapes(report: str) -> list[list[str]]:
    """Return each line's words, with placeholders for names and numbers.

    Lines on virtual draws are left out, as only some runs have them.
    """
    return [
        ["NAME" if word in NAMES else re.sub(r"-?\d+(\.\d+)?", "0", word) for word in line.split()]
        for line in report.splitlines()
        if line and not line.startswith("Virtual draws")
    ]


def test_a_tournament_without_flags_prints_what_the_guide_shows() -> None:
    example = (ROOT / "tournament" / "guide.md").read_text("utf-8").split("```\n")[1]
    assert len(shapes(example)) > 3 * len(NAMES)
    quick = ["-quiet", "-each", "nodes=1", "-rounds", "2", "-srand", "1"]
    assert shapes(output("tournament", *quick)) == shapes(example)
