"""The review of a board's game, in a thread of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock, Thread

from merels.engine.game.rules import Rules
from merels.engine.search.searcher import Searcher
from merels.engine.tablebase.cache import TableCache
from merels.protocol.games.record import Record
from merels.protocol.review.review import Judge, Judgement, judge_with, review
from merels.protocol.review.text import Sums, annotate

NODES = 100_000
"""Positions searched for each move."""
TABLE_CACHE = TableCache()
"""The tablebase in the user's cache, shared by all boards of this process."""


@dataclass
class Progress:
    """A review so far: of a game's moves, the judgements of the first."""

    nodes: list[int]
    """The numbers of the moves in the game's tree."""
    judgements: list[Judgement] = field(default_factory=list)
    """Only ever appended to."""
    sums: tuple[Sums, Sums] = field(default_factory=lambda: (Sums(), Sums()))
    """White's and Black's moves in numbers."""

    def add(self, judgement: Judgement) -> None:
        """Take in the judgement of the next move."""
        self.sums[judgement.side].add(judgement)
        self.judgements.append(judgement)

    def annotate(self, record: Record) -> None:
        """Add the judgements to the moves that the game still has."""
        for number, judgement in zip(self.nodes, self.judgements):
            if (node := record.find(number)) is not None:
                annotate(node, judgement)


class Reviewer:
    """Judges every move of a game; ``on_change`` is called after each.

    ``on_error`` is called with an error that ends a review.
    """

    def __init__(
        self, on_change: Callable[[], None], on_error: Callable[[Exception], None]
    ) -> None:
        self.progress: Progress | None = None
        """The review, if there is one."""
        self._on_change = on_change
        self._on_error = on_error
        self._lock = Lock()

    @property
    def running(self) -> bool:
        """Whether a review is running."""
        progress = self.progress
        return progress is not None and len(progress.judgements) < len(progress.nodes)

    def start(self, record: Record) -> None:
        """Begin a review of a record that nothing changes, in place of the one before."""
        with self._lock:
            self.progress = progress = Progress([node.number for node in record.line()])
        try:
            Thread(target=self._review, args=(record, progress), daemon=True).start()
        except RuntimeError:  # The system cannot start a thread.
            self._drop(progress)
            raise
        self._on_change()

    def forget(self) -> None:
        """Drop the review, which ends if it still runs."""
        self._drop(self.progress)

    def _drop(self, progress: Progress | None) -> None:
        """Drop a review, unless another one has replaced it."""
        with self._lock:
            dropped = progress is not None and self.progress is progress
            if dropped:
                self.progress = None
        if dropped:
            self._on_change()

    def judge(self, rules: Rules) -> Judge:
        """A judge of positions like the one that judges the game's moves."""
        searcher = Searcher()
        searcher.tables, _ = TABLE_CACHE.fetch(rules, wait=True)
        return judge_with(searcher, NODES)

    def _review(self, record: Record, progress: Progress) -> None:
        try:
            for judgement in review(record, self.judge(record.start.rules)):
                with self._lock:
                    if self.progress is not progress:
                        return
                    progress.add(judgement)
                self._on_change()
        except Exception as error:
            self._drop(progress)
            self._on_error(error)
