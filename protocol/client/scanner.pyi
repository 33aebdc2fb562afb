"""A compiled reader of the lines that engines write while they search.

It reads every line of every engine, microseconds apart: hence C. It takes any bytes.
"""

class Brief:
    """The fields of an ``info`` line that a tournament keeps; the score is the mover's view."""

    @property
    def score(self) -> int | None:
        """Centi-men."""

    @property
    def win_in(self) -> int | None:
        """Plies to a claimed win (> 0) or loss (<= 0)."""

    @property
    def depth(self) -> int:
        """0 without one."""

    @property
    def nodes(self) -> int:
        """0 without any."""

def parse_brief(line: bytes, side: int, white_view: bool = False, in_plies: bool = False) -> Brief:
    """Score, depth and nodes of an ``info`` line; what cannot be read is left out.

    ``side`` was to move; ``white_view`` is True if the engine always reports White's view,
    ``in_plies`` that it counts mates in plies. Numbers have at most 18 characters.
    """

def last_score(lines: bytes, end: int) -> bytes:
    """The last line before ``end`` that has a score, of several variations the best one's.

    Nothing without one. An ``info string`` has none: it is in the engine's own words.
    """

def count_junk(lines: bytes) -> int:
    """Number of lines that are not empty and do not begin with a word of the protocol."""

def last_answer(lines: bytes, inside: bool) -> tuple[bytes, bytes] | None:
    """Return the words after ``bestmove `` if the last whole line begins with it, and `last_score`.

    With ``inside`` it may stand anywhere in that line. None for anything less usual: an answer with
    lines behind it, in upper case, indented, without a move.
    """
