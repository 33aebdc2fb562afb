"""Rules for every source file: layers and imports, clocks, writing of files, line lengths."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = {
    "engine": ["common", "game", "core", "tablebase", "search", "training", "tools"],
    "protocol": ["common", "process", "client", "games", "formats", "uci", "review", "puzzles",
                 "check", "web", "board", "terminal", "commands", "examples"],
    "tournament": ["statistics", "records", "journal", "openings", "pairing", "play", "report",
                   "run", "views", "tuning", "league", "flags", "commands"],
}
"""Layers and their packages, lowest first. A module may import from its own package, from packages
before it, and from lower layers."""
ORDER = [f"{layer}.{package}" for layer, packages in PACKAGES.items() for package in packages]
SOURCES = {".py", ".pyx", ".pxi", ".pyi", ".js", ".css", ".html"}


def sources(folder: str, kinds: set[str]) -> list[Path]:
    """Return the files below a folder with one of the extensions in ``kinds``."""
    paths = [path for path in sorted((ROOT / folder).rglob("*")) if path.suffix in kinds]
    assert len(paths) > 10
    return paths


def dotted(path: Path) -> str:
    """Return the name of a module without ``merels``, such as ``engine.game.board``."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {dotted(path): path for layer in PACKAGES for path in sources(layer, {".py"})}


@cache
def nodes(path: Path) -> list[ast.Import | ast.ImportFrom | ast.Call]:
    """Return the imports and calls of a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = ast.Import, ast.ImportFrom, ast.Call
    return [node for node in ast.walk(tree) if isinstance(node, kinds)]


def imported(path: Path) -> Iterator[str]:
    """Yield the full name of everything that a module imports, also inside functions."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module is not None, "no relative imports"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def own_imports(path: Path) -> set[str]:
    """Return the modules of this project that a module imports."""
    names = {name.removeprefix("merels.") for name in imported(path) if name.startswith("merels.")}
    return {name if name in MODULES else name.rpartition(".")[0] for name in names}


def package_of(module: str) -> str:
    """Return the package of a module; for a layer's ``__init__.py``, the layer."""
    return ".".join(module.split(".")[:2])


def rank(package: str) -> int:
    """Return a package's rank in `ORDER`; a layer's ``__init__.py`` ranks with its last package."""
    layer, _, name = package.partition(".")
    if package == "tournament.merels":  # The package merels itself is above all others.
        return len(ORDER)
    if name in PACKAGES[layer]:
        return ORDER.index(package)
    assert name in ("", "__main__"), f"{package}: no such package; add it to PACKAGES"
    return ORDER.index(f"{layer}.{PACKAGES[layer][-1]}")


def test_imports_point_down() -> None:
    imports = [(module, name) for module, path in MODULES.items() for name in own_imports(path)]
    assert len(imports) > len(MODULES)
    assert [(module, name) for module, name in imports
            if rank(package_of(name)) > rank(package_of(module))] == []


@pytest.mark.parametrize("layer", PACKAGES)
def test_only_the_standard_library_is_imported(layer: str) -> None:
    for path in sources(layer, {".py"}):
        if path.parent.name == "examples":
            continue  # Some examples import another package, such as Dask.
        for name in imported(path):
            first = name.partition(".")[0]
            assert first == "merels" or first in sys.stdlib_module_names, f"{path}: {name}"


def test_no_import_cycle() -> None:
    graph = {module: own_imports(path) - {module} for module, path in MODULES.items()}
    assert len(list(TopologicalSorter(graph).static_order())) >= len(MODULES)


def test_every_package_is_in_contributing() -> None:
    listed = re.findall(r"^  (\w+)/ ", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.M)
    assert listed == [package for packages in PACKAGES.values() for package in packages]


@pytest.mark.parametrize("layer", PACKAGES)
def test_durations_use_a_monotonic_clock(layer: str) -> None:
    for path in sources(layer, {".py"}):
        assert not {"time.time", "time.time_ns"} & set(imported(path)), path
        assert not re.search(r"\btime\.time(_ns)?\(", path.read_text(encoding="utf-8")), path


RENAMING_CALLS = {"os.replace", "os.rename", "os.renames", "shutil.move"}


def unsafe_writes(path: Path) -> Iterator[int]:
    """Yield the lines of a module that create or replace files by other means than `saving`."""
    for node in nodes(path):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        arguments = [*node.args, *(word.value for word in node.keywords if word.arg == "mode")]
        modes = [word.value for word in arguments if isinstance(word, ast.Constant)]
        if called.rpartition(".")[2] == "open" and "os.devnull" not in map(ast.unparse, node.args):
            if any(isinstance(mode, str) and mode[:1] in ("w", "x") for mode in modes):
                yield node.lineno
        elif called in RENAMING_CALLS or called.endswith((".write_text", ".write_bytes")):
            yield node.lineno


def test_only_one_module_saves_files() -> None:
    """Any other way of writing a file loses the old content if the disk is full."""
    saving = MODULES["engine.common.saving"]
    assert list(unsafe_writes(saving))
    writes = {path: list(unsafe_writes(path)) for path in MODULES.values() if path != saving}
    assert {path: lines for path, lines in writes.items() if lines} == {}


@pytest.mark.parametrize("folder", [*PACKAGES, "tests"])
def test_lines_have_at_most_a_hundred_characters(folder: str) -> None:
    for path in sources(folder, SOURCES):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            assert len(line) <= 100, f"{path}:{number}"


def test_no_source_overrides_the_compilers_optimization() -> None:
    """The gcc manual advises against its pragma and attribute; setup.py sets the flags."""
    for path in sources("engine", {".pyx", ".pxi"}) + list((ROOT / "protocol").rglob("*.pyx")):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"#pragma \w+ optimize|__attribute__\s*\(\(optimize", text), path
