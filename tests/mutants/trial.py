"""A copy of the sources in which a mutant is tried."""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import venv
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Self

from tests.mutants.mutate import LAYERS, Mutant
from tests.processes import marked

ROOT = Path(__file__).parents[2]
LEFT_OUT = (
    "tests/test_sources.py", "tests/test_documents.py",
    "tests/system/", "tests/page/", "tests/tools/",
)  # fmt: skip
"""Tests that are not run: any change of a source's text fails them, or they run only in CI."""
EXTENSIONS = (
    "engine/core/core.pyx", "engine/core/solver.pyx", "engine/core/trainer.pyx",
    "protocol/client/scanner.pyx", "protocol/process/round_trip.pyx",
)  # fmt: skip
BUILD = """
import sys
import setup
from setuptools import Distribution
setup.SOURCES = sys.argv[1:]
setup.compile_args = ["-O1" if word == "-O3" else word for word in setup.compile_args]
distribution = Distribution({
    "ext_modules": setup.translated(), "packages": [*setup.PACKAGES], "package_dir": setup.PACKAGES,
})
command = setup.BuildExtensions(distribution)
command.inplace = command.force = True
command.ensure_finalized()
command.run()
"""
"""Program that builds some of the extensions, with little optimization to save time."""
_MARK = "MERELS_MUTANT"
_FAILURE = re.compile(r"^(tests/.+?::.+) (?:FAILED|ERROR) +\[ *\d+%\]$", re.M)
_BROKEN_FILE = re.compile(r"^ERROR (tests/\S+\.py)\b", re.M)


class Copy:
    """A copy of the checkout, with a virtual environment that imports ``merels`` from it.

    The processes of a trial have a home and temporary files of their own. If the system has
    ``/proc``, processes that a mutant leaves running are killed. After ``silence`` seconds without
    output, a run of tests counts as hanging.
    """

    def __init__(self, silence: float) -> None:
        self._silence = silence
        self._original: dict[Path, bytes] = {}

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True)
        folder = Path(self._folder.name).resolve()
        self._root = folder / "tree"
        names = [*LAYERS, "tests", *(path.name for path in ROOT.iterdir() if path.is_file())]
        self._root.mkdir()
        for name in names:
            if (ROOT / name).is_dir():
                shutil.copytree(
                    ROOT / name, self._root / name,
                    ignore=shutil.ignore_patterns("__pycache__", "*.c", ".*_cache"),
                )  # fmt: skip
            else:
                shutil.copy2(ROOT / name, self._root / name)
        for name in LAYERS:  # Without an editable installation, the checkout has no extensions.
            installed = Path(import_module(f"merels.{name}").__path__[0])
            for path in installed.rglob("*"):
                built = self._root / name / path.relative_to(installed)
                if path.suffix in (".so", ".pyd") and not built.exists():
                    shutil.copy2(path, built)
        site = folder / "site" / "merels"
        site.mkdir(parents=True)
        for name in ("__init__.py", "__main__.py"):
            (site / name).symlink_to(self._root / "tournament" / "merels" / name)
        for name in LAYERS:
            (site / name).symlink_to(self._root / name, target_is_directory=True)
        venv.create(folder / "venv", symlinks=os.name == "posix")
        base = {"base": str(folder / "venv"), "platbase": str(folder / "venv")}
        packages = Path(sysconfig.get_path("purelib", "venv", base))
        # The first line makes the copy take precedence over an installed merels.
        lines = [str(site.parent), sysconfig.get_path("purelib")]
        (packages / "copy.pth").write_text("\n".join(lines) + "\n", encoding="utf-8")
        scripts = Path(sysconfig.get_path("scripts", "venv", base))
        self._python = str(scripts / Path(sys.executable).name)
        self._temporary = folder / "tmp"
        mark = os.urandom(12).hex()
        home = folder / "home"
        home.mkdir()
        self._environment = {
            **{name: value for name, value in os.environ.items() if "MERELS" not in name},
            _MARK: mark, "HOME": str(home), "TMPDIR": str(self._temporary),
            "XDG_CACHE_HOME": str(home / "cache"), "XDG_DATA_HOME": str(home / "data"),
        }  # fmt: skip
        self._mark = f"{_MARK}={mark}"
        return self

    def __exit__(self, *_: object) -> None:
        self._clear()
        self._folder.cleanup()

    def put(self, mutant: Mutant | None, path: str) -> None:
        """Put a mutant into a file of the copy; None restores the file of the checkout."""
        while mutant is None and self._original:
            extension, data = self._original.popitem()
            extension.unlink(missing_ok=True)  # A process that is being killed may still map it.
            extension.write_bytes(data)
        source = (ROOT / path).read_bytes()
        file = self._root / path
        file.write_bytes(source if mutant is None else mutant.apply(source))
        if mutant is None:
            shutil.copystat(ROOT / path, file)
        else:
            # Python compiles a file again only if its date or size has changed.
            date = int((ROOT / path).stat().st_mtime) + 1 + mutant.offset % 10_000_019
            os.utime(file, (date, date))

    def build(self, path: str) -> bool:
        """Build the extensions that a source is part of; return whether that succeeded."""
        sources = [name for name in EXTENSIONS if path == name or path in _parts_of(name)]
        for name in sources:
            (self._root / name).with_suffix(".c").unlink(missing_ok=True)
            for file in (self._root / name).parent.glob(f"{Path(name).stem}.*"):
                if file.suffix in (".so", ".pyd"):
                    self._original[file] = file.read_bytes()
        done = subprocess.run(
            [self._python, "-c", BUILD, *sources], cwd=self._root, env=self._environment,
            capture_output=True,
        )  # fmt: skip
        return done.returncode == 0

    def first_failure(self, files: Iterable[str], without: Iterable[str] = ()) -> str | None:
        """Run tests until one fails, and return its name; None: all pass."""
        words = [*files, *(word for name in without for word in ("--deselect", name))]
        with subprocess.Popen(
            [
                self._python, "-u", "-m", "pytest", "-p", "no:cacheprovider",
                "-x", "-v", "-rfE", "--tb=no", *words,
            ],
            cwd=self._root, env=self._environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        ) as process:  # fmt: skip
            output = self._read(process)
        self._clear()
        if output is None:
            return "time limit"
        if process.returncode in (0, 5):  # 5: no test in these files runs by default.
            return None
        failures = _FAILURE.findall(output) or _BROKEN_FILE.findall(output)
        return failures[0] if failures else f"exit status {process.returncode}"

    def _read(self, process: subprocess.Popen[bytes]) -> str | None:
        """Return the whole output, or None if the process hangs."""
        assert process.stdout is not None
        self._temporary.mkdir(exist_ok=True)
        pieces = []
        while True:
            # Children of a mutant may hold the pipe open after pytest has ended.
            ready, _, _ = select.select([process.stdout], [], [], self._silence)
            piece = os.read(process.stdout.fileno(), 65_536) if ready else None
            if not piece:
                if piece is None:
                    self._kill()
                break
            pieces.append(piece)
        return None if piece is None else b"".join(pieces).decode(errors="replace")

    def _kill(self) -> None:
        for pid in marked(self._mark) if os.path.exists("/proc/self/environ") else []:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def _clear(self) -> None:
        """Kill the processes that the tests left running, and remove their temporary files."""
        self._kill()
        shutil.rmtree(self._temporary, ignore_errors=True)


