"""`EpdFile`: lines of earlier runs at the end of the file, and an incomplete last line."""

from __future__ import annotations

from pathlib import Path

import pytest

from merels.tournament.views.epd import EpdFile

FOREIGN, OWN = b"a line of another program\n", b"a position\n"


@pytest.mark.parametrize("games", [0, 1, 2])
def test_only_lines_of_earlier_runs_are_counted(tmp_path: Path, games: int) -> None:
    """A former version counted the last line of another program if no game was played."""
    path = tmp_path / "positions.epd"
    path.write_bytes(FOREIGN + OWN * games)
    file = EpdFile(str(path), append=True, games=games)
    file.close()
    assert dict(file.earlier) == ({OWN: games} if games else {})


def test_an_incomplete_last_line_is_ended(tmp_path: Path) -> None:
    path = tmp_path / "positions.epd"
    path.write_bytes(FOREIGN[:-1])
    file = EpdFile(str(path), append=True)
    file.add(1, OWN.decode())
    file.close()
    assert path.read_bytes() == FOREIGN + OWN
