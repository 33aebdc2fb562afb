"""A small match, for the tests of commands that read games from files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kit.executor import INVENTED
from tests.tournament.processes import play
from tests.tournament.specs import match


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the journal ``j`` and the PGN file ``g.pgn`` of ten games of A and B."""
    folder = tmp_path_factory.mktemp("played")
    play(*match("-rounds", "5", "-quiet", "-journal", f"{folder}/j", "-pgnout", f"{folder}/g.pgn"),
         *INVENTED)
    return folder
