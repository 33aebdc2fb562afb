"""The tables that an engine plays by: whose they are, whoever asks, and while they are built."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.protocol.gui import PATIENCE

LEAVE_EARLY = """
import atexit, sys, time
from pathlib import Path
from merels.engine.rules import DEFAULT_RULES
from merels.engine.tables.small import build_in_background

root = Path(sys.argv[1])
builder = build_in_background(DEFAULT_RULES, root, lambda: None)
while not list(root.glob("*/lock")):
    time.sleep(0.001)
atexit.register(builder.join)
"""


def test_leaving_while_the_small_tables_are_built_is_no_error(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LEAVE_EARLY, str(tmp_path)],
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
