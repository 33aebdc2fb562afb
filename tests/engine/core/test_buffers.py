"""Buffers that other threads change while compiled code reads them."""

from __future__ import annotations

import subprocess
import sys
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from merels.engine.core import core, solver, trainer
from merels.engine.core.convert import core_rules
from merels.engine.game.rules import PRESETS
from merels.engine.training.samples import Sample

ROOT = Path(__file__).parents[3]
RULES = core_rules(PRESETS["morris"])
SAMPLE = Sample(0b0101_0101_0101, 0b0101_0000 << 12, 0, 0, 1, 0.5, 0.5).pack()

CHANGING_SCRIPT = """
import sys, threading
from array import array
from merels.engine.core import trainer
from tests.engine.core.test_buffers import SAMPLE

quarter = [bool(part) for part in trainer.split_samples(SAMPLE)].index(True)
fit = trainer.Fit(0.5, quarter)
CALLS = {
    "split_samples": (50_000, trainer.split_samples),
    "select_samples": (30_000, lambda data: [trainer.select_samples(data, array("Q"), False)]),
    "epoch": (10_000, lambda data: fit.epoch(data, 0) and []),
}
gate = threading.Semaphore(0)

def spoil():
    # The call has checked the samples and released the GIL.
    gate.acquire()
    data[-len(SAMPLE):] = b"\\xff" * len(SAMPLE)

for number, call in CALLS.values():
    data = bytearray(SAMPLE * number)
    refused = 0
    for _ in range(2000):
        # Many calls are needed: on a busy machine the other thread is often too late.
        if refused == 2:
            break
        data[-len(SAMPLE):] = SAMPLE
        spoiler = threading.Thread(target=spoil)
        spoiler.start()
        sys.setswitchinterval(1000)
        gate.release()
        try:
            for samples in call(data):
                trainer.labelled_samples(samples)
        except ValueError as error:
            refused += 1
            print(error)
        sys.setswitchinterval(0.005)
        spoiler.join()
"""


def test_samples_that_another_thread_changes_are_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHANGING_SCRIPT],
        cwd=ROOT, capture_output=True, text=True, timeout=600,
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) == 6, lines
    assert all(line.endswith(" changed while it was read") for line in lines), lines


class FirstViewOnly:
    """A buffer whose views after the first are empty."""

    def __init__(self, data: bytes | array[int]) -> None:
        self.data = data
        self.views = 0

    def __buffer__(self, flags: int) -> memoryview:
        self.views += 1
        return memoryview(self.data if self.views == 1 else b"")


@pytest.mark.skipif(sys.version_info < (3, 12), reason="no __buffer__ before Python 3.12")
def test_buffers_are_checked_and_used_under_one_view() -> None:
    tables = core.TableSet(RULES)
    values = bytes((core.table_places(3, 3) + 3) // 4)
    worker = core.SearchWorker(core.TranspositionTable(1))
    tables.add([(3, 3, 0, values, None)])
    calls: list[tuple[bytes | array[int], Callable[[Any], object]]] = [
        (values, lambda data: tables.add([(3, 3, 0, data, None)])),
        (SAMPLE, lambda data: trainer.label_samples(tables, data)),
        (SAMPLE, lambda data: trainer.labelled_samples(data)),
        (SAMPLE, lambda data: trainer.score_samples(worker, RULES, data, 1, 250.0)),
        (array("Q", [0]), lambda data: solver.verify_sample(tables, 3, 3, 0, data)),
    ]
    for buffer, call in calls:
        data = FirstViewOnly(buffer)
        call(data)
        assert data.views == 1, call
