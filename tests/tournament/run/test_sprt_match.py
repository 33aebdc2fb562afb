"""An SPRT between two engines stops automatically, with the right verdict."""

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
    """Return the flags of built-in engines, each given by its name and its limits."""
    return [word for name, limits in named for word in engine_words(name, *limits)]


def level(elo: int) -> list[str]:
    return ["nodes=100000", "option.UCI_LimitStrength=true", f"option.UCI_Elo={elo}"]


def decide(tmp_path: Path, *words: str, timeout: float = 300.0) -> tuple[str, int]:
    """Run an SPRT to its end; return the verdict and the number of games."""
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
def test_an_sprt_of_levels_is_right(tmp_path: Path, first: int, second: int, verdict: str) -> None:
    accepted, games = decide(tmp_path, *engines(("A", level(first)), ("B", level(second))))
    assert accepted == verdict and games < 200


def test_identical_engines_get_a_verdict(tmp_path: Path) -> None:
    """All pairs have equal scores, so there is a verdict without any variance."""
    accepted, games = decide(tmp_path, *engines(("A", ["nodes=40"]), ("B", ["nodes=40"])))
    assert accepted == "H0" and games < 400


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [("nodes=8000", "nodes=2000", "H1"), ("st=0.01", "st=0.01", "H0")],
    ids=["more nodes", "equal in time"],
)
def test_an_sprt_from_the_book_is_right(
    tmp_path: Path, first: str, second: str, verdict: str
) -> None:
    """An engine with four times the nodes, and equal engines whose times vary at random."""
    words = engines(("A", [first]), ("B", [second]))
    accepted, _ = decide(
        tmp_path, *words, "-openings", "book", *parallel(2), timeout=1800.0
    )
    assert accepted == verdict
