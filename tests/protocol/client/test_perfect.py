"""``level=perfect``: the error without tables, and the engines that need no tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from merels.engine.common.errors import InputError
from merels.engine.game.rules import make_rules
from merels.protocol.client.engine_spec import read_engine
from merels.protocol.client.perfect import TABLES_OPTION, table_coverage
from tests.kit.tables import copy_tables

RULES = [make_rules("mill"), make_rules("roman")]


def test_the_error_about_missing_tables_names_the_command_that_builds_them(
    tmp_path: Path,
) -> None:
    spec = read_engine(["level=perfect"], ("uci",))
    spec = replace(spec, options=((TABLES_OPTION, str(tmp_path)),))
    # merels builds the small tables when it starts; the level needs larger ones.
    copy_tables(tmp_path, RULES[0], 6)
    with pytest.raises(InputError) as caught:
        table_coverage(spec, RULES)
    assert caught.value.token == "level=perfect"
    assert f"no tables for mill in {tmp_path} beyond the small ones" in str(caught.value)
    assert f"merels tables build -all -placing -variant mill -dir {tmp_path}" in str(caught.value)


def test_only_the_perfect_level_needs_tables(tmp_path: Path) -> None:
    assert table_coverage(read_engine(["level=Club"], ("uci",)), RULES) == []
    foreign = read_engine(["cmd=x", f"option.{TABLES_OPTION}={tmp_path}"], ("uci",))
    assert table_coverage(foreign, RULES) == []
