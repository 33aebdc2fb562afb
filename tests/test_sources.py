"""What holds of every source: its room, what it may import, which clock it reads, line lengths."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = {
    "engine": ["common", "game", "core", "tablebase", "search", "training", "tools"],
    "protocol": ["common", "process", "client", "games", "formats", "uci", "review", "puzzles",
                 "bot", "check", "web", "board", "terminal", "commands", "examples"],
    "tournament": ["statistics", "records", "journal", "openings", "pairing", "play", "report",
                   "run", "views", "tuning", "flags", "commands"],
}
"""The floors and their rooms from the ground up: a module imports from its own room, from those
before it, and from the floors below."""
ORDER = [f"{floor}.{room}" for floor, rooms in ROOMS.items() for room in rooms]
SOURCES = {".py", ".pyx", ".pxi", ".pyi", ".js", ".css", ".html"}


def sources(folder: str, kinds: set[str]) -> list[Path]:
    """The files of some kinds in a folder and below."""
    found = [path for path in sorted((ROOT / folder).rglob("*")) if path.suffix in kinds]
    assert len(found) > 10
    return found


def dotted(path: Path) -> str:
    """The name of a module without ``merels``, such as ``engine.game.board``."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {dotted(path): path for floor in ROOMS for path in sources(floor, {".py"})}


def imported(path: Path) -> Iterator[str]:
    """The full names of what a module imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module is not None, "no relative imports"
            yield from (f"{node.module}.{one.name}" for one in node.names)


def own_imports(path: Path) -> set[str]:
    """The modules of ours that a module imports."""
    names = {name.removeprefix("merels.") for name in imported(path) if name.startswith("merels.")}
    return {name if name in MODULES else name.rpartition(".")[0] for name in names}


def room_of(module: str) -> str:
    """The room of a module; a floor itself, whose public words come from all its rooms, is one."""
    return ".".join(module.split(".")[:2])


def height(room: str) -> int:
    """How far up a room stands; the public words of a floor stand on top of its rooms."""
    floor, _, name = room.partition(".")
    if room == "tournament.merels":  # The package merels itself, above all others.
        return len(ORDER)
    if name in ROOMS[floor]:
        return ORDER.index(room)
    assert name in ("", "__main__"), f"{room}: no such room; add it to ROOMS"
    return ORDER.index(f"{floor}.{ROOMS[floor][-1]}")


def test_arrows_go_down_only() -> None:
    arrows = [(module, name) for module, path in MODULES.items() for name in own_imports(path)]
    assert len(arrows) > len(MODULES)
    assert [(module, name) for module, name in arrows
            if height(room_of(name)) > height(room_of(module))] == []


@pytest.mark.parametrize("floor", ROOMS)
def test_the_standard_library_is_enough(floor: str) -> None:
    for path in sources(floor, {".py"}):
        if path.parent.name == "examples":
            continue  # Some show merels beside another package.
        for name in imported(path):
            first = name.partition(".")[0]
            assert first == "merels" or first in sys.stdlib_module_names, f"{path}: {name}"


def test_no_import_cycle() -> None:
    graph = {module: own_imports(path) - {module} for module, path in MODULES.items()}
    assert len(list(TopologicalSorter(graph).static_order())) >= len(MODULES)


def test_every_room_is_on_the_map() -> None:
    drawn = re.findall(r"^  (\w+)/ ", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.M)
    assert drawn == [room for rooms in ROOMS.values() for room in rooms]


@pytest.mark.parametrize("floor", ROOMS)
def test_no_clock_that_can_be_set_tells_how_long_something_took(floor: str) -> None:
    for path in sources(floor, {".py"}):
        assert not {"time.time", "time.time_ns"} & set(imported(path)), path
        assert not re.search(r"\btime\.time(_ns)?\(", path.read_text(encoding="utf-8")), path


SAVES = {"os.replace", "os.rename", "os.renames", "shutil.move"}
"""Calls that give a file the name of another."""


def unsafe_writes(path: Path) -> Iterator[int]:
    """The lines of a module that replace a file otherwise than by `engine/common/saving.py`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        modes = [word.value for word in node.args if isinstance(word, ast.Constant)]
        if called.rpartition(".")[2] == "open" and "os.devnull" not in map(ast.unparse, node.args):
            if any(isinstance(mode, str) and mode[:1] in ("w", "x") for mode in modes):
                yield node.lineno
        elif called in SAVES or called.endswith((".write_text", ".write_bytes")):
            yield node.lineno


def test_one_module_saves_files() -> None:
    """A second way of writing a file is one that destroys it on a full disk."""
    saving = MODULES["engine.common.saving"]
    assert list(unsafe_writes(saving))
    found = {path: list(unsafe_writes(path)) for path in MODULES.values() if path != saving}
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize("folder", [*ROOMS, "tests"])
def test_lines_have_at_most_a_hundred_characters(folder: str) -> None:
    for path in sources(folder, SOURCES):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            assert len(line) <= 100, f"{path}:{number}"


def test_no_source_overrides_the_compilers_optimization() -> None:
    """gcc documents its pragma and attribute as unfit for production; setup.py has the flags."""
    for path in sources("engine", {".pyx", ".pxi"}) + list((ROOT / "protocol").rglob("*.pyx")):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"#pragma \w+ optimize|__attribute__\s*\(\(optimize", text), path
