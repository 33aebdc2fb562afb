"""The names that ``merels.protocol`` exports, and the modules that its loop imports."""

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


UNNEEDED = {
    "argparse", "asyncio", "email", "ipaddress", "json", "logging", "merels.protocol.client.engine",
    "multiprocessing", "pathlib", "random", "shutil", "socket", "sqlite3", "subprocess", "tempfile",
    "urllib.parse",
}
"""Modules that the engine's loop must not import, so that it starts quickly."""


def test_the_loop_starts_without_the_client() -> None:
    # An editable installation has already loaded some of these modules, so remove them first.
    code = f"""import sys; [sys.modules.pop(name, None) for name in {UNNEEDED}]
before = {{*sys.modules}}
import merels.tournament.commands.main, merels.protocol.uci.loop
print(*sys.modules.keys() - before)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {*done.stdout.split()}
    assert "merels.protocol.uci.loop" in loaded and not UNNEEDED & loaded
    assert len(loaded) < 120, "the loop imports too many modules to answer `uci` at once"
