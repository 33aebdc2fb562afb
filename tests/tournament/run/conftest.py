"""Short pauses for the tests of runs."""

from __future__ import annotations

import pytest

from merels.tournament.run import executor, pairs


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the pauses before retries."""
    monkeypatch.setattr(pairs, "PAUSE_SECONDS", 0.05)
    monkeypatch.setattr(executor, "RETRY_SECONDS", 0.05)
