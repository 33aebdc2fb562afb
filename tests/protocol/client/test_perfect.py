"""A perfect player needs tables: which it has, and how to make them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from merels.engine.common.errors import InputError
from merels.engine.game.rules import make_rules
from merels.engine.tablebase.build import Builder
from merels.protocol.client.engine_spec import read_engine
from merels.protocol.client.perfect import TABLES, table_coverage

RULES = [make_rules("mill"), make_rules("roman")]


def test_a_perfect_player_without_tables_is_refused_with_the_way_to_make_them(
    tmp_path: Path,
) -> None:
    spec = read_engine(["level=perfect"], ("uci",))
    spec = replace(spec, options=((TABLES, str(tmp_path)),))
    Builder(tmp_path, RULES[0]).build(6)  # The small ones, which every engine has, are not enough.
    with pytest.raises(InputError) as refused:
        table_coverage(spec, RULES)
    assert refused.value.token == "level=perfect"
    assert f"no tables for mill in {tmp_path} beyond the small ones" in str(refused.value)
    assert f"merels tables build -all -placing -variant mill -dir {tmp_path}" in str(refused.value)


def test_only_a_perfect_player_has_to_have_tables(tmp_path: Path) -> None:
    assert table_coverage(read_engine(["level=Club"], ("uci",)), RULES) == []
    foreign = read_engine(["cmd=x", f"option.{TABLES}={tmp_path}"], ("uci",))
    assert table_coverage(foreign, RULES) == []
