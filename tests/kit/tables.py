"""Tables of perfect play, each set built once in a run of the tests."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from merels.engine.game.rules import Rules
from merels.engine.tablebase.build import Builder
from merels.engine.tablebase.files import rules_folder
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


def copy_tables(
    root: Path, rules: Rules, men: int, *, depths: bool = False, placing: bool = False
) -> Path:
    """Copy tables of up to ``men`` men to below ``root``; return the folder of their files."""
    source = built_folder(rules, men, depths=depths, placing=placing)
    shutil.copytree(source, root, dirs_exist_ok=True)
    return root / rules_folder(rules)
