"""Buffers whose views differ: compiled code checks and uses one view."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable
from typing import Any

import pytest

from merels.engine.core import core, trainer
from merels.engine.core.convert import core_rules
from merels.engine.game.rules import PRESETS
from tests.kit.samples import Sample

RULES = core_rules(PRESETS["morris"])
SAMPLE = Sample(0b0101_0101_0101, 0b0101_0000 << 12, 0, 0, 1, 0.5, 0.5).pack()


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
        (SAMPLE, lambda data: trainer.select_samples(data, array("Q"), False)),
        (array("Q", [0]), lambda data: trainer.select_samples(SAMPLE, data, False)),
    ]
    for buffer, call in calls:
        data = FirstViewOnly(buffer)
        call(data)
        assert data.views == 1, call
