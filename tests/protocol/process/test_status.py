"""Descriptions of how a process ended."""

from __future__ import annotations

import signal
import sys

import pytest

from merels.protocol.process.process import describe_status


@pytest.mark.skipif(sys.platform == "win32", reason="needs a system with signals")
def test_a_signal_without_a_name_is_named_by_its_number() -> None:
    unknown = max(signal.valid_signals()) + 1
    assert describe_status(-unknown) == f"killed by signal {unknown}"
    assert describe_status(-signal.SIGKILL) == "killed by SIGKILL"
    assert (describe_status(0), describe_status(3)) == ("exit code 0", "exit code 3")
