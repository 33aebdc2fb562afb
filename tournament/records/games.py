"""Pairings and games, to play and finished; games are the messages between runner and workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from merels.protocol.client.engine_spec import EngineSpec

NANOSECONDS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class TimeControl:
    """An engine's limits; None means no limit. Times are in nanoseconds.

    ``moves`` moves in ``time``, then ``time`` again, with ``increment`` after each move; or
    ``per_move`` for each move; ``nodes`` and ``depth`` go with either, or without. A clock may be
    overrun by ``margin`` before the game is lost.
    """

    time: int | None = None
    increment: int = 0
    moves: int | None = None
    per_move: int | None = None
    nodes: int | None = None
    depth: int | None = None
    margin: int = 0


def clock_text(limit: TimeControl) -> str:
    """A clock as ``tc=`` has it, such as ``40/60+0.6``; its ``time`` is not None."""
    text = seconds_text(limit.time or 0)
    if limit.moves is not None:
        text = f"{limit.moves}/{text}"
    return f"{text}+{seconds_text(limit.increment)}" if limit.increment else text


def control_text(limit: TimeControl) -> str:
    """A limit as PGN's TimeControl tag has it: ``40/60+0.6``, ``1/0.5`` a move, ``-`` for none."""
    if limit.per_move is not None:
        return f"1/{seconds_text(limit.per_move)}"
    return "-" if limit.time is None else clock_text(limit)


def seconds_text(nanoseconds: int) -> str:
    """A time in seconds, in as many digits as it has."""
    return f"{nanoseconds / NANOSECONDS:.9f}".rstrip("0").rstrip(".")


@dataclass(frozen=True, slots=True)
class Entrant:
    """An engine, which has a name, and the conditions that it plays under.

    ``restart``: it is started for every game. It has ``start_timeout`` seconds to answer the first
    handshake, and ``ping_timeout`` to answer isready.
    """

    engine: EngineSpec
    limit: TimeControl
    restart: bool = False
    ponder: bool = False
    start_timeout: float = 10.0
    ping_timeout: float = 15.0

    @property
    def name(self) -> str:
        """The engine's name, unique in the tournament."""
        return self.engine.name


@dataclass(frozen=True, slots=True)
class Adjudication:
    """When a game is ended before the rules end it; a count of 0 is off. Scores are in centi-men.

    ``tables`` is a folder of tablebases, which end the games that they decide; empty: none.
    """

    draw_number: int = 0
    draw_count: int = 0
    draw_score: int = 0
    resign_number: int = 0
    resign_count: int = 0
    resign_score: int = 0
    resign_twosided: bool = False
    max_moves: int = 0
    tables: str = ""
    table_results: str = "BOTH"
    """Which results tables adjudicate: `TABLE_RESULTS`."""


TABLE_RESULTS = ("BOTH", "WIN_LOSS", "DRAW")


@dataclass(frozen=True, slots=True)
class Opening:
    """Where a game starts: a position's text and the moves played from it, off the clock."""

    position: str
    moves: tuple[str, ...] = ()
    name: str = ""


class Pairing(NamedTuple):
    """Two engines, by their index in the settings; ``first`` has White in the first game."""

    first: int
    second: int


class PairingResult(NamedTuple):
    """A pairing whose games are over: the points of the first and of the second engine."""

    pairing: Pairing
    points: tuple[float, float]


Results = Sequence[Sequence[PairingResult]]
"""The finished pairings, round by round."""


@dataclass(frozen=True, slots=True)
class GameSpec:
    """One game to play. ``pair`` is the same for the games of one opening with colours swapped.

    ``seed`` is the game's own, for anything random in it; engines are not told. ``replays`` is how
    often it is played again when it is lost on time through delays that are not the engine's.
    """

    number: int
    round: int
    pair: int
    white: Entrant
    black: Entrant
    opening: Opening
    rules: str
    adjudication: Adjudication = Adjudication()
    seed: int = 0
    replays: int = 0
    keep_info: bool = False
    """Whether each move is recorded with the engine's last line of ``info``."""


