"""A PGN file of any runner, game by game, before its moves are read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from merels.tournament.journal.rows import SCORES
from merels.tournament.records.files import LONGEST_LINE, file_error, read_lines

_TAG = re.compile(r'\s*\[\s*(\w+)\s+"((?:[^"\\]|\\.|"(?!\s*\]))*)"\s*\]\s*')
"""A tag with the spaces around it. Not every runner escapes the quotes within a name."""
_COMMENT = re.compile(r"\{[^}]*\}?|;.*")
"""A comment within a line; one in braces that is not closed reaches to the end of the line."""
_ESCAPE = re.compile(r"\\(.)")
_RESULT = re.compile(r"(?:^|\s)(1-0|0-1|1/2-1/2|\*)\s*\Z")


@dataclass(slots=True)
class PgnText:
    """One game's text as it stands in the file, and its tags."""

    line: int
    """Of its first line in the file, from 1."""
    text: str = ""
    tags: dict[str, str] = field(default_factory=dict)
    end: str = "*"
    """The result behind its moves."""

    @property
    def last_comment(self) -> str:
        """The last comment in braces, where runners say how the game ended; empty if none."""
        begin, end = self.text.rfind("{"), self.text.rfind("}")
        return " ".join(self.text[begin + 1 : end].split()) if 0 <= begin < end else ""

    @property
    def result(self) -> str:
        """The result that its tag states, else the one behind its moves."""
        stated = self.tags.get("Result", "")
        return stated if stated in (*SCORES, "*") else self.end


def pgn_texts(path: str, lines: Iterable[str] | None = None) -> Iterator[PgnText]:
    """The games of a PGN file, which may be larger than memory; - is standard input.

    ``lines`` are those of the file, where it is being read already. A game ends with the line that
    its result ends, or before the tags of the next.
    """
    game = PgnText(1)
    parts: list[str] = []
    size = 0
    in_moves = in_comment = ended = False
    for number, line in enumerate(read_lines(path) if lines is None else lines, 1):
        match = None if in_comment or "[" not in line else _TAG.match(line)
        if not in_comment and (ended or (match and in_moves)):
            yield replace(game, text="".join(parts))
            game, parts, size, in_moves, ended = PgnText(number), [], 0, False, False
        place = 0
        while match:
            name, value = match.groups()
            game.tags[name] = _ESCAPE.sub(r"\1", value) if "\\" in value else value
            place = match.end()
            match = _TAG.match(line, place) if place < len(line) else None
        parts.append(line)
        size += len(line)
        if size > LONGEST_LINE:
            raise file_error(path, f"expected games of at most {LONGEST_LINE >> 20} MiB each")
        rest = line[place:].rstrip()
        if in_moves and not (
            "1-0" in rest or "0-1" in rest or "1/2" in rest or "*" in rest or ";" in rest
        ):
            # As in nearly all lines of moves, all that may change is whether a comment is open.
            if "{" in rest or "}" in rest:
                in_comment = rest.rfind("{") > rest.rfind("}")
        elif rest:
            bare = _COMMENT.sub("", ("{" if in_comment else "") + rest + "\n")
            in_comment = not bare.endswith("\n")
            in_moves = in_moves or bool(game.tags or bare.strip())
            if match := _RESULT.search(bare):
                game.end, ended = match[1], True
    if game.tags or in_moves:
        yield replace(game, text="".join(parts))
