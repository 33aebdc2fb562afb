"""A build for tuning: the search's parameters are options, and setting them changes the search."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from merels.engine.core import solver
from merels.protocol.client import scanner
from merels.protocol.process import round_trip
from tests.mutants.trial import BUILD

ROOT = Path(__file__).parents[2]
LAYERS = ("engine", "protocol", "tournament")
SEARCH_LINES = "uci\nsetoption name Hash value 1\n{}go depth 8\n"


def search_output(folder: Path, options: str = "") -> str:
    """Return the output of a build's engine up to its bestmove; ``options`` are lines to send."""
    output = ""
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "merels.protocol"], text=True, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(folder)},
    ) as engine:
        assert engine.stdin is not None and engine.stdout is not None
        engine.stdin.write(SEARCH_LINES.format(options))
        engine.stdin.flush()
        # Closing the engine's input would end the search.
        for line in engine.stdout:
            output += line
            if line.startswith("bestmove"):
                break
        engine.communicate("quit\n", timeout=300)
    return output


def last_nodes(output: str) -> str:
    """Return the node count of the search to depth 8."""
    return str(re.findall(r"depth 8 .* nodes (\d+)", output)[-1])


@pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")
def test_parameters_are_options_in_a_build_for_tuning(tmp_path: Path) -> None:
    for name in (*LAYERS, "setup.py", "pyproject.toml"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    core = tmp_path / "engine" / "core"
    for built in (*core.glob("core.*.so"), core / "core.c", core / "core.kind"):
        built.unlink(missing_ok=True)
    # The other extensions do not depend on the parameters: those that are installed serve.
    for module in (solver, scanner, round_trip):
        folder = tmp_path.joinpath(*module.__name__.split(".")[1:-1])
        shutil.copy(module.__file__, folder)
    subprocess.run(
        [sys.executable, "-c", BUILD, "engine/core/core.pyx"], cwd=tmp_path,
        env={**os.environ, "MERELS_TUNE": "1"}, check=True, capture_output=True,
    )  # fmt: skip
    site = tmp_path / "lib" / "merels"
    site.mkdir(parents=True)
    for name in LAYERS:
        (site / name).symlink_to(tmp_path / name, target_is_directory=True)
    for path in (ROOT / "tournament" / "merels").glob("*.py"):
        shutil.copy(path, site)
    usual, tuning = search_output(ROOT), search_output(tmp_path / "lib")
    assert "FutilityMargin" not in usual
    assert "option name FutilityMargin type spin default 30 min 10 max 200\n" in tuning
    assert last_nodes(usual) == last_nodes(tuning)
    minimums = dict(re.findall(r"option name (\w+) type spin default \d+ min (\d+)", tuning))
    for name in ("FutilityMargin", "ReductionDivisor", "HistoryBonus", "IirDepth"):
        line = f"setoption name {name} value {minimums[name]}\n"
        assert last_nodes(search_output(tmp_path / "lib", line)) != last_nodes(usual), name
