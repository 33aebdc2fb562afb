"""Detection of a text's form from its beginning."""

from __future__ import annotations

import re

from merels.engine.common.errors import InputError
from merels.engine.game.rules import PRESETS
from merels.protocol.formats.pgn.tokens import as_result

HEAD_LENGTH = 1 << 12
"""Length of the beginning that is examined, in characters."""
READABLE_FORMS = (
    "games (PGN, PlayOK's numbers, lists of moves), positions (6 fields, 17 fields, MFEN/1.0), "
    "rule sets, or a manifest (MRS/1.0)"
)
"""The forms that merels reads, for messages."""

_UNREADABLE = [(re.compile(pattern), name) for pattern, name in (
    (r"\x1f[\x8b‹]", "a gzip file (unpack it first)"),
    (r"PK\x03\x04", "a ZIP file (unpack it first)"),
    (r"SQLite format 3", "an SQLite database"),
    (r"%PDF-", "a PDF file"),
    (r"[^\0]{0,4096}\0", "binary data"),
    (r"(?i:<!doctype|<html|<\?xml|<svg)", "an HTML or XML page"),
    (r"\(;", "a game in SGF"),
    (r"(?i:VariantName\s*+=)", "a saved game of Zillions of Games"),
    (r"(?i:position (?:startpos|fen)\b)", "a UCI command"),
    (r"(?:PLACE|MOVE)(?:&TAKE)?;", "a list of CodinGame commands"),
    (r"[1-8pnbrqkPNBRQK]{1,8}(?:/[1-8pnbrqkPNBRQK]{1,8}){7}\s", "a chess position"),
    (r"\[\s*+[{\[]", "a JSON array"),
)]
"""Patterns of forms that merels does not read, and the names of these forms."""
_GOLDTOKEN = re.compile(
    r"(?mi)\AGoldToken|^[ \t]*+(?:\d++[.)]?+[ \t]++)?(?:Place to [a-g][1-7]|[a-g][1-7] -> [a-g])"
)
_VERSIONED = re.compile(r"(?i)(?!mfen/)[a-z]{2,12}/[0-9]{1,3}\.[0-9]{1,3}(?!\S)")
_JSON = re.compile(r'\{\s*+(?:"[^"\n]*+"\s*+:|\})')
_GAME = re.compile(r"[\[{(;%$.…*½]|[0-9]|[a-gA-G][1-7]|[!?‼⁇⁈⁉]")


def detect(head: str) -> str:
    """Return the form of a text: ``games``, ``positions``, ``rules`` or ``manifest``.

    ``head`` is the beginning of the text, and not blank. For any other form, `InputError` names the
    form if it is known, and lists the forms that merels reads.
    """
    text = head[:HEAD_LENGTH].lstrip("\ufeff\u200b \t\r\n")
    line = first_line(text)
    word = line.split(None, 1)[0] if line else text[:1]
    name = next((name for pattern, name in _UNREADABLE if pattern.match(text)), "")
    if _VERSIONED.match(line):
        name = word.upper()
    elif not name and _GOLDTOKEN.search(text):
        name = "a game in GoldToken's notation"
    if name:
        raise InputError(
            line, f"this is {name}, which merels does not read; it reads {READABLE_FORMS}"
        )
    if _JSON.match(text):
        return "manifest"
    if word.lower() in PRESETS:
        return "rules"
    if is_position(word):
        return "positions"
    if _GAME.match(word):
        return "games"
    raise InputError(line, f"expected {READABLE_FORMS}")


def first_line(text: str) -> str:
    """Return the first line with text before its comment, which ``;`` begins; or ''."""
    for line in text.splitlines():
        if content := line.partition(";")[0].strip():
            return content
    return ""


def is_position(word: str) -> bool:
    """Return whether a text that begins with ``word`` is a position, not a game."""
    # The first word of a game contains a slash only in a result, a tag or a comment.
    return "/" in word and as_result(word) is None and word[0] not in "[{;(%"