_ENGINE_TESTS = Path("tests/engine")
_TESTS_OF_PARTS = {
    _ENGINE_TESTS / "core": [
        _ENGINE_TESTS / name for name in ("search", "tablebase", "training", "game", "tools")
    ],
}


def _parts_of(extension: str) -> list[str]:
    """Return the parts that an extension includes."""
    source = ROOT / extension
    names = re.findall(r'^include "(.+)"', source.read_text(encoding="utf-8"), re.M)
    return [(source.parent / name).relative_to(ROOT).as_posix() for name in names]


def nearest(path: str) -> tuple[list[str], list[str]]:
    """Return the files of default tests: those nearest to a source, and the others.

    Nearest are the files of the mirror package, or of the nearest package above it with tests, and
    every file that names the module. Parts of the core are tested by other packages of the engine,
    too.
    """
    source = Path(path)
    mirror = Path("tests") / source.parent
    while not list((ROOT / mirror).glob("test_*.py")):
        mirror = mirror.parent
    module = ".".join(source.with_suffix("").parts).removesuffix(".__init__")
    near, named, others = [], [], []
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        name = file.relative_to(ROOT).as_posix()
        if name.startswith(LEFT_OUT):
            continue
        if Path(name).parent == mirror:
            near.append(name)
        elif source.suffix != ".py" and Path(name).parent in _TESTS_OF_PARTS.get(mirror, ()):
            named.append(name)
        elif re.search(rf"\b{re.escape(module)}\b", file.read_text(encoding="utf-8")):
            named.append(name)
        else:
            others.append(name)
    near.sort(key=lambda name: Path(name).stem != f"test_{source.stem}")
    folder = "/".join(["tests", *source.parts[:2]])
    others.sort(key=lambda name: not name.startswith(folder))
    return near + named, others
