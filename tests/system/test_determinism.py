"""With a seed and node limits, the games and their PGN depend only on the flags."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.tournament.processes import play
from tests.tournament.specs import match, parallel

RUN_SPECIFIC = re.compile(
    r'^\[(GameId|PairId|Date|GameDuration|GameStartTime|GameEndTime) "[^"]*"\]\n'
    r"|\b\d+\.\d{3}s\b", re.M
)
"""The parts of a PGN file that may differ between two runs: identity, dates and times."""
PATIENT = ("starttimeout=300", "pingtimeout=300")
"""Long timeouts, so that no engine loses a game because the machine is busy."""


def reproducible_pgn(folder: Path, concurrency: int, *flags: str) -> str:
    """Return the PGN of a tournament, without the parts that may differ between two runs."""
    pgn = folder / f"{len(list(folder.iterdir()))}.pgn"
    play(*match("-rounds", "2", *parallel(concurrency), "-ratinginterval", "0", "-each", *PATIENT,
                "-pgnout", f"file={pgn}", "nodes=true", *flags))
    text, removed = RUN_SPECIFIC.subn("", pgn.read_text())
    assert removed > 3 * 6, "each game has six run-specific tags, and each move its seconds"
    return text


@pytest.mark.parametrize(
    "flags",
    [(), ("-variant", "morris", "-openings", "file=book", "order=random"),
     ("-tournament", "knockout", "-games", "3")],
    ids=["openings of the seed", "book", "knockout"],
)
def test_the_same_flags_give_the_same_file(tmp_path: Path, flags: tuple[str, ...]) -> None:
    pgn = reproducible_pgn(tmp_path, 1, *flags)
    assert pgn.count("[Event ") >= 3
    assert reproducible_pgn(tmp_path, 2, *flags) == pgn, "the file depends on the concurrency"
