"""The page engine/strength.md, and the benchmark that generates it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.strength import LIMITS, PARTS, ROOT, SPEEDS, STORE, page


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.strength", *words],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )


def test_the_page_has_the_stored_figures() -> None:
    stored = json.loads(STORE.read_text(encoding="utf-8"))
    text = (ROOT / "engine" / "strength.md").read_text(encoding="utf-8")
    assert text == page(stored), "run python -m tests.benchmarks.strength -print"
    for part in PARTS:
        for row in stored[part]:
            assert row["commit"] and row["date"] and row["machine"], row


@pytest.mark.thorough
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="a row names a commit: needs git")
def test_a_second_run_measures_only_what_is_missing(tmp_path: Path) -> None:
    store = tmp_path / "figures.json"
    stored = json.loads(STORE.read_text(encoding="utf-8"))
    store.write_text(json.dumps({**stored, "blunders": [], "speed": [], "levels": []}))
    first = run("-quick", "-store", str(store))
    assert first.returncode == 0, first.stderr
    assert first.stdout == page(json.loads(store.read_text(encoding="utf-8")))
    assert list(tmp_path.iterdir()) == [store]

    figures = json.loads(store.read_text(encoding="utf-8"))
    assert {row["key"] for row in figures["blunders"]} == set(LIMITS)
    assert {row["games"] for row in figures["levels"]} == {10}
    assert figures["tables"] == stored["tables"]
    figures["blunders"] = [row for row in figures["blunders"] if row["key"] != "1 node"]
    store.write_text(json.dumps(figures), encoding="utf-8")
    second = run("-quick", "-store", str(store))
    assert (second.returncode, second.stdout) == (0, first.stdout)
    [line] = second.stderr.splitlines()
    assert "blunders, 1 node: " in line


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="a row names a commit: needs git")
def test_a_new_store_has_only_the_measured_part(tmp_path: Path) -> None:
    path = tmp_path / "figures.json"
    done = run("-quick", "-store", str(path), "speed")
    assert done.returncode == 0, done.stderr
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert {part: len(rows) for part, rows in stored.items() if rows} == {"speed": len(SPEEDS)}
    assert done.stdout == page(stored)


@pytest.mark.parametrize(("words", "complaint"), [
    (["speeds"], "'speeds': expected one of blunders, speed, levels"),
    (["-quick"], "-quick is too rough for strength.json: name another file with -store"),
])
def test_a_wrong_command_line_is_an_error(words: list[str], complaint: str) -> None:
    done = run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1].endswith(complaint)
