"""Limits of a search, its reports and its result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from merels.engine.game.position import WHITE, Move
from merels.engine.game.score import PovScore, Score

LONGEST = 10**9
"""Seconds, 31 years: times beyond it are treated alike."""
MOST_SECONDS = 86_400.0
"""The longest time that a user may give a search: a day."""


@dataclass(frozen=True, slots=True)
class Limit:
    """Limits of a search, which ends at the first one reached. All times are in seconds.

    ``time`` is for this search. ``depth`` is in plies, ``nodes`` counts the whole search.
    ``mate`` ends it once a win in that many own moves (plies in UGI) is proven. The clocks and
    increments are the game's; ``remaining_moves`` are those to the next time control.
    """

    time: float | None = None
    depth: int | None = None
    nodes: int | None = None
    mate: int | None = None
    white_clock: float | None = None
    black_clock: float | None = None
    white_inc: float | None = None
    black_inc: float | None = None
    remaining_moves: int | None = None

    def clock(self, side: int) -> float | None:
        """A side's clock."""
        return self.white_clock if side == WHITE else self.black_clock

    def increment(self, side: int) -> float | None:
        """A side's increment."""
        return self.white_inc if side == WHITE else self.black_inc

    def ends(self, side: int) -> bool:
        """Whether a search for this side reaches any limit; increments are none."""
        bounds = (self.time, self.depth, self.nodes, self.mate, self.clock(side))
        return any(bound is not None for bound in bounds)

    @property
    def untimed(self) -> bool:
        """Whether depth, nodes or a mate end the search, and time plays no part."""
        bounded = (self.depth, self.nodes, self.mate) != (None, None, None)
        return bounded and (self.time, self.white_clock, self.black_clock) == (None, None, None)


@dataclass(frozen=True, slots=True)
class Info:
    """A report of a running search; None in each field that the engine did not send.

    ``depth`` and ``seldepth`` are in plies, ``multipv`` numbers the variations from 1, the best.
    ``time`` is in seconds, ``hashfull`` and ``wdl`` (win, draw, loss) are in permille, ``bound``
    is ``lower``, ``upper`` or empty. ``pv`` is the principal variation, up to its last legal move.
    """

    score: PovScore | None = None
    bound: str = ""
    depth: int | None = None
    seldepth: int | None = None
    multipv: int = 1
    nodes: int | None = None
    nps: int | None = None
    time: float | None = None
    hashfull: int | None = None
    tbhits: int | None = None
    wdl: tuple[int, int, int] | None = None
    pv: tuple[Move, ...] = ()
    string: str = ""


class Result(NamedTuple):
    """The result of a search; ``move`` is None when the game is over.

    ``ponder`` is the expected reply. ``cut`` is True if the last iteration was not completed,
    ``missing`` how many of the search's threads the system refused.
    """

    move: Move | None
    ponder: Move | None
    info: Info
    cut: bool = False
    missing: int = 0

    @property
    def score(self) -> Score:
        """The score for the side to move."""
        assert self.info.score is not None
        return self.info.score.relative

    @property
    def nodes(self) -> int:
        """The nodes of the whole search, all threads together."""
        return self.info.nodes or 0
