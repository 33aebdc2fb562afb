"""A short soak: a tournament with misbehaving engines, killed and resumed."""

from __future__ import annotations

import pytest

from tests.processes import needs_proc
from tests.soak.__main__ import main


@needs_proc
def test_a_short_soak(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-seed", "6", "-games", "12", "-size", "12", "-fault-rate", "0.2"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert " 1 tournaments in " in last and last.endswith("no promise broken")
