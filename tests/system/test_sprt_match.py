"""An SPRT between two engines stops automatically, with the right verdict."""

from __future__ import annotations

import re
from pathlib import Path

from merels.tournament.journal.open import read_journal
from tests.tournament.processes import play
from tests.tournament.specs import engine_words, rows_of

STRONG, WEAK = 1500, 800
"""Elo of two levels."""


def engines(*named: tuple[str, list[str]]) -> list[str]:
    """Return the flags of built-in engines, each given by its name and its limits."""
    return [word for name, limits in named for word in engine_words(name, *limits)]


def level(elo: int) -> list[str]:
    return ["nodes=100000", "option.UCI_LimitStrength=true", f"option.UCI_Elo={elo}"]


def decide(tmp_path: Path, *words: str) -> tuple[str, int]:
    """Run an SPRT to its end; return the verdict and the number of games."""
    path = tmp_path / "journal.db"
    out, _ = play(*words, "-sprt", "elo0=0", "elo1=60", "-ratinginterval", "2", "-srand", "1",
                  "-journal", f"file={path}")
    assert "nan" not in out.lower()
    (verdict,) = re.findall(r"completed - (H[01]) was accepted", out)
    llr = float(re.findall(r"^LLR: (-?\d+\.\d+) ", out, re.MULTILINE)[-1])
    assert (llr > 2.94) == (verdict == "H1") and (llr < -2.94) == (verdict == "H0")
    with read_journal(str(path)) as journal:
        assert journal.meta()["verdict"] == verdict
    games = len(rows_of(path))
    assert f"Games: {games}, " in out
    return verdict, games


def test_an_sprt_of_levels_is_right(tmp_path: Path) -> None:
    accepted, games = decide(tmp_path, *engines(("A", level(STRONG)), ("B", level(WEAK))))
    assert accepted == "H1" and games < 200


def test_identical_engines_get_a_verdict(tmp_path: Path) -> None:
    """All pairs have the same score, so the scores have no variance."""
    accepted, games = decide(tmp_path, *engines(("A", ["nodes=1"]), ("B", ["nodes=1"])),
                             "-maxmoves", "2")
    assert accepted == "H0" and games < 400
