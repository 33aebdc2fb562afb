"""The executor for Dask, which needs the package distributed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tournament.commands.test_tournament import rows_of
from tests.tournament.processes import Marked
from tests.tournament.specs import match


def test_a_tournament_runs_on_workers_of_dask(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="needs the package distributed")
    executor = ("-executor", "merels.protocol.examples.dask_executor:executor")
    words = match("-rounds", "2", *executor, "-executorwait", "240")
    status, out, err = Marked(*words, "-journal", "file=j", cwd=tmp_path).wait(300)
    assert status == 0 and "Finished game 4 " in out, err
    assert len(rows_of(f"{tmp_path}/j")) == 4
