"""The review of a board's game, which runs in its own thread."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock, Thread, get_native_id

from merels.engine.game.rules import Rules
from merels.engine.search.searcher import Searcher
from merels.engine.tablebase.cache import TableCache
from merels.protocol.games.record import Record
from merels.protocol.review.review import Judge, Judgement, judge_with, review
from merels.protocol.review.text import Sums, annotate

NODES = 100_000
"""Search nodes for each position."""
TABLE_CACHE = TableCache()
"""The tablebase in the user's cache, shared by all boards of this process."""
_LOWEST_PRIORITY = 19
"""Niceness of the thread of a review that the user has not requested."""


@dataclass
class Progress:
    """A review that runs or has ended."""

    nodes: list[int]
    """Node numbers of the reviewed moves in the game's tree, in order of play."""
    judgements: list[Judgement] = field(default_factory=list)
    """Judgements so far, in order of play; other threads read the list while it grows."""
    sums: tuple[Sums, Sums] = field(default_factory=lambda: (Sums(), Sums()))
    """Statistics of White's and of Black's moves."""

    def add(self, judgement: Judgement) -> None:
        """Add the judgement of the next move."""
        self.sums[judgement.side].add(judgement)
        self.judgements.append(judgement)

    def annotate(self, record: Record) -> None:
        """Add the judgements to the reviewed moves that ``record`` still has."""
        for number, judgement in zip(self.nodes, self.judgements):
            if (node := record.find(number)) is not None:
                annotate(node, judgement)


class Reviewer:
    """Judges every move of a game in a thread.

    ``on_change`` is called after each change of the review, ``on_error`` with an error that ends
    it.
    """

    def __init__(
        self, on_change: Callable[[], None], on_error: Callable[[Exception], None]
    ) -> None:
        self.progress: Progress | None = None
        """The current review, or None."""
        self._on_change = on_change
        self._on_error = on_error
        self._lock = Lock()

    @property
    def running(self) -> bool:
        """Whether a review is running."""
        progress = self.progress
        return progress is not None and len(progress.judgements) < len(progress.nodes)

    def start(self, record: Record, quiet: bool = False) -> None:
        """Review a record in place of the current review; the caller must not change the record.

        On Linux a ``quiet`` review has the lowest priority. `RuntimeError` if no thread starts.
        """
        with self._lock:
            self.progress = progress = Progress([node.number for node in record.mainline()])
        try:
            Thread(target=self._review, args=(record, progress, quiet), daemon=True).start()
        except RuntimeError:  # The system cannot start a thread.
            self._discard(progress)
            raise
        self._on_change()

    def discard(self) -> None:
        """Discard the current review; its thread ends after the move that it is judging."""
        self._discard(self.progress)

    def _discard(self, progress: Progress | None) -> None:
        """Discard a review, unless another one has replaced it."""
        with self._lock:
            is_current = progress is not None and self.progress is progress
            if is_current:
                self.progress = None
        if is_current:
            self._on_change()

    def judge(self, rules: Rules) -> Judge:
        """Return a judge with the settings of a review; load the tablebase if needed."""
        searcher = Searcher()
        searcher.tables, _ = TABLE_CACHE.fetch(rules, wait=True)
        return judge_with(searcher, NODES)

    def _review(self, record: Record, progress: Progress, quiet: bool) -> None:
        if quiet and sys.platform == "linux":  # Other systems set the priority of the process.
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, get_native_id(), _LOWEST_PRIORITY)
        try:
            for judgement in review(record, self.judge(record.start.rules)):
                with self._lock:
                    if self.progress is not progress:
                        return
                    progress.add(judgement)
                self._on_change()
        except Exception as error:
            self._discard(progress)
            self._on_error(error)
