"""A short soak, and a soak of ten thousand games; a tenth of these have a fault."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import needs_proc
from tests.soak.watch import ENOUGH, WARM, Sample, Watch

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[2]


def soak(*words: str) -> str:
    """Run the command, which must succeed; return its output."""
    command = [sys.executable, "-m", "tests.soak", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@needs_proc
@pytest.mark.skipif(shutil.which("cc") is None, reason="compiles its fast engine")
def test_a_short_soak() -> None:
    out = soak("-seed", "5", "-games", "40", "-size", "24", "-fault-rate", "0.2")
    assert "2 tournaments" in out and "no promise broken" in out.splitlines()[-1]


@needs_proc
@pytest.mark.slow
def test_ten_thousand_games() -> None:
    out = soak("-seed", "7", "-kind", "instant", "-games", "10000", "-size", "10000")
    assert "no promise broken" in out.splitlines()[-1]


def watched(*samples: Sample) -> str | None:
    """Return the growth that a watch reports for some samples."""
    watch = Watch.__new__(Watch)
    watch.samples = list(samples)
    return watch.growth()


def test_growth_is_reported() -> None:
    games = range(0, 20 * ENOUGH, 10)
    assert watched(*(Sample(n, 30 << 20, 9, 20) for n in games)) is None
    assert watched(*(Sample(n, (30 << 20) + 1000 * n, 9, 20) for n in games)) is None
    leak = watched(*(Sample(n, (30 << 20) + (n << 15), 9, 20) for n in games))
    assert leak is not None and leak.startswith("the runner's memory grew by ")
    leak = watched(*(Sample(n, 30 << 20, 9 + n // 50, 20) for n in games))
    assert leak is not None and leak.startswith("the runner has ")
    leak = watched(*(Sample(n, 30 << 20, 9, 20 + n // 50) for n in games))
    assert leak is not None and leak.startswith("a worker has ")
    # Descriptors of workers that start their engines are no leak.
    assert watched(*(Sample(n, 30 << 20, 9, min(WARM, n)) for n in games)) is None
