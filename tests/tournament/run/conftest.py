"""Short pauses for the tests of runs."""

from __future__ import annotations

import pytest

from merels.tournament.run import executor, tasks


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the pauses before retries."""
    monkeypatch.setattr(tasks, "PAUSE_SECONDS", 0.05)
    monkeypatch.setattr(executor, "RETRY_SECONDS", 0.05)
