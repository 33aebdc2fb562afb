"""Tests with a table of rows, which report every row that fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def check_rows(rows: Iterable[Any], check: Callable[..., object]) -> None:
    """Call ``check`` with each row, a tuple as several arguments; fail with all errors."""
    errors: list[BaseException] = []
    for row in rows:
        try:
            check(*row) if isinstance(row, tuple) else check(row)
        except (Exception, pytest.fail.Exception) as error:
            error.add_note(f"row: {row!r}")
            errors.append(error)
    if errors:
        raise BaseExceptionGroup(f"{len(errors)} rows fail", errors)
