"""A test between two versions of an engine stops by itself, and with the right verdict."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from merels.tournament.journal.open import read_journal
from tests.tournament.processes import Marked
from tests.tournament.specs import engine_words, parallel

pytestmark = pytest.mark.thorough

BOUNDS = ["-sprt", "elo0=0", "elo1=60", "-ratinginterval", "2"]
STRONG, WEAK = 1500, 800


def engines(*named: tuple[str, list[str]]) -> list[str]:
    """The flags of built-in engines, each a name with its rating or its nodes a move."""
    return [word for name, limits in named for word in engine_words(name, *limits)]


def level(elo: int) -> list[str]:
    return ["nodes=100000", "option.UCI_LimitStrength=true", f"option.UCI_Elo={elo}"]


def decide(tmp_path: Path, *words: str, timeout: float = 300.0) -> tuple[str, int]:
    """Run a test to its end; the verdict and the number of games."""
    path = tmp_path / "journal.db"
    run = Marked(*words, *BOUNDS, "-srand", "1", "-journal", f"file={path}")
    status, out, err = run.wait(timeout)
    assert status == 0, err
    assert "nan" not in out.lower()
    (verdict,) = re.findall(r"completed - (H[01]) was accepted", out)
    ratio = float(re.findall(r"^LLR: (-?\d+\.\d+) ", out, re.MULTILINE)[-1])
    assert (ratio > 2.94) == (verdict == "H1") and (ratio < -2.94) == (verdict == "H0")
    with read_journal(str(path)) as journal:
        games = len(list(journal.rows()))
        assert journal.meta()["verdict"] == verdict
    assert f"Games: {games}, " in out
    return verdict, games


@pytest.mark.parametrize(
    ("first", "second", "verdict"), [(STRONG, WEAK, "H1"), (WEAK, STRONG, "H0")]
)
def test_the_stronger_level_is_found(tmp_path: Path, first: int, second: int, verdict: str) -> None:
    found, games = decide(tmp_path, *engines(("A", level(first)), ("B", level(second))))
    assert found == verdict and games < 200


def test_identical_engines(tmp_path: Path) -> None:
    """Every pair is a draw of pairs: no variance at all, and still a verdict and no nan."""
    found, games = decide(tmp_path, *engines(("A", ["nodes=40"]), ("B", ["nodes=40"])))
    assert found == "H0" and games < 400


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [("nodes=8000", "nodes=2000", "H1"), ("st=0.01", "st=0.01", "H0")],
    ids=["more nodes", "equal in time"],
)
def test_from_the_balanced_book(tmp_path: Path, first: str, second: str, verdict: str) -> None:
    """Four times the nodes; and equals that differ by chance, as the clock is never the same."""
    words = engines(("A", [first]), ("B", [second]))
    found, _ = decide(
        tmp_path, *words, "-openings", "book", *parallel(2), timeout=1800.0
    )
    assert found == verdict
