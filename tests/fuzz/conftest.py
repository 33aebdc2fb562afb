"""Shows at the end of a test run what was fuzzed: seeds and counts."""

from __future__ import annotations

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line for each fuzzer that ran."""
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for name, value in report.user_properties:
            if name == "fuzz":
                terminalreporter.write_line(str(value))
