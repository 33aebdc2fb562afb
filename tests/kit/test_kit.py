"""The kit of the tests: folders of their own, shards, skips in CI."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from merels.engine.common.folders import user_folder
from tests.kit import full_disk

ROOT = Path(__file__).parents[2]
USER_FOLDERS = """
from merels.engine.common.folders import user_folder
for cache in (False, True):
    print(user_folder("x", "MERELS_NONE", cache=cache))
"""


def run_pytest(folder: Path, *words: str, ci: str = "") -> subprocess.CompletedProcess[str]:
    """Run pytest, with the kit, on the tests in a folder outside of the repository.

    Whether the outer run is one of CI makes no difference: skips are failures only if `ci` is "1".
    """
    (folder / "conftest.py").write_text("from tests.conftest import *\n")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(folder), *words],
        cwd=ROOT, env=os.environ | {"MERELS_CI": ci}, capture_output=True, text=True, check=False,
    )


def test_no_test_uses_a_folder_of_the_user() -> None:
    home = Path(os.environ["HOME"])
    assert home.name.startswith("merels-tests-")
    for name in ("MERELS_TABLES", "MERELS_GAMES", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        assert Path(os.environ[name]).is_relative_to(home)
    output = subprocess.check_output([sys.executable, "-c", USER_FOLDERS], text=True)
    for folder in [user_folder("x", "MERELS_NONE", cache=True), *map(Path, output.split())]:
        assert folder.is_relative_to(home)


@pytest.mark.parametrize("words", [[], ["--shards=3"], ["--shuffle=1"]])
def test_shards_and_random_order_run_each_test_once(tmp_path: Path, words: list[str]) -> None:
    for name in "abc":
        text = "".join(
            f"def test_{number}():\n    with open({str(tmp_path / 'log')!r}, 'a') as file:\n"
            f"        file.write('{name}{number} ')\n    assert '{name}{number}' != 'b2'\n"
            for number in range(4)
        )
        (tmp_path / f"test_{name}.py").write_text(text)
    done = run_pytest(tmp_path, *words)
    assert done.returncode == 1 and "1 failed, 11 passed" in done.stdout, done.stdout
    order = (tmp_path / "log").read_text().split()
    assert sorted(order) == [f"{name}{number}" for name in "abc" for number in range(4)]
    for name in "abc":
        own = [word for word in order if word[0] == name]
        assert (own == sorted(own)) == (words != ["--shuffle=1"]), "a file is in one process"


def test_a_shard_that_dies_fails_the_run(tmp_path: Path) -> None:
    for name in "ab":
        ends = "if any(word.startswith('--shard=') for word in sys.argv):\n    os._exit(0)\n"
        text = f"import os, sys\n{ends}def test_{name}():\n    pass\n"
        (tmp_path / f"test_{name}.py").write_text(text)
    done = run_pytest(tmp_path, "--shards=2")
    assert done.returncode == pytest.ExitCode.INTERNAL_ERROR
    assert "a shard ended early" in done.stdout + done.stderr


SKIP_IN_EACH_SHARD = """
import sys
import pytest
from pathlib import Path
from tests.kit.waiting import wait

def test():
    skipped = Path(__file__).with_name("skipped")
    if any(word.startswith("--shard=") for word in sys.argv):
        skipped.touch()
    else:
        wait(skipped.exists, 60, "skip in another process")
    pytest.skip(f"not {Path(__file__).stem}")
"""


def test_skips_of_all_shards_are_listed_with_their_reasons(tmp_path: Path) -> None:
    for name in "abc":  # A process holds the file that it runs, and the next one.
        (tmp_path / f"test_{name}.py").write_text(SKIP_IN_EACH_SHARD)
    done = run_pytest(tmp_path, "--shards=2", "-rs")
    assert done.returncode == 0, done.stdout
    assert all(f"not test_{name}" in done.stdout for name in "abc")


def test_scripts_on_a_full_disk_store_no_bytecode(tmp_path: Path) -> None:
    """Python would store a truncated module, on which later runs fail."""
    (tmp_path / "large.py").write_text(f"text = {'x' * 1000!r}")
    script = "limit_files(100)\nsys.path.insert(0, sys.argv[1])\nimport large"
    done = full_disk.run_script(script, tmp_path)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["large.py"]


@pytest.mark.parametrize(
    ("ci", "summary"), [("", "3 skipped"), ("1", "1 failed, 1 skipped, 1 error")]
)
def test_a_skip_in_ci_is_a_failure_unless_its_reason_is_listed(
    tmp_path: Path, ci: str, summary: str
) -> None:
    (tmp_path / "test_skips.py").write_text("""
import pytest
@pytest.mark.skipif(True, reason="no browser")
def test_mark(): pass
def test_call(): pytest.skip("no time")
def test_listed(): pytest.skip("no qemu-x86_64 here")
""")
    done = run_pytest(tmp_path, ci=ci)
    assert summary in done.stdout, done.stdout
    assert done.returncode == (1 if ci else 0)
