"""The log file on a disk that is temporarily full."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

FULL_FOR_A_WHILE = """
import resource, sys
sys.dont_write_bytecode = True  # A truncated module would stay.
from merels.tournament.run.log_file import LogFile
log = LogFile(sys.argv[1])
log.write("info", "first")
for limit in (60, resource.RLIM_INFINITY):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    log.trace("A", "<", b"second\\nthird\\n")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files")
def test_an_entry_truncated_by_a_full_disk_ends_its_line(tmp_path: Path) -> None:
    path = tmp_path / "log"
    subprocess.run([sys.executable, "-c", FULL_FOR_A_WHILE, str(path)], timeout=60, check=True)
    first, torn, second, third = path.read_text().splitlines()
    assert re.search(r" info  process \d+: first$", first) and len(first) + 1 + len(torn) == 60
    assert second.endswith(": A < second") and third.endswith(": A < third")
