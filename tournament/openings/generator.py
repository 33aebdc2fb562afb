"""Balanced openings: random positions that searches find level or tablebases prove drawn."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from merels.engine.common.errors import InputError
from merels.engine.game.notation import format_position
from merels.engine.game.position import Move, Position
from merels.engine.game.rules import Rules
from merels.engine.game.score import Score
from merels.engine.search.limits import Info, Limit
from merels.engine.search.searcher import Searcher
from merels.engine.tablebase.probe import Tables
from merels.tournament.openings.reading import MAX_PLIES, new_placements

CHOICES = 3
"""Number of nearly best moves that each side must have."""
CHOICE_MARGIN = 40
"""Largest distance of a nearly best move from the best move, in centi-men."""
_QUICK_DIVISOR, _QUICK_BOUND = 16, 3
"""A quick search with 1/16 of the nodes rejects positions beyond three times the bound."""
_HASH_MB = 32
HOLDING_SHARE = 3
"""In a proven book, at most one in `HOLDING_SHARE` legal moves holds the draw."""


@dataclass(frozen=True, slots=True)
class BookSettings:
    """Settings of a book; equal settings and an equal search make the same book.

    ``bound`` is the largest absolute score, in centi-men. ``nodes`` limits each of the two deep
    searches of a position. ``proven`` accepts only positions that tablebases prove drawn, without
    deep searches. Raises InputError for invalid plies.
    """

    rules: Rules
    positions: int = 300
    shortest: int = 4
    longest: int = 10
    nodes: int = 300_000
    bound: int = 30
    seed: int = 1
    proven: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.shortest <= self.longest <= MAX_PLIES:
            raise InputError(
                f"{self.shortest}-{self.longest}",
                f"expected plies from 1 to {MAX_PLIES}, the smaller number first",
            )


class Entry(NamedTuple):
    """A position of a book, and the comment that justifies it."""

    position: Position
    comment: str

    def line(self, name: str) -> str:
        """Return the entry as a line of a position file."""
        return f"{format_position(self.position)} ; {name}: {self.comment}"


class Candidate(NamedTuple):
    """Position number ``tried``, from 1; ``entry`` is None if it was rejected."""

    tried: int
    entry: Entry | None


Judge = Callable[[Position], Entry | None]
"""Returns the entry for a position, or None to reject it."""


def make_book(settings: BookSettings, tables: Tables | None = None) -> Iterator[Candidate]:
    """Try random positions until the book is full, and yield each candidate.

    Each length from ``shortest`` to ``longest`` gets an equal share of the positions. No two
    positions are equal under the symmetries of the board. Positions with the colours exchanged
    count as different, because White always begins. A ``proven`` book needs ``tables`` that include
    the placing phase. Raises InputError if a table is missing or there are too few positions.
    """
    searcher = Searcher(_HASH_MB)
    searcher.opening = False  # It would replace the scores of proven draws, which are judged here.
    if settings.proven:
        assert tables is not None
        yield from _fill(settings, _by_tables(settings, tables, searcher))
    else:
        yield from _fill(settings, lambda position: _judge(searcher, position, settings))


def _fill(settings: BookSettings, judge: Judge) -> Iterator[Candidate]:
    """Yield candidates until the judge has accepted enough of them."""
    rng = random.Random(f"merels book {settings.seed}")
    seen: set[tuple[int, int]] = set()
    tried = 0
    for number in range(settings.positions):
        length = settings.shortest + number % (settings.longest - settings.shortest + 1)
        entry = None
        while entry is None:
            points = new_placements(rng, length, seen)
            if points is None:
                raise InputError(
                    str(settings.positions),
                    f"found only {number} balanced positions; allow more -plies or a wider -bound",
                )
            position = Position(rules=settings.rules)
            for point in points:
                position = position.push(Move(None, point))
            tried += 1
            entry = judge(position)
            yield Candidate(tried, entry)


def _judge(searcher: Searcher, position: Position, settings: BookSettings) -> Entry | None:
    """Return the entry of a level position in which both sides have several good moves, or None.

    The moves of the side that is not to move are judged after the best move.
    """
    bound = settings.bound
    quick_lines = _best_lines(searcher, position, max(1, settings.nodes // _QUICK_DIVISOR), 1)
    if not _is_level(_score(quick_lines[0]), bound * _QUICK_BOUND):
        return None
    lines = _best_lines(searcher, position, settings.nodes, CHOICES)
    if not _is_open(lines, bound):
        return None
    answers = _best_lines(searcher, position.play(lines[0].pv[0]), settings.nodes, CHOICES)
    if not _is_open(answers, bound):
        return None
    return Entry(position, f"score {_score(lines[0]).cp} nodes {lines[0].nodes}")


def _by_tables(settings: BookSettings, tables: Tables, searcher: Searcher) -> Judge:
    """Return a judge that accepts a proven draw if few moves hold it and its score is near 0."""
    quick_nodes = max(1, settings.nodes // _QUICK_DIVISOR)

    def judge(position: Position) -> Entry | None:
        value, move_counts = tables.probe(position), tables.holding(position)
        if value is None or move_counts is None:
            raise InputError(
                format_position(position),
                "expected tables with all moves of this position; "
                "make them with merels tables build -all -placing",
            )
        holding, moves = move_counts
        if value.value or holding > moves // HOLDING_SHARE:
            return None
        # A proven draw may still be far from level in practice.
        score = _score(_best_lines(searcher, position, quick_nodes, 1)[0])
        if not _is_level(score, settings.bound * _QUICK_BOUND):
            return None
        return Entry(position, f"proven draw, {holding} of {moves} moves hold it")

    return judge


def _best_lines(searcher: Searcher, position: Position, nodes: int, count: int) -> list[Info]:
    """Return the lines of the best moves, searched with an empty transposition table."""
    infos: list[Info] = []
    searcher.clear()
    searcher.search(position, Limit(nodes=nodes), infos.append, multipv=count)
    lines = {info.multipv: info for info in infos}
    return [lines[number] for number in sorted(lines)]


def _score(info: Info) -> Score:
    """Return a line's score for the side to move."""
    assert info.score is not None
    return info.score.relative


def _is_open(lines: list[Info], bound: int) -> bool:
    """Return whether a position is level and its ``CHOICES`` best moves are close together."""
    best, worst = _score(lines[0]), _score(lines[-1])
    if len(lines) < CHOICES or best.cp is None or worst.cp is None:
        return False
    return _is_level(best, bound) and best.cp - worst.cp <= CHOICE_MARGIN


def _is_level(score: Score, bound: int) -> bool:
    """Return whether the score is an estimate within the bound, not a proven result."""
    return score.cp is not None and abs(score.cp) <= bound
