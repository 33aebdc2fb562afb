"""A readable implementation of the compiled scanner, and random lines on which both must agree."""

from __future__ import annotations

import random
import re

from merels.engine.common.numbers import parse_whole
from merels.engine.game.position import WHITE

LONGEST_NUMBER = 18
WORDS = (
    b"info", b"info", b"info string", b"depth", b"score", b"score", b"cp", b"mate", b"nodes",
    b"multipv", b"multipv 1", b"multipv 2", b"string", b"bestmove", b"bestmove d6", b"Bestmove",
    b"score cp 12", b"score mate -3", b"depth 8 seldepth 9", b"nodes 4321", b"d6-d5xc3", b"ponder",
    b"0", b"1", b"-1", b"+7", b"-", b"007", b"1_0", b"9" * 18, b"-" + b"9" * 17, b"9" * 19,
    b"\xff", b"\0", b"", b"",
)
FIRST_WORDS = (
    b"info", b"bestmove", b"readyok", b"id", b"option", b"uciok", b"ugiok", b"copyprotection",
    b"registration", b"sanmill_error",
)
WHITE_SPACE = b" \t\n\r\x0b\x0c"
SPACES = (b" ", b" ", b" ", b" ", b" ", b"\n", b"\n", b"\r\n", b"\t", b"  ", b"\x0b")

Fields = tuple[int | None, int | None, int, int]
"""Score, plies to a claimed win or loss, depth and nodes, as in `InfoSummary`."""


def read_summary(line: bytes, side: int, white_view: bool, in_plies: bool) -> Fields:
    """Return the fields of an ``info`` line; see `parse_summary`."""
    words = line.split()
    words = words[: words.index(b"string")] if b"string" in words else words
    depth, nodes = (max(0, _number_after(name, words) or 0) for name in (b"depth", b"nodes"))
    after_score = words[words.index(b"score") + 1 :] if b"score" in words else []
    kind = after_score[0] if after_score else b""
    has_kind = kind in (b"cp", b"mate")
    score = _number_after(kind, after_score) if has_kind else _number_after(b"score", words)
    if score is None:
        return None, None, depth, nodes
    if white_view and side != WHITE:
        score = -score
    if kind != b"mate":
        return score, None, depth, nodes
    return None, score if in_plies else 2 * score - (score > 0), depth, nodes


def _number_after(name: bytes, words: list[bytes]) -> int | None:
    """Return the number after the first word ``name``, or None if it is missing or invalid."""
    at = words.index(name) + 1 if name in words else len(words)
    if at == len(words) or len(words[at]) > LONGEST_NUMBER:
        return None
    return parse_whole(words[at].decode("latin-1"))


def find_score(lines: bytes, end: int) -> bytes:
    """Return the last line with a score of the best variation before ``end``, or b''."""
    scored = b""
    for match in re.finditer(rb"[^\n]+", lines):
        line = match[0]
        if b" score " not in lines[match.start() : min(match.end(), end)]:
            continue
        variations = re.findall(rb"(?<= multipv )\s*(\S*)", line)
        if variations and variations[0] != b"1" or line.startswith(b"info string"):
            continue
        scored = line
    return scored


def find_answer(lines: bytes, inside: bool) -> tuple[bytes, bytes] | None:
    """Return the answer in the last line and the score before it; see `last_answer`."""
    before, _, answer = lines.partition(b"bestmove ")
    if answer.count(b"\n") != 1 or not answer.endswith(b"\n"):
        return None
    line = before.rpartition(b"\n")[2]
    if line and not (inside and line.startswith(b"info ")):
        return None
    return answer.strip(), find_score(lines, len(lines) if inside else len(before))


def count_unknown(lines: bytes) -> int:
    """Return the number of lines that begin with no word of the protocol."""
    return sum(
        line.split()[0].lower() not in FIRST_WORDS
        for line in lines.split(b"\n") if line.strip(WHITE_SPACE)
    )  # fmt: skip


def random_lines(generator: random.Random) -> bytes:
    """Return random lines of words that engines send, valid or not, some without a line feed."""
    text = b"".join(
        word for _ in range(generator.randrange(25))
        for word in (generator.choice(WORDS), generator.choice(SPACES))
    )
    if generator.random() < 0.5:
        text += b"\nbestmove " + generator.choice(WORDS)
    return text + b"\n" if generator.random() < 0.8 else text
