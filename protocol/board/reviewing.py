"""The review of a board's game, in a thread of its own."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock, Thread
from typing import Any

from merels.engine.game.record import Record
from merels.engine.search.searcher import Searcher
from merels.protocol.review.review import as_json, judge_with, review
from merels.protocol.uci.table_cache import TableCache

NODES = 100_000
"""Positions searched for each move."""
TABLE_CACHE = TableCache()
"""The tablebase in the user's cache, shared by all boards of this process."""


class Reviewer:
    """Judges every move of a game; ``on_news`` is called after each."""

    def __init__(self, on_news: Callable[[], None]) -> None:
        self.progress: dict[str, Any] | None = None
        """The review so far as the page gets it: ``done``, ``moves`` and ``judgements``."""
        self._on_news = on_news
        self._lock = Lock()
        self._run = 0

    @property
    def running(self) -> bool:
        """Whether a review has begun and not ended."""
        progress = self.progress
        return progress is not None and progress["done"] < progress["moves"]

    def start(self, record: Record) -> None:
        """Begin a review in place of the one before."""
        with self._lock:
            self._run += 1
            self.progress = {"done": 0, "moves": len(record.moves), "judgements": []}
            thread = Thread(target=self._review, args=(record, self._run), daemon=True)
        thread.start()
        self._on_news()

    def forget(self) -> None:
        """Drop the review, which ends if it still runs."""
        with self._lock:
            self._run += 1
            told, self.progress = self.progress, None
        if told is not None:
            self._on_news()

    def _review(self, record: Record, run: int) -> None:
        judged: list[dict[str, object]] = []
        searcher = Searcher()
        searcher.tables, _ = TABLE_CACHE.fetch(record.start.rules, wait=True)
        for judgement in review(record, judge_with(searcher, NODES)):
            judged.append(as_json(judgement))
            with self._lock:
                if self._run != run:
                    return
                self.progress = {
                    "done": len(judged), "moves": len(record.moves), "judgements": list(judged)
                }
            self._on_news()
