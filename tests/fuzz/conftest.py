"""Prints seeds and counts of the fuzzers at the end of a test run."""

from __future__ import annotations

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print one line for each fuzzer that ran."""
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for name, value in report.user_properties:
            if name == "fuzz":
                terminalreporter.write_line(str(value))
