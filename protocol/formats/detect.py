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
    "or rule sets"
)
"""The forms that merels reads, for messages."""

_GOLDTOKEN = re.compile(
    r"(?mi)\AGoldToken|^[ \t]*+(?:\d++[.)]?+[ \t]++)?(?:Place to [a-g][1-7]|[a-g][1-7] -> [a-g])"
)
_JSON = re.compile(r'\{\s*+(?:"[^"\n]*+"\s*+:|\})')
"""The beginning of a JSON object, which could also be a comment of a game."""
_GAME = re.compile(r"[\[{(;%$.…*½]|[0-9]|[a-gA-G][1-7]|[!?‼⁇⁈⁉]")


def detect(head: str) -> str:
    """Return the form of a text: ``games``, ``positions`` or ``rules``.

    ``head`` is the beginning of the text, and not blank. For any other form, `InputError` quotes
    the first words and lists the forms that merels reads.
    """
    text = head[:HEAD_LENGTH].lstrip("\ufeff\u200b \t\r\n")
    line = first_line(text)
    word = line.split(None, 1)[0] if line else text[:1]
    if _GOLDTOKEN.search(text):
        raise InputError(line, f"GoldToken's notation; expected {READABLE_FORMS}")
    if word.lower() in PRESETS:
        return "rules"
    if is_position(word):
        return "positions"
    if _GAME.match(word) and not _JSON.match(text):
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
