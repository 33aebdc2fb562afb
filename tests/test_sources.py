"""What holds of every source: what it may import, which clock it reads, how long its lines are."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BELOW = {
    "engine": {"engine"},
    "protocol": {"engine", "protocol"},
    "tournament": {"engine", "protocol", "tournament"},
}
"""The floors that the modules of each floor may know."""


def modules(floor: str) -> list[Path]:
    """The sources of a floor."""
    found = sorted((ROOT / floor).rglob("*.py"))
    assert len(found) > 10
    return found


def imported(path: Path) -> Iterator[str]:
    """The full names of what a module imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module is not None, "no relative imports"
            yield from (f"{node.module}.{one.name}" for one in node.names)


@pytest.mark.parametrize("floor", BELOW)
def test_a_floor_knows_itself_those_below_and_the_standard_library(floor: str) -> None:
    for path in modules(floor):
        for name in imported(path):
            first, _, rest = name.partition(".")
            if first == "merels":
                assert rest.partition(".")[0] in BELOW[floor], f"{path}: {name}"
            else:
                assert first in sys.stdlib_module_names, f"{path}: {name}"


@pytest.mark.parametrize("floor", BELOW)
def test_no_clock_that_can_be_set_tells_how_long_something_took(floor: str) -> None:
    for path in modules(floor):
        assert not {"time.time", "time.time_ns"} & set(imported(path)), path
        assert not re.search(r"\btime\.time(_ns)?\(", path.read_text(encoding="utf-8")), path


@pytest.mark.parametrize("folder", [*BELOW, "tests"])
def test_lines_have_at_most_a_hundred_characters(folder: str) -> None:
    kinds = {".py", ".pyx", ".pxi", ".pyi", ".js", ".css", ".html"}
    paths = [path for path in sorted((ROOT / folder).rglob("*")) if path.suffix in kinds]
    assert len(paths) > 10
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            assert len(line) <= 100, f"{path}:{number}"
