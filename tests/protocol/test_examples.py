"""The examples that use other packages; each test needs the package installed."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from tests.tournament.commands.test_tournament import rows_of
from tests.tournament.processes import Marked
from tests.tournament.specs import match

EXAMPLES = "merels.protocol.examples"


def test_open_spiel_has_the_same_legal_moves() -> None:
    pytest.importorskip("pyspiel", reason="needs the package open_spiel")
    openspiel = importlib.import_module(f"{EXAMPLES}.openspiel")
    assert openspiel.compare(10) > 5_000


def test_the_bot_beats_a_random_player_in_open_spiel() -> None:
    pytest.importorskip("pyspiel", reason="needs the package open_spiel")
    openspiel = importlib.import_module(f"{EXAMPLES}.openspiel")
    assert openspiel.play(2) > 1


@pytest.mark.parametrize(
    ("package", "module"), [("distributed", "dask_executor"), ("ray", "ray_executor")]
)
def test_a_tournament_runs_on_workers_of_dask_and_ray(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str, module: str
) -> None:
    pytest.importorskip(package, reason=f"needs the package {package}")
    # Ray's default timeout is too short for its start on a busy machine.
    monkeypatch.setenv("RAY_raylet_start_wait_time_s", "240")
    executor = ("-executor", f"{EXAMPLES}.{module}:executor", "-executorwait", "240")
    words = match("-rounds", "2", *executor)
    status, out, err = Marked(*words, "-journal", "file=j", cwd=tmp_path).wait(300)
    assert status == 0 and "Finished game 4 " in out, err
    assert len(rows_of(f"{tmp_path}/j")) == 4
