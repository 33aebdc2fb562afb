"""Quoting of command lines for a POSIX shell and for Windows."""

from __future__ import annotations

import shlex

import pytest

from merels.engine.common.shell import shell_text

WORDS = ["merels", "tables", "-dir", r"C:\Users\A B\tables", "-set", "Flying=own", ""]


def test_a_posix_shell_reads_the_words_back() -> None:
    assert shlex.split(shell_text(WORDS, posix=True)) == WORDS


@pytest.mark.parametrize(
    ("word", "text"),
    [
        (r"C:\Users\A\tables", r"C:\Users\A\tables"),
        (r"C:\Users\A B\tables", r'"C:\Users\A B\tables"'),
        ("file=don't.db", "file=don't.db"),
        ("", '""'),
    ],
)
def test_windows_quotes_only_with_double_quotes(word: str, text: str) -> None:
    assert shell_text(["merels", word], posix=False) == f"merels {text}"
