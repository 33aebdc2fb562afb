"""The benchmark that generates engine/strength.md."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.strength import ROOT, SPEEDS, page


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.strength", *words],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="a row names a commit: needs git")
def test_a_second_run_measures_only_what_is_missing(tmp_path: Path) -> None:
    store = tmp_path / "figures.json"
    first = run("-quick", "-store", str(store), "speed")
    assert first.returncode == 0, first.stderr
    figures = json.loads(store.read_text(encoding="utf-8"))
    assert {part: len(rows) for part, rows in figures.items() if rows} == {"speed": len(SPEEDS)}
    assert first.stdout == page(figures)
    assert list(tmp_path.iterdir()) == [store]

    missing = figures["speed"].pop(1)["key"]
    store.write_text(json.dumps(figures), encoding="utf-8")
    second = run("-quick", "-store", str(store), "speed")
    assert second.returncode == 0, second.stderr
    [line] = second.stderr.splitlines()
    assert f"speed, {missing}: " in line


@pytest.mark.parametrize(("words", "complaint"), [
    (["speeds"], "'speeds': expected one of blunders, speed, levels"),
    (["-quick"], "-quick is too rough for strength.json: name another file with -store"),
])
def test_a_wrong_command_line_is_an_error(words: list[str], complaint: str) -> None:
    done = run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1].endswith(complaint)
