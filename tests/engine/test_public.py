"""The public names of the engine."""

from __future__ import annotations

import doctest
import subprocess
import sys

import pytest

import merels.engine


def test_every_public_name_exists_and_the_example_runs() -> None:
    for name in merels.engine.__all__:
        assert getattr(merels.engine, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Chess'"):
        getattr(merels.engine, "Chess")
    failed, tried = doctest.testmod(merels.engine)
    assert tried and not failed


def test_a_name_loads_only_the_modules_that_it_needs() -> None:
    script = "import sys; from merels.engine import Position; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "merels.engine.game.position" in done.stdout
    for other in ("game.notation", "game.score", "search", "core", "tablebase"):
        assert f"merels.engine.{other}" not in done.stdout
