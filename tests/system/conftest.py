"""Runs that a test leaves are ended, as in the tournament's tests."""

from __future__ import annotations

from tests.tournament.conftest import (
    end_runs_after_each_test as end_runs_after_each_test,
)
