"""Mutants of the sources: which are made, which tests are nearest, and that a test catches them."""

from __future__ import annotations

import itertools
import subprocess
import sys

from tests.mutants.__main__ import commit
from tests.mutants.mutate import KINDS, LAYERS, choose, cython_mutants, python_mutants
from tests.mutants.trial import ROOT, nearest

SOURCE = b'''"""Text."""

def one(number: int | None) -> bool:
    """More text."""
    if number is None or number < 3:
        raise ValueError("1 + 1")
    self.x = number
    return True
'''


def test_each_kind_of_mutant_is_found_and_annotations_are_left_alone() -> None:
    found = {
        (mutant.kind, mutant.line, mutant.old, mutant.new)
        for mutant in python_mutants("x.py", SOURCE)
    }
    condition = b"number is None or number < 3"
    assert found == {
        ("operator", 5, b"is", b"is not"),
        ("operator", 5, b"or", b"and"),
        ("operator", 5, b"<", b"<="),
        ("constant", 5, b"3", b"4"),
        ("condition", 5, condition, b"True"),
        ("condition", 5, condition, b"False"),
        ("statement", 6, b'raise ValueError("1 + 1")', b"pass"),
        ("statement", 7, b"self.x = number", b"pass"),
        ("statement", 8, b"return True", b"pass"),
        ("constant", 8, b"True", b"False"),
    }


def test_a_mutant_changes_one_place() -> None:
    for mutant in python_mutants("x.py", SOURCE):
        lines = mutant.apply(SOURCE).splitlines()
        changed = [now for now, was in zip(lines, SOURCE.splitlines()) if now != was]
        assert len(changed) == 1 and mutant.new in changed[0]


def test_cython_is_mutated_outside_of_comments_and_texts() -> None:
    source = b'    # 1 < 2\n    assert a < 5\n    if a < 5 and b("6"):\n        w.hits += 1\n'
    found = {(mutant.line, mutant.old, mutant.new) for mutant in cython_mutants("x.pxi", source)}
    assert found == {
        (3, b"<", b"<="), (3, b"and", b"or"), (3, b"5", b"6"), (3, b'a < 5 and b("6")', b"True"),
        (3, b'a < 5 and b("6")', b"False"), (4, b"+=", b"-="), (4, b"1", b"2"),
        (4, b"w.hits += 1", b"pass"),
    }


def test_a_seed_chooses_the_same_mutants_and_another_seed_others() -> None:
    def chosen(seed: int) -> list[str]:
        return [*map(str, itertools.islice(choose(ROOT, LAYERS[:1], seed, False), 40))]

    first = chosen(1)
    assert first == chosen(1) and len(set(first)) == 40
    assert len(set(first) & set(chosen(2))) < 5
    assert {line.split(": ")[1].split()[0] for line in first} == set(KINDS)


def test_the_nearest_tests_are_those_of_the_mirror_package() -> None:
    near, others = nearest("engine/search/limits.py")
    assert near[0].startswith("tests/engine/search/")
    assert "tests/protocol/client/test_engine.py" in near  # It names the module.
    assert others[0].startswith("tests/engine/") and "tests/test_sources.py" not in others
    # This package has no mirror under tests/, so the package above is nearest.
    near, _ = nearest("protocol/check/steps/session.py")
    assert near[0].startswith("tests/protocol/check/")


def test_a_mutant_is_caught_in_a_copy_and_the_checkout_stays() -> None:
    package = ROOT / "tournament" / "pairing"
    before = {path: path.read_bytes() for path in package.glob("*.py")}
    done = subprocess.run(
        [sys.executable, "-m", "tests.mutants", "-layer", "tournament/pairing", "-count", "1",
         "-seed", "4", "-tests", "tests/tournament/pairing/test_swiss.py"],
        cwd=ROOT, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert "mutants: seed 4, 1 caught, 0 survived" in done.stdout and done.stderr == ""
    assert done.stdout.startswith(f"mutants: seed 4, commit {commit()}\n")
    assert "caught by tests/tournament/pairing/test_swiss.py::" in done.stdout
    assert {path: path.read_bytes() for path in package.glob("*.py")} == before
