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


def test_the_loop_starts_without_the_client() -> None:
    code = "import sys, merels.protocol.uci.loop; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"asyncio", "subprocess", "merels.protocol.client.engine"} & {*done.stdout.split()}
