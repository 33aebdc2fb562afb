"""Progress bars on a pseudo-terminal."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from merels.engine.game.rules import DEFAULT_RULES
from merels.protocol.terminal.progress import terminal_size
from tests.commands import MERELS
from tests.kit.tables import built_folder
from tests.kit.terminal import on_a_terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")

SUITE = Path(__file__).parents[2] / "data" / "critical.json"
COLUMNS = 44
"""Narrower than the line of a table build."""


def screen(output: str) -> list[str]:
    """Return the lines that a terminal of `COLUMNS` columns shows at the end of an output."""
    lines, column = [""], 0
    for character in output:
        if character == "\r":
            column = 0
        elif character == "\n":
            lines.append("")
        else:
            if column == COLUMNS:
                lines.append("")
                column = 0
            line = lines[-1].ljust(column)
            lines[-1] = line[:column] + character + line[column + 1 :]
            column += 1
    return [line.rstrip() for line in lines]


@pytest.mark.parametrize("words", ["tables build", "tables verify", "suite", "puzzles"])
def test_no_progress_bar_is_left_on_the_terminal_after_an_interrupt(
    words: str, tmp_path: Path
) -> None:
    flags = {
        "tables build": ["-men", "12", "-dir", str(tmp_path)],
        "tables verify": ["-dir", str(built_folder(DEFAULT_RULES, 7)), "-threads", "1"],
        "suite": [str(SUITE), "-nodes", "50000"],
        "puzzles": ["-tables", str(built_folder(DEFAULT_RULES, 7, depths=True)), "-count", "1000",
                    "-out", str(tmp_path / "puzzles")],
    }[words]
    output, status = on_a_terminal(
        [*MERELS, *words.split(), *flags], COLUMNS, 300, interrupt_after="["
    )
    assert status == 130
    left = "\n".join(screen(output))
    assert "[" not in left and "^C" not in left, left


def test_a_terminal_without_a_size_has_a_default_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a former version, cutting the table to a negative number of columns never ended."""
    import pty

    for name in ("COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    master, terminal = pty.openpty()
    with open(master, "rb"), open(terminal, "w") as out:
        assert os.get_terminal_size(out.fileno()) == (0, 0)
        assert min(terminal_size(out)) > 0
