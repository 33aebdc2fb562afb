"""The log file on a disk that is temporarily full."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.kit import full_disk

FULL_FOR_A_WHILE = """
from merels.tournament.run.log_file import LogFile
log = LogFile(sys.argv[1])
log.write("info", "first")
for limit in (60, resource.RLIM_INFINITY):
    limit_files(limit)
    log.trace("A", "<", b"second\\nthird\\n")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files")
def test_an_entry_truncated_by_a_full_disk_ends_its_line(tmp_path: Path) -> None:
    path = tmp_path / "log"
    full_disk.run_script(FULL_FOR_A_WHILE, path).check_returncode()
    first, torn, second, third = path.read_text().splitlines()
    assert re.search(r" info  process \d+: first$", first) and len(first) + 1 + len(torn) == 60
    assert second.endswith(": A < second") and third.endswith(": A < third")
