"""Tables of perfect play, each set built once in a run of the tests."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from merels.engine.game.rules import Rules
from merels.engine.tablebase.build import Builder
from merels.engine.tablebase.files import DEPTHS, VALUES, file_name, open_table, rules_folder
from merels.engine.tablebase.probe import Tables, open_tables
from tests.kit.session import BUILT_TABLES


def built_folder(rules: Rules, men: int, *, depths: bool = False, placing: bool = False) -> Path:
    """Return a folder with tables of up to ``men`` men, which no test may change.

    The processes of a run share the folder; `copy_tables` returns a copy.
    """
    return _built(rules.with_field("Repetition", "0"), men, depths, placing)


@cache
def _built(rules: Rules, men: int, depths: bool, placing: bool) -> Path:
    name = f"{rules_folder(rules)}-{men}{'-depths' * depths}{'-placing' * placing}"
    root = Path(os.environ[BUILT_TABLES])
    root.mkdir(exist_ok=True)
    if not (root / name).exists():
        draft = Path(tempfile.mkdtemp(dir=root))
        Builder(draft, rules, depths=depths).build(men, placing)
        with suppress(OSError):  # Another process has built the same tables meanwhile.
            draft.rename(root / name)
    return root / name


def built_tables(rules: Rules, men: int, *, depths: bool = False, placing: bool = False) -> Tables:
    """Return open tables of up to ``men`` men."""
    return open_tables(built_folder(rules, men, depths=depths, placing=placing), rules)


def table_rows(
    rules: Rules, men: int, *, depths: bool = False, placing: bool = False
) -> Iterator[tuple[int, int, int, memoryview, memoryview | None]]:
    """Yield each table of up to ``men`` men as `core.TableSet.add` takes it."""
    root = built_folder(rules, men, depths=depths, placing=placing)
    folder = root / rules_folder(rules)
    for sector in open_tables(root, rules).headers:
        _, values = open_table(folder / file_name(sector, VALUES), rules, check=False)
        lists: list[memoryview | None] = [None] * len(values)
        if depths and not sector.hand:
            lists = [*open_table(folder / file_name(sector, DEPTHS), rules, check=False)[1]]
        for (own, opponent, _), table, depth_list in zip(sector.tables, values, lists):
            yield own, opponent, sector.hand, table, depth_list


def copy_tables(
    root: Path, rules: Rules, men: int, *, depths: bool = False, placing: bool = False
) -> Path:
    """Copy tables of up to ``men`` men to below ``root``; return the folder of their files."""
    source = built_folder(rules, men, depths=depths, placing=placing)
    shutil.copytree(source, root, dirs_exist_ok=True)
    return root / rules_folder(rules)
