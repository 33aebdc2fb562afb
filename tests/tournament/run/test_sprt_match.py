"""A test between two versions of an engine stops by itself, and with the right verdict."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from merels.tournament.journal.open import read_journal
from tests.tournament.processes import Marked
from tests.tournament.specs import engine_words

BOUNDS = ["-sprt", "elo0=0", "elo1=60", "-ratinginterval", "2"]
STRONG, WEAK = 1500, 800


def engines(*named: tuple[str, list[str]]) -> list[str]:
    """The flags of built-in engines, each a name with its rating or its nodes a move."""
    return [word for name, limits in named for word in engine_words(name, *limits)]


def level(elo: int) -> list[str]:
    return ["nodes=100000", "option.UCI_LimitStrength=true", f"option.UCI_Elo={elo}"]


def decide(tmp_path: Path, *words: str, timeout: float = 300.0) -> tuple[str, int]:
    """Run a test to its end; the verdict, the number of games, the last LLR and all it printed."""
    path = tmp_path / "journal.db"
    run = Marked(*words, *BOUNDS, "-srand", "1", "-journal", f"file={path}")
    status, out, err = run.wait(timeout)
    assert status == 0, err
    assert "nan" not in out.lower()
    accepted = re.search(r"completed - (H[01]) was accepted", out)
    assert accepted is not None
    verdict = accepted[1]
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
    words = engines(("A", level(first)), ("B", level(second)))
    found, games = decide(tmp_path, *words)
    assert found == verdict
    assert games < 200


def test_identical_engines(tmp_path: Path) -> None:
    """Every pair is a draw of pairs: no variance at all, and still a verdict and no nan."""
    words = engines(("A", ["nodes=40"]), ("B", ["nodes=40"]))
    found, games = decide(tmp_path, *words)
    assert found == "H0"
    assert games < 400


@pytest.mark.slow
def test_more_nodes(tmp_path: Path) -> None:
    """The engine itself, with four times the nodes of its opponent, from the balanced book."""
    words = engines(("A", ["nodes=8000"]), ("B", ["nodes=2000"]))
    found, _ = decide(tmp_path, *words, "-openings", "book", "-concurrency", "2")
    assert found == "H1"


@pytest.mark.slow
def test_equal_in_time(tmp_path: Path) -> None:
    """Equals that differ by chance, since the clock is never quite the same."""
    words = engines(("A", ["st=0.01"]), ("B", ["st=0.01"]))
    found, _ = decide(
        tmp_path, *words, "-openings", "book", "-concurrency", "2", timeout=1800.0
    )
    assert found == "H0"
