"""The README keeps its word."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

from tests.commands import output

ROOT = Path(__file__).parent.parent


def test_its_examples_run() -> None:
    failed, tried = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert tried > 0 and failed == 0


def columns(table: str) -> set[tuple[str, ...]]:
    """The rows of a table without their numbers."""
    return {tuple(re.findall(r"[^\s\d.%-]+", row)) for row in table.strip().splitlines()}


def test_its_tables_are_those_of_a_tournament_without_flags() -> None:
    words = ["-quiet", "-each", "nodes=1", "-rounds", "1", "-maxmoves", "2"]
    report = output("tournament", *words)
    standings, crosstable = (ROOT / "README.md").read_text("utf-8").split("```\n")[1].split("\n\n")
    shown = report.split("\n\n")
    assert [columns(standings), columns(crosstable)] == [columns(table) for table in shown[:2]]
