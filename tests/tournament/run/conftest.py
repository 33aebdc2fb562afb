"""Short pauses for the tests of runs."""

from __future__ import annotations

import pytest

from merels.tournament.run import foreign_pool, retries


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the pauses before retries."""
    monkeypatch.setattr(retries, "PAUSE_SECONDS", 0.05)
    monkeypatch.setattr(foreign_pool, "RETRY_SECONDS", 0.05)
