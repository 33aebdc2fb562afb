"""A review as lines for the terminal, as annotated PGN, and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import exp
from statistics import fmean, harmonic_mean

from merels.engine.common.numbers import counted
from merels.engine.game.notation import format_position
from merels.engine.game.position import BLACK, COLOURS, WHITE
from merels.engine.game.score import PovScore
from merels.protocol.formats.pgn.reader import GLYPHS
from merels.protocol.games.writer import format_record
from merels.protocol.games.record import Record
from merels.protocol.games.tree import Node
from merels.protocol.review.review import GRADES, SYMBOLS, Judgement, as_json, score_text

MOVE_GLYPHS = ("$1", "$2", "$3", "$4", "$5", "$6")
"""PGN glyphs that judge a move."""
_BAR_WIDTH = 20
"""Width of the bar that shows White's expected score, in characters."""


@dataclass
class Sums:
    """Totals of several judgements."""

    moves: int = 0
    loss: float = 0.0
    """Sum of the losses, in expected score."""
    names: Counter[str] = field(default_factory=Counter)
    """Number of moves by judgement, such as ``blunder``; an empty string is a good move."""
    accuracies: list[float] = field(default_factory=list)
    """Accuracy in percent of each move at which value was at stake."""

    def add(self, judgement: Judgement) -> None:
        """Add a judgement to the totals."""
        self.moves += 1
        self.loss += judgement.loss
        self.names[judgement.name] += 1
        if judgement.at_stake:
            self.accuracies.append(accuracy_of(judgement.loss))

    @property
    def accuracy(self) -> float | None:
        """Mean of the arithmetic and the harmonic mean of `accuracies`; None if it is empty."""
        if not self.accuracies:
            return None
        return (fmean(self.accuracies) + harmonic_mean(self.accuracies)) / 2

    @property
    def average_loss(self) -> float:
        """The average loss of a move, from 0 to 1."""
        return self.loss / self.moves if self.moves else 0.0

    def __str__(self) -> str:
        counts = [counted(self.names[name], name) for _, name in GRADES]
        return f"{', '.join(counts)}; average loss {100 * self.average_loss:.1f}% a move"


def accuracy_of(loss: float) -> float:
    """Return a move's accuracy in percent on the scale of lichess; at least 1."""
    return min(100.0, max(1.0, 103.1668 * exp(-4.354 * loss) - 3.1669))


def lines(judgements: Iterator[Judgement]) -> Iterator[str]:
    """Yield the review for a terminal: a line for each move, then the totals of each side.

    The bar in a line shows White's expected score after the move.
    """
    totals = (Sums(), Sums())
    yield f"{'move':<17}{'loss':>5}  {'score':<18}White"
    for judgement in judgements:
        totals[judgement.side].add(judgement)
        yield _line(judgement).rstrip()
    yield ""
    for side in (WHITE, BLACK):
        yield f"{COLOURS[side]}: {totals[side]}"


def _line(judgement: Judgement) -> str:
    dots = "." if judgement.side == WHITE else "..."
    move = f"{judgement.number}{dots} {judgement.move}{SYMBOLS.get(judgement.name, '')}"
    loss = f"{judgement.loss * 100:.0f}" if judgement.loss >= 0.005 else ""
    filled = round(judgement.after.white * _BAR_WIDTH)
    bar = "[" + "#" * filled + " " * (_BAR_WIDTH - filled) + "]"
    score = score_text(judgement.after.score)
    return f"{move:<17}{loss:>5}  {score:<18}{bar} {judgement.sentence}"


def annotated(record: Record, judged: Sequence[Judgement]) -> str:
    """Annotate the moves of a record in place; return the record as PGN."""
    for node, judgement in zip(record.mainline(), judged):
        annotate(node, judgement)
    return format_record(record)


def annotate(node: Node, judgement: Judgement) -> None:
    """Add ``[%eval]`` and a comment to a node, and a glyph if no glyph judges the move yet."""
    if judgement.after.best is not None:  # The game goes on.
        node.mark("eval", evaluation_text(judgement.after.score))
    node.add_sentence("; ".join(filter(None, (judgement.sentence, judgement.cost))))
    if judgement.name and not any(glyph in MOVE_GLYPHS for glyph in node.glyphs):
        node.glyphs = [GLYPHS[SYMBOLS[judgement.name]], *node.glyphs]


def evaluation_text(score: PovScore) -> str:
    """Return a score from White's view in the form of PGN's ``[%eval]``.

    The text is a number of men, such as ``-0.25``, or the winner's moves to the end: ``#3``, or
    ``#-3`` for Black.
    """
    white = score.white()
    if white.win_in is None:
        return f"{(white.cp or 0) / 100:.2f}"
    return f"#{'-' if white.win_in < 0 else ''}{(abs(white.win_in) + 1) // 2}"


def to_json(record: Record, judged: Sequence[Judgement]) -> dict[str, object]:
    """Return the review of a game as a JSON object; ``loss`` and ``value`` are from 0 to 1."""
    return {
        "rules": str(record.start.rules),
        "position": format_position(record.start),
        "result": record.result,
        "moves": [as_json(judgement) for judgement in judged],
    }
