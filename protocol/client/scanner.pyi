"""Compiled functions that read the lines that engines send during a search.

They are compiled because an engine may send a line every few microseconds. They accept any bytes.
"""

class InfoSummary:
    """Score (the mover's view), depth and nodes of an ``info`` line; tournaments record them."""

    @property
    def score(self) -> int | None:
        """Score in hundredths of a man; None for a line without one, and for a mate."""

    @property
    def win_in(self) -> int | None:
        """Plies to the end after ``mate``: a win (> 0) or a loss (<= 0); None without a mate."""

    @property
    def depth(self) -> int:
        """Depth in plies; 0 without one."""

    @property
    def nodes(self) -> int:
        """Number of nodes; 0 without one."""

def parse_summary(
    line: bytes, side: int, white_view: bool = False, in_plies: bool = False
) -> InfoSummary:
    """Return score, depth and nodes of an ``info`` line; invalid numbers are left out.

    ``side`` is the side to move. ``white_view``: scores are White's view, not the mover's.
    ``in_plies``: mates count plies, not moves. Numbers with over 18 characters are invalid.
    """

def last_score(lines: bytes, end: int) -> bytes:
    """Return the last line whose word ``score`` is before the offset ``end``; b'' without any.

    Lines about variations other than the best, and lines that begin with ``info string``, are
    skipped.
    """

def count_junk(lines: bytes) -> int:
    """Return the number of lines that are not empty and begin with no word of the protocol."""

def last_answer(lines: bytes, inside: bool) -> tuple[bytes, bytes] | None:
    """Return the words after ``bestmove`` in the last line, and the `last_score` of the lines.

    ``bestmove`` must begin the line, or with ``inside`` be anywhere in an info line. Return None
    without a ``bestmove``, and for the irregular forms that `AnswerFinder` reads: an answer with
    lines after it, in capitals, indented or without a move.
    """
