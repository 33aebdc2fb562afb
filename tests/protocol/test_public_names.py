"""The names that ``merels.protocol`` offers to programs."""

from __future__ import annotations

import doctest
import subprocess
import sys

import pytest

from merels import protocol


def test_each_name_can_be_imported_and_the_example_runs() -> None:
    for name in protocol.__all__:
        assert getattr(protocol, name).__name__ == name
    with pytest.raises(ImportError, match="cannot import name 'Motor'"):
        exec("from merels.protocol import Motor")
    assert doctest.testmod(protocol) == (0, 4)


SPARED = {
    "argparse", "asyncio", "email", "ipaddress", "json", "logging", "merels.protocol.client.engine",
    "multiprocessing", "pathlib", "random", "shutil", "socket", "sqlite3", "subprocess", "tempfile",
    "urllib.parse",
}
"""What an engine that answers one line has no use for."""


def test_the_loop_starts_without_the_client() -> None:
    # An installation in place has loaded some of them before anything runs.
    code = f"""import sys; [sys.modules.pop(name, None) for name in {SPARED}]
before = {{*sys.modules}}
import merels.tournament.commands.main, merels.protocol.uci.loop
print(*sys.modules.keys() - before)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {*done.stdout.split()}
    assert "merels.protocol.uci.loop" in loaded and not SPARED & loaded
    assert len(loaded) < 120, "what answers `uci` at once loads little"