@dataclass(frozen=True, slots=True)
class PairTask:
    """The unit of work: the games of one opening that are still to be played, in order.

    It carries all that they need: they are the same games wherever and however often it runs.
    """

    games: tuple[GameSpec, ...]
    pause: float = 0.0
    """Seconds between two games of a worker."""

    @property
    def engines(self) -> frozenset[str]:
        """The names of its engines."""
        return frozenset(name for game in self.games for name in (game.white.name, game.black.name))

    def without(self, played: set[int]) -> PairTask:
        """The task less the games whose numbers are in ``played``."""
        left = tuple(game for game in self.games if game.number not in played)
        return self if left == self.games else replace(self, games=left)


@dataclass(slots=True)
class MoveRecord:
    """One move as played: its text, the engine's score for itself, depth, nodes and time spent.

    ``score`` is in centi-men; ``win_in`` is in plies, where the engine claims a win (> 0) or a
    loss (<= 0); both are None where it gives no score.
    """

    move: str
    score: int | None
    win_in: int | None
    depth: int
    nodes: int
    elapsed: int
    """Nanoseconds from go to bestmove."""
    clock: int | None = None
    """Nanoseconds left after the move."""
    late: int | None = None
    """Nanoseconds of it that the runner was late to read the answer; None: not measured."""
    waited: int | None = None
    """Nanoseconds of it that the engine waited for a processor; None: not measured."""
    info: str = ""
    """The last line of ``info`` with a score, where it is recorded."""


class Overtime(NamedTuple):
    """The move that lost a game on time, as far as it was waited for; all in nanoseconds."""

    elapsed: int
    overrun: int
    """By how much it exceeded what the clock, or the time for a move, allowed."""
    margin: int
    """How much of that would have been forgiven."""
    late: int | None
    """How late the runner was to read the answer; None: not measured, or there was none."""
    waited: int | None
    """How long the engine waited for a processor; None like ``late``."""

    @property
    def excused(self) -> bool:
        """Whether delays by the runner and the machine account for the loss."""
        return (self.late or 0) + (self.waited or 0) >= self.overrun - self.margin

    @property
    def excuse(self) -> str:
        """The delays of the move, as text."""
        parts = []
        if self.late is not None:
            parts.append(f"the runner was {self.late / 1e6:.1f} ms late")
        if self.waited is not None:
            parts.append(f"the engine waited {self.waited / 1e6:.1f} ms for a processor")
        return ", ".join(parts)


class Oddities(NamedTuple):
    """Faults of an engine in a game that cost it nothing."""

    junk: int = 0
    """Lines that are no part of the protocol."""
    late: int = 0
    """Answers after the time was up that ``timemargin=`` forgave, or that belonged to no search."""


class Origin(NamedTuple):
    """Where a game was played, and by which programs; what is empty is unknown."""

    host: str = ""
    version: str = ""
    """Of merels."""
    ids: tuple[str, str] = ("", "")
    """The names and versions that White's and Black's engine announced."""
    programs: tuple[str, str] = ("", "")
    """The fingerprints of their programs."""


@dataclass(frozen=True, slots=True)
class GameResult:
    """A finished game. ``result`` is 1-0, 0-1, 1/2-1/2 or * (broken off).

    ``termination`` is one of normal, adjudication, abandoned, time forfeit, illegal move,
    unterminated; ``reason`` is the sentence that the record's last comment shows, for example
    ``White loses on time (13ms overrun)``.
    """

    spec: GameSpec
    result: str
    termination: str
    reason: str
    moves: tuple[MoveRecord, ...] = ()
    started: str = ""
    """Wall-clock time of the start, ISO 8601 in UTC."""
    elapsed: int = 0
    """Nanoseconds from first to last move."""
    overtime: Overtime | None = None
    """The move that lost it on time."""
    voided: tuple[str, ...] = ()
    """How earlier attempts at this game ended, which were void."""
    origin: Origin = Origin()
    oddities: tuple[Oddities, Oddities] = (Oddities(), Oddities())
    """White's and Black's."""
    cause: str = ""
    """One of `CAUSES`; empty if unknown."""
