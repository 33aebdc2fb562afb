"""A small tournament for the tests of reports."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kit.executor import INVENTED
from tests.tournament.processes import play


@pytest.fixture(scope="package")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the journal ``j`` and the PGN file ``g.pgn`` of a small tournament."""
    folder = tmp_path_factory.mktemp("played")
    play("-journal", f"{folder}/j", "-pgnout", f"{folder}/g.pgn", "-srand", "8", "-rounds", "2",
         "-each", "nodes=60", "-quiet", *INVENTED)
    return folder
