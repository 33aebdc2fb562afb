"""Tests with a table of rows, which report every row that fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest


def check_rows(
    rows: Iterable[Any], check: Callable[..., object], at_once: int = 1
) -> None:
    """Call ``check`` with each row, a tuple as several arguments; fail with all errors.

    ``at_once`` threads share the rows, which saves time if a row mostly waits.
    """
    with ThreadPoolExecutor(at_once) as threads:
        errors = [error for error in threads.map(lambda row: _error(row, check), rows) if error]
    if errors:
        raise BaseExceptionGroup(f"{len(errors)} rows fail", errors)


def _error(row: Any, check: Callable[..., object]) -> BaseException | None:
    """Return the error of a row, if it fails."""
    try:
        check(*row) if type(row) is tuple else check(row)
    except (Exception, pytest.fail.Exception) as error:
        error.add_note(f"row: {row!r}")
        return error
    return None
