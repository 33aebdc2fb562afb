"""Choice of tests for a mutant: those that execute its statement, in any process."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.mutants import recorder
from tests.mutants.lines import LineMap

SOURCE = b"""LIMIT = 3

def check(number):
    if (number > LIMIT
            and number < 9):
        return "much"
    return sum(
        [number,
         LIMIT])
"""
SECONDS = {"tests/a.py::slow": 5.0, "tests/b.py::much": 0.5, "tests/b.py::few": 0.3}
LINES = {"engine/x.py": {
    4: ["tests/a.py::slow", "tests/b.py::few", "tests/b.py::much"],
    6: ["tests/b.py::much"],
    7: ["tests/a.py::slow", "tests/b.py::few"],
}}  # fmt: skip


def chosen(line: int, path: str = "engine/x.py") -> list[str]:
    return LineMap(SECONDS, LINES).tests_of(path, SOURCE, line)


def test_the_tests_of_a_statement_are_chosen_the_quickest_file_first() -> None:
    assert chosen(6) == ["tests/b.py::much"]
    assert chosen(7) == ["tests/b.py::few", "tests/a.py::slow"]
    assert chosen(9) == chosen(7), "the statement begins two lines before"
    assert chosen(5) == ["tests/b.py::few", "tests/b.py::much", "tests/a.py::slow"]


def test_the_mirror_package_comes_first_and_the_seconds_have_a_limit() -> None:
    seconds = {"tests/engine/test_x.py::slow": 2.0, "tests/test_y.py::a": 1.0, "tests/z.py::b": 2.5}
    lines = LineMap(seconds, {"engine/x.py": {6: sorted(seconds)}})
    near, quick, slow = "tests/engine/test_x.py::slow", "tests/test_y.py::a", "tests/z.py::b"
    assert lines.tests_of("engine/x.py", SOURCE, 6) == [near, quick, slow]
    assert lines.tests_of("engine/x.py", SOURCE, 6, 2.5) == [near, quick]
    assert lines.tests_of("engine/x.py", SOURCE, 6, 0.1) == [near]


def test_code_that_runs_at_import_belongs_to_every_test_of_the_file() -> None:
    assert chosen(1) == ["tests/b.py::few", "tests/b.py::much", "tests/a.py::slow"]
    assert chosen(1, "engine/other.py") == []


def test_test_files_are_ordered_by_their_seconds() -> None:
    assert LineMap(SECONDS, {}).quickest_first(["tests/a.py", "tests/b.py", "tests/none.py"]) == [
        "tests/none.py", "tests/b.py", "tests/a.py",
    ]


def test_a_map_is_read_back(tmp_path: Path) -> None:
    LineMap(SECONDS, LINES).write(tmp_path / "map")
    again = LineMap.read(tmp_path / "map")
    for line in range(1, 10):
        assert again.tests_of("engine/x.py", SOURCE, line) == chosen(line)


def test_lines_are_recorded_for_the_test_that_runs_now_in_every_process(tmp_path: Path) -> None:
    root, site, records = (tmp_path / name for name in ("root", "site", "records"))
    for folder in (root / "engine", site, records):
        folder.mkdir(parents=True)
    (root / "engine" / "x.py").write_bytes(SOURCE)
    shutil.copy(recorder.__file__, site / "sitecustomize.py")
    server = """
import sys
from engine.x import check
for line in sys.stdin:
    print(check(int(line)), flush=True)
"""
    program = f"""
import subprocess, sys
from sitecustomize import pytest_runtest_logreport, pytest_runtest_logstart
from types import SimpleNamespace
from engine.x import check
def ask(number):
    server.stdin.write(f"{{number}}\\n")
    server.stdin.flush()
    return server.stdout.readline()
check(4)
server = subprocess.Popen([sys.executable, "-c", {server!r}], stdin=-1, stdout=-1, text=True)
pytest_runtest_logstart("tests/a.py::one")
ask(4)
pytest_runtest_logstart("tests/a.py::two")
ask(2)
pytest_runtest_logstart("tests/a.py::three")
pytest_runtest_logreport(SimpleNamespace(duration=0.25))
check(2)
pytest_runtest_logstart("tests/a.py::four")
pytest_runtest_logreport(SimpleNamespace(duration=0.125))
check(4)
check(2)
server.kill()
"""
    environment = os.environ | {
        recorder.FOLDER: str(records), recorder.ROOT: str(root),
        "PYTHONPATH": os.pathsep.join([str(site), str(root)]),
    }  # fmt: skip
    done = subprocess.run([sys.executable, "-c", program], cwd=root, env=environment, timeout=60)
    assert done.returncode == 0
    recorded = LineMap.read_records(records)
    assert recorded.tests_of("engine/x.py", SOURCE, 6) == [
        "tests/a.py::four", "tests/a.py::one",
    ]
    assert recorded.tests_of("engine/x.py", SOURCE, 7) == [
        "tests/a.py::four", "tests/a.py::three", "tests/a.py::two",
    ]
