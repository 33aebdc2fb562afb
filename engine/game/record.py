"""Game records: moves with comments, variations and tags."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from merels.engine.game.position import (
    COLOURS,
    COUNTING_RULES,
    Move,
    Outcome,
    Position,
)

RESULTS = ("1-0", "0-1", "1/2-1/2", "*")


@dataclass
class Variation:
    """Moves in place of others; its fields are like those of a record."""

    moves: list[Move] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    opening_comment: str = ""
    variations: dict[int, list[Variation]] = field(default_factory=dict)
    glyphs: dict[int, list[str]] = field(default_factory=dict)


@dataclass
class Record:
    """A game: its tags, its first position, its moves, a comment for each move, its result.

    ``comments[i]`` follows ``moves[i]`` and may be empty; ``opening_comment`` stands before
    the first move. ``variations[i]`` are in place of ``moves[i]`` and what follows it.
    ``glyphs[i]`` are the numeric annotation glyphs of ``moves[i]``, such as $1. ``start`` carries
    the rules.
    """

    start: Position = field(default_factory=Position)
    moves: list[Move] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    result: str = "*"
    tags: dict[str, str] = field(default_factory=dict)
    opening_comment: str = ""
    variations: dict[int, list[Variation]] = field(default_factory=dict)
    glyphs: dict[int, list[str]] = field(default_factory=dict)
    drawn: tuple[int, Outcome] | None = field(default=None, compare=False)
    """Number of moves after which a counting rule drew the game, and the draw, if moves follow."""

    def positions(self) -> Iterator[Position]:
        """Yield every position of the game, the first one included.

        After a draw by counting the game goes on without such rules.
        """
        position = self.start
        yield position
        for move in self.moves:
            position = position.played_on().play(move)
            yield position

    def final(self) -> Position:
        """The position after the last move."""
        *_, position = self.positions()
        return position


def drawn_notice(record: Record, by_flags: bool = True) -> str:
    """Return one sentence on a draw by counting after which moves follow; empty if none does.

    ``by_flags``: the user states rules with -variant and -set.
    """
    if record.drawn is None:
        return ""
    plies, outcome = record.drawn
    where = "before the first move"
    if plies:
        where = f"at {place_of(record.start, plies - 1)} ({record.moves[plies - 1]})"
    setting = f"{COUNTING_RULES[outcome.reason]}=0"
    if by_flags:
        setting = f"-set {setting}" + " or -variant morris" * (outcome.reason == "three")
    return f"{outcome} {where}; the moves after it are read on; {setting} has no such draw"


def place_of(start: Position, plies: int) -> str:
    """Return the number and side of a move by the number of plies since the first position."""
    number, side = divmod(2 * start.number + start.side + plies, 2)
    return f"move {number}, {COLOURS[side]}"
