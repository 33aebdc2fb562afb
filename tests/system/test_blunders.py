"""Blunders in all held-out positions are at most those of engine/strength.md."""

from __future__ import annotations

import json

from tests.benchmarks.strength import LIMITS, STORE
from tests.engine.search.test_blunders import blunders
from tests.kit.rows import check_rows

STATED = {row["key"]: row["all"] for row in json.loads(STORE.read_text("utf-8"))["blunders"]}


def test_blunders_at_fixed_nodes_are_at_most_those_stated() -> None:
    def check(key: str) -> None:
        assert blunders(LIMITS[key]) <= STATED[key]

    check_rows(["1 node", "1,000 nodes", "10,000 nodes"], check)
