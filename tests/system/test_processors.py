"""The choice of instructions on other processors, which QEMU emulates."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

QEMU = shutil.which("qemu-x86_64")
pytestmark = [
    pytest.mark.skipif(QEMU is None, reason="no qemu-x86_64 here"),
]
PLACES_SCRIPT = """
import random
from merels.engine.core import core
chance = random.Random(1)
places = core.table_places(4, 5)
tables = core.TableSet((1, False, False, False, 0, 0, 0))
tables.add([(4, 5, 0, chance.randbytes(places // 4 + 1), None)])
for _ in range(200):
    points = chance.sample(range(24), 9)
    own, opponent = (sum(1 << point for point in part) for part in (points[:4], points[4:]))
    found = tables.probe((own, opponent, 0, 0, 0))
    print(core.table_board(4, 5, chance.randrange(places)), found)
"""
SLOW_PEXT = ("EPYC", "EPYC-Rome")
FAST_PEXT = ("EPYC-Milan", "Haswell")


def places_on(processor: str, log: Path) -> tuple[str, bool]:
    """Return what `PLACES_SCRIPT` prints on a processor, and whether it executed PEXT."""
    assert QEMU is not None
    command = [QEMU, "-cpu", processor, "-d", "in_asm", "-D", str(log), sys.executable, "-c"]
    done = subprocess.run([*command, PLACES_SCRIPT], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    with log.open(encoding="utf-8", errors="replace") as lines:
        return done.stdout, any(" pext" in line for line in lines)


@pytest.mark.parametrize("processor", [*SLOW_PEXT, *FAST_PEXT, "Nehalem"])
def test_pext_runs_only_on_processors_with_a_fast_implementation(
    tmp_path: Path, processor: str
) -> None:
    """PEXT takes dozens of cycles on Zen 1 and 2; all processors compute the same places."""
    local = subprocess.run([sys.executable, "-c", PLACES_SCRIPT], capture_output=True, text=True)
    places, executed = places_on(processor, tmp_path / "log")
    assert places == local.stdout and len(places.splitlines()) == 200
    assert executed == (processor in FAST_PEXT)
