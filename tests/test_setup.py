"""The build from source, the commit in versions, release notes, pinned actions, the citation."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.skipif(
    sys.platform == "win32" or importlib.util.find_spec("Cython") is None,
    reason="builds with Cython and a Unix compiler",
)
def test_a_missing_compiler_is_reported_in_one_line() -> None:
    command = [sys.executable, "setup.py", "-q", "build_ext"]
    environment = {**os.environ, "CC": "/no/such/cc -pthread"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1 and done.stdout == ""
    [line] = done.stderr.splitlines()
    assert line.startswith("merels needs a C compiler, and '/no/such/cc' was not found: install")


@pytest.fixture
def setup(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module setup.py; the variable that it sets is restored after the test."""
    pytest.importorskip("Cython")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "315532800")
    monkeypatch.chdir(ROOT)
    spec = importlib.util.spec_from_file_location("setup_of_merels", ROOT / "setup.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def git(*words: str) -> str:
    command = ["git", "-c", "user.name=A", "-c", "user.email=a@b", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_development_version_has_the_commit_of_its_sources(
    setup: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)
    assert setup.commit_of("0.1.0.dev0") == "", "no checkout"
    git("init", "-q")
    Path("file").write_text("one")
    git("add", "file")
    git("commit", "-q", "-m", "one")
    head = git("rev-parse", "HEAD")[:10]
    assert setup.commit_of("0.1.0.dev0") == head
    assert setup.commit_of("0.1.0") == "", "a release names no commit"
    Path("new").write_text("not yet added")
    assert setup.commit_of("0.1.0.dev0") == head
    Path("file").write_text("two")
    assert setup.commit_of("0.1.0.dev0") == f"{head}.modified"

    unpacked = Path("unpacked")
    (unpacked / "engine").mkdir(parents=True)
    monkeypatch.chdir(unpacked)
    assert setup.commit_of("0.1.0.dev0") == "", "another project's checkout"
    setup.write_commit(setup.COMMIT, "0.1.0.dev0")
    assert not setup.COMMIT.exists()
    setup.COMMIT.write_text("1234567890\n")
    assert setup.commit_of("0.1.0.dev0") == "1234567890", "the source distribution's commit"
    setup.write_commit(setup.COMMIT, "0.1.0")
    assert not setup.COMMIT.exists(), "left by an earlier build"


@pytest.mark.skipif(
    importlib.util.find_spec("Cython") is None or not (ROOT / ".git").exists(),
    reason="builds with Cython in a checkout",
)
def test_a_development_build_reports_its_commit(tmp_path: Path) -> None:
    command = [sys.executable, "setup.py", "-q", "build_py", "--build-lib", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    script = "import merels.engine as engine; print(engine.__version__, engine.full_version())"
    output = subprocess.check_output(
        [sys.executable, "-c", script], cwd=tmp_path, text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    version, full = output.split()
    head = git("-C", str(ROOT), "rev-parse", "HEAD")[:10]
    commit = full.removeprefix(version).removesuffix(".modified")
    assert commit == (f"+{head}" if "dev" in version else "")


@pytest.mark.skipif(
    sys.platform == "win32" or not (ROOT / ".ci").exists(), reason="a shell script of a checkout"
)
def test_the_notes_of_a_release_are_its_section_of_the_changelog(tmp_path: Path) -> None:
    folder = tmp_path / ".ci"
    folder.mkdir()
    shutil.copy(ROOT / ".ci" / "notes", folder)
    changes = tmp_path / "CHANGELOG.md"
    changes.write_text(
        "# Changes\n\n## 0.2.0 (unreleased)\n\nNew.\n\n## 0.1.0 (2026-12-01)\n\nOld.\n"
    )

    def notes(version: str) -> tuple[int, str, str]:
        done = subprocess.run(
            [str(folder / "notes"), version], capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout.strip(), done.stderr.strip()

    assert notes("v0.1.0") == (0, "Old.", "")
    status, out, error = notes("v0.2.0")
    assert (status, out) == (1, "") and error.startswith("CHANGELOG.md: 0.2.0 is unreleased")
    status, out, error = notes("0.3.0")
    assert (status, out) == (1, "") and error.startswith("CHANGELOG.md: no version 0.3.0")


@pytest.mark.skipif(not (ROOT / ".github").exists(), reason="not in a source distribution")
def test_actions_are_pinned_by_commit() -> None:
    """A tag can be moved to other code; a commit cannot."""
    used = [
        (path.name, line.split("uses:")[1].strip())
        for path in (ROOT / ".github").rglob("*.yml")
        for line in path.read_text(encoding="utf-8").splitlines()
        if "uses:" in line
    ]
    assert used
    for name, action in used:
        assert re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v[\d.]+", action), f"{name}: {action}"


def test_the_citation_names_this_package() -> None:
    package = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\ntitle: {package['name']}\n" in citation
    assert f"\nlicense: {package['license']}\n" in citation
    for author in package["authors"]:
        assert f"  - name: {author['name']}\n" in citation
