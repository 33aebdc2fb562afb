"""Balanced openings: random positions that deep searches find level or tablebases prove drawn."""

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
from merels.tournament.openings.reading import LONGEST_PLIES, new_placements

CHOICES = 3
"""How many moves must be about as good as the best one, for either side."""
CHOICE_MARGIN = 40
"""How much worse than the best move, in centi-men, they may be."""
_GLANCE_SHARE, _GLANCE_BOUND = 16, 3
"""A first search, with a 16th of the nodes, rejects what is three times the bound from level."""
_HASH_MB = 32
HOLDING_SHARE = 3
"""In a proven book at most one move in this number holds the draw."""


@dataclass(frozen=True, slots=True)
class BookSettings:
    """Settings of a book; equal settings and an equal search make the same book.

    ``bound`` is how far from 0 a score may be, in centi-men; ``nodes`` is what each of the two deep
    searches of a position may visit. ``proven`` asks for positions that tablebases prove drawn,
    whatever their deep searches would say.
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
        if not 1 <= self.shortest <= self.longest <= LONGEST_PLIES:
            raise InputError(
                f"{self.shortest}-{self.longest}", f"expected plies from 1 to {LONGEST_PLIES}"
            )


class Entry(NamedTuple):
    """A position of a book, and what is known about it."""

    position: Position
    known: str

    def line(self, name: str) -> str:
        """The entry as a line of a position file."""
        return f"{format_position(self.position)} ; {name}: {self.known}"


class Found(NamedTuple):
    """How many positions were tried, and the last of them; ``entry`` None: it was rejected."""

    tried: int
    entry: Entry | None


Judge = Callable[[Position], Entry | None]
"""Makes the entry for a position, or rejects it with None."""


def make_book(settings: BookSettings, tables: Tables | None = None) -> Iterator[Found]:
    """Try random positions until the book is full, and yield what comes of each.

    The lengths take turns, so each has the same share. No two positions are the same under a
    symmetry of the board; exchanging the colours adds none, since White always begins. A
    ``proven`` book needs ``tables`` of the placing phase; `InputError` where one is missing.
    """
    searcher = Searcher(_HASH_MB)
    if settings.proven:
        assert tables is not None
        yield from _fill(settings, _by_tables(settings, tables, searcher))
    else:
        yield from _fill(settings, lambda position: _judge(searcher, position, settings))


def _fill(settings: BookSettings, judge_one: Judge) -> Iterator[Found]:
    """Try positions until a judge has found enough of them."""
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
                    f"there are only {number} such positions; allow more -plies or a wider -bound",
                )
            position = Position(settings.rules)
            for point in points:
                position = position.push(Move(None, point))
            tried += 1
            entry = judge_one(position)
            yield Found(tried, entry)


def _judge(searcher: Searcher, position: Position, settings: BookSettings) -> Entry | None:
    """A level position's entry, where each side in its turn has several good moves; else None."""
    bound = settings.bound
    glance = _best_lines(searcher, position, max(1, settings.nodes // _GLANCE_SHARE), 1)
    if not _is_level(_score(glance[0]), bound * _GLANCE_BOUND):
        return None
    lines = _best_lines(searcher, position, settings.nodes, CHOICES)
    if not _is_open(lines, bound):
        return None
    answers = _best_lines(searcher, position.play(lines[0].pv[0]), settings.nodes, CHOICES)
    if not _is_open(answers, bound):
        return None
    return Entry(position, f"score {_score(lines[0]).cp} nodes {lines[0].nodes}")


def _by_tables(settings: BookSettings, tables: Tables, searcher: Searcher) -> Judge:
    """A judge that keeps positions that tables have as drawn and in which few moves hold that."""
    glance = max(1, settings.nodes // _GLANCE_SHARE)

    def judge(position: Position) -> Entry | None:
        known, found = tables.probe(position), tables.holding(position)
        if known is None or found is None:
            raise InputError(format_position(position), "not all its moves are in the tables")
        holding, moves = found
        if known.value or holding > moves // HOLDING_SHARE:
            return None
        # A draw may be far from level for those who play it.
        score = _score(_best_lines(searcher, position, glance, 1)[0])
        if not _is_level(score, settings.bound * _GLANCE_BOUND):
            return None
        return Entry(position, f"proven draw, {holding} of {moves} moves hold it")

    return judge


def _best_lines(searcher: Searcher, position: Position, nodes: int, count: int) -> list[Info]:
    """The best moves' lines, from a search that starts with an empty transposition table."""
    said: list[Info] = []
    searcher.clear()
    searcher.search(position, Limit(nodes=nodes), said.append, multipv=count)
    lines = {info.multipv: info for info in said}
    return [lines[number] for number in sorted(lines)]


def _score(info: Info) -> Score:
    """A line's score for the side to move."""
    assert info.score is not None
    return info.score.relative


def _is_open(lines: list[Info], bound: int) -> bool:
    """Whether the position is level and the last of the lines not much worse than the first."""
    best, last = _score(lines[0]), _score(lines[-1])
    if len(lines) < CHOICES or best.cp is None or last.cp is None:
        return False
    return _is_level(best, bound) and best.cp - last.cp <= CHOICE_MARGIN


def _is_level(score: Score, bound: int) -> bool:
    """Whether nothing is proven and the estimate lies within the bound."""
    return score.cp is not None and abs(score.cp) <= bound
