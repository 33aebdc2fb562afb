"""Limits of a search, reports of a running search, and its result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from merels.engine.common.errors import required
from merels.engine.common.numbers import real_number, whole_number
from merels.engine.game.position import WHITE, Move
from merels.engine.game.score import PovScore, Score

LONGEST = 10**9
"""Cap of all times, in seconds (31 years), so that nanoseconds fit into 64 bits."""
MAX_COUNT = 10**18
"""Upper bound of depth, nodes, mate and moves to the next time control; the lower bound is 1."""
MAX_TIME = 86_400.0
"""Longest time that a user may set for a search: one day, in seconds."""


@dataclass(frozen=True, slots=True)
class Limit:
    """Limits of a search, which ends at the first one reached. All times are in seconds.

    ``time`` is for this search. ``depth`` is in plies; ``nodes`` counts the nodes of all threads.
    ``mate`` ends the search once it has proven a win in that number of own moves; an engine that
    speaks UGI counts it in plies. The clocks and increments are the game's; ``remaining_moves`` is
    the number of moves to the next time control.

    A whole float such as 1e6 counts as an integer. `InputError` for any other value that is no
    limit, such as ``nodes=0``, ``depth=2.5`` or a negative time.
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

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if value is None:
                continue
            if name in ("depth", "nodes", "mate", "remaining_moves"):
                object.__setattr__(self, name, whole_number(value, 1, MAX_COUNT, name))
            else:
                real_number(value, 0, LONGEST, name)

    def clock(self, side: int) -> float | None:
        """Return a side's clock in seconds."""
        return self.white_clock if side == WHITE else self.black_clock

    def increment(self, side: int) -> float | None:
        """Return a side's increment in seconds."""
        return self.white_inc if side == WHITE else self.black_inc

    def ends(self, side: int) -> bool:
        """Return whether any limit ends a search for this side; an increment is no limit."""
        bounds = (self.time, self.depth, self.nodes, self.mate, self.clock(side))
        return any(bound is not None for bound in bounds)

    @property
    def untimed(self) -> bool:
        """Whether only depth, nodes or a mate end the search."""
        bounded = (self.depth, self.nodes, self.mate) != (None, None, None)
        return bounded and (self.time, self.white_clock, self.black_clock) == (None, None, None)


def required_limit(limit: object) -> Limit:
    """Return an argument that must be a `Limit`; `InputError` if it is not."""
    return required(limit, Limit, "a Limit, such as Limit(time=0.1)")


@dataclass(frozen=True, slots=True)
class Info:
    """A report of a running search; a field that the engine did not send has its default.

    ``depth`` and ``seldepth`` are in plies; ``multipv`` is the rank of the variation, 1 the best.
    ``time`` is in seconds; ``hashfull`` and ``wdl`` (win, draw, loss) are in permille; ``bound``
    is ``lower``, ``upper`` or empty. ``pv`` is the principal variation up to its last legal move.
    ``string`` is the text of an ``info string`` line.
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
    """Result of a search; ``move`` is None if the game is over.

    ``ponder`` is the expected reply. ``interrupted`` is True if the last iteration was not
    completed; ``missing`` is the number of threads that could not be started.
    """

    move: Move | None
    ponder: Move | None
    info: Info
    interrupted: bool = False
    missing: int = 0

    @property
    def score(self) -> Score:
        """The score for the side to move."""
        assert self.info.score is not None
        return self.info.score.relative

    @property
    def nodes(self) -> int:
        """Number of nodes of the whole search, of all threads."""
        return self.info.nodes or 0
