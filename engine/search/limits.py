"""What a search is asked for, and what it says and answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from merels.engine.game.position import Move
from merels.engine.game.score import Score

MOST_SECONDS = 86_400.0
"""The longest time that a user may give a search: a day."""


@dataclass(frozen=True, slots=True)
class Limits:
    """When a search ends: at the first limit reached. Times are in milliseconds.

    ``mate`` ends it once a win in that many own moves is proven; ``time`` and ``increment`` are
    White's and Black's; ``moves`` are the only ones to choose from, all where it is empty.
    ``infinite`` and ``ponder`` end by `Searcher.stop` alone, ``ponder`` by its limits once
    `Searcher.ponderhit` was called.
    """

    depth: int | None = None
    nodes: int | None = None
    mate: int | None = None
    movetime: int | None = None
    time: tuple[int | None, int | None] = (None, None)
    increment: tuple[int, int] = (0, 0)
    moves_to_go: int | None = None
    infinite: bool = False
    ponder: bool = False
    moves: tuple[Move, ...] = ()

    @property
    def counts_alone(self) -> bool:
        """Whether only depth, nodes or a mate end the search, so that time plays no part."""
        bounded = (self.depth, self.nodes, self.mate) != (None, None, None)
        timed = self.movetime is not None or self.time != (None, None)
        return bounded and not (timed or self.infinite or self.ponder)


@dataclass(frozen=True, slots=True)
class Info:
    """What a search knows after an iteration; one line of it where several are asked for.

    ``time`` is in milliseconds, ``hashfull`` and ``wdl`` in a thousand.
    """

    depth: int
    score: Score
    pv: tuple[Move, ...] = ()
    seldepth: int = 0
    multipv: int = 1
    nodes: int = 0
    time: int = 0
    nps: int = 0
    hashfull: int = 0
    tbhits: int = 0

    @property
    def wdl(self) -> tuple[int, int, int]:
        """The score as expected win, draw and loss in a thousand."""
        return self.score.wdl()


class Result(NamedTuple):
    """A search's answer; ``move`` is None when the game is over. ``cut``: an iteration was.

    ``missing``: how many of its threads the system refused.
    """

    move: Move | None
    ponder: Move | None
    info: Info
    cut: bool = False
    missing: int = 0
