"""Splitting of command lines into words, on POSIX systems and on Windows."""

from __future__ import annotations

import random
import shlex

import pytest

from merels.protocol.process.command import shell_words


@pytest.mark.parametrize(
    "text, on_posix, on_windows",
    [
        (r'"C:\My games\mill.exe" -log C:\log', [r"C:\My games\mill.exe", "-log", "C:log"],
         [r"C:\My games\mill.exe", "-log", r"C:\log"]),
        (r"my\ mill 'a \b' x=\"y", ["my mill", r"a \b", 'x="y'], None),
        (r"mill.exe '' x='a b'\c", ["mill.exe", "", "x=a bc"], ["mill.exe", "", r"x=a b\c"]),
        ('mill "uci', None, None),
    ],
)  # fmt: skip
def test_quotes_and_backslashes_on_posix_and_windows(
    text: str, on_posix: list[str] | None, on_windows: list[str] | None
) -> None:
    for words, posix in ((on_posix, True), (on_windows, False)):
        if words is None:
            with pytest.raises(ValueError, match="quotation"):
                shell_words(text, posix=posix)
        else:
            assert shell_words(text, posix=posix) == words


@pytest.mark.parametrize("posix", [True, False])
def test_joined_words_are_split_into_the_original_words(posix: bool) -> None:
    words = [r"C:\My games\mill.exe", "it's", 'say "mill"', "", "#1", r"\\host\share", "ü"]
    assert shell_words(shlex.join(words), posix=posix) == words
    assert shell_words(shlex.join(words) + " # as a comment", True, posix) == words


@pytest.mark.parametrize("comments", [False, True])
@pytest.mark.parametrize("posix", [False, True])
def test_words_are_split_as_shlex_splits_them(posix: bool, comments: bool) -> None:
    generator = random.Random(7)
    for _ in range(3000):
        text = "".join(generator.choices("ab '\"\\#\n\t\v", k=generator.randint(0, 9)))
        # Without an escape character, shlex splits as `shell_words` does on Windows.
        reader = shlex.shlex(text, posix=True)
        reader.whitespace_split = True
        reader.commenters = "#" if comments else ""
        reader.escape = "\\" if posix else ""
        try:
            words = list(reader)
        except ValueError:
            with pytest.raises(ValueError):
                shell_words(text, comments, posix)
        else:
            assert shell_words(text, comments, posix) == words, text
