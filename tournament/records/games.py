"""Time controls, pairings, games and results: plain data that runner and workers exchange."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from merels.protocol.client.engine_spec import EngineSpec

SECOND, MILLISECOND = 1_000_000_000, 1_000_000
"""A second and a millisecond, in nanoseconds."""


# The parts of a `PairTask` have no slots: with slots, pickling a frozen dataclass takes twice as
# long.


@dataclass(frozen=True)
class TimeControl:
    """Limits of an engine; None means no limit. Times are in nanoseconds.

    A clock gives ``time`` for ``moves`` moves, or for the whole game if ``moves`` is None, and adds
    ``increment`` after each move. ``per_move`` is a fixed time per move. ``nodes`` and ``depth``
    limit each search, with or without a clock. A game is lost on time only if the clock or the time
    per move is overrun by more than ``margin``.
    """

    time: int | None = None
    increment: int = 0
    moves: int | None = None
    per_move: int | None = None
    nodes: int | None = None
    depth: int | None = None
    margin: int = 0


def clock_text(limit: TimeControl) -> str:
    """Return a clock as ``tc=`` spells it, such as ``40/60+0.6``; ``time`` must be set."""
    text = seconds_text(limit.time or 0)
    if limit.moves is not None:
        text = f"{limit.moves}/{text}"
    return f"{text}+{seconds_text(limit.increment)}" if limit.increment else text


def control_text(limit: TimeControl) -> str:
    """Return a limit as PGN's TimeControl tag spells it.

    Examples: ``40/60+0.6``, ``1/0.5`` for a time per move, ``-`` without a limit on time.
    """
    if limit.per_move is not None:
        return f"1/{seconds_text(limit.per_move)}"
    return "-" if limit.time is None else clock_text(limit)


def seconds_text(nanoseconds: int) -> str:
    """Return nanoseconds as seconds, without trailing zeros."""
    return f"{nanoseconds / SECOND:.9f}".rstrip("0").rstrip(".")


@dataclass(frozen=True)
class Entrant:
    """An engine of the tournament and the conditions under which it plays.

    ``restart`` starts a new process for every game. A new process must answer the greeting within
    ``start_timeout`` seconds, and each ``isready`` within ``ping_timeout`` seconds.
    """

    engine: EngineSpec
    limit: TimeControl
    restart: bool = False
    ponder: bool = False
    start_timeout: float = 10.0
    ping_timeout: float = 15.0

    @property
    def name(self) -> str:
        """Name, unique in the tournament."""
        return self.engine.name


@dataclass(frozen=True)
class Adjudication:
    """Rules that end a game early; see `Adjudicator`. Scores are in centi-men."""

    draw_number: int = 0
    """Number of the first move at which a draw may be adjudicated."""
    draw_count: int = 0
    """Moves of each side in a row that must have level scores; 0: no draw by scores."""
    draw_score: int = 0
    """Largest absolute value of a level score."""
    resign_number: int = 0
    """Number of the first move at which a loss may be adjudicated."""
    resign_count: int = 0
    """Moves of one side in a row that must have lost scores; 0: no loss by scores."""
    resign_score: int = 0
    """A score of minus this value or less is lost; a score of this value or more is won."""
    resign_twosided: bool = False
    """Whether as many moves of the opponent must have won scores, too."""
    max_moves: int = 0
    """Moves of each side, the opening included, after which a game is drawn; 0: no limit."""
    tables: str = ""
    """Folder of the tablebases that adjudicate games, or ''."""
    table_results: str = "BOTH"
    """Results that tablebases adjudicate, one of `TABLE_RESULTS`."""


TABLE_RESULTS = ("BOTH", "WIN_LOSS", "DRAW")
"""Values of ``-tbadjudicate``."""


@dataclass(frozen=True)
class Opening:
    """Start of a game: the text of a position, and moves played from it without clocks."""

    position: str
    moves: tuple[str, ...] = ()
    name: str = ""


class Pairing(NamedTuple):
    """Indices of two engines in the settings; ``first`` is White in the first game."""

    first: int
    second: int


class PairingResult(NamedTuple):
    """A pairing, with the points of its first and second engine."""

    pairing: Pairing
    points: tuple[float, float]


Results = Sequence[Sequence[PairingResult]]
"""Pairings with their points, by round."""


@dataclass(frozen=True)
class GameSpec:
    """A game to play. The one or two games of a pair share their opening and ``pair``.

    ``seed`` is derived from the tournament's seed. Only executors that invent games, as in tests,
    use it.
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
    keep_info: bool = False
    """Whether each move's last ``info`` line is recorded."""


@dataclass(frozen=True)
class PairTask:
    """Unit of work: the unplayed games of one pair, in order, with all that a worker needs."""

    games: tuple[GameSpec, ...]
    pause: float = 0.0
    """Pause of a worker between two games, in seconds."""

    @property
    def pair(self) -> int:
        """Number of the pair in the tournament."""
        return self.games[0].pair

    @property
    def engines(self) -> frozenset[str]:
        """Names of the two engines, which swap colours between the games of a pair."""
        game = self.games[0]
        return frozenset((game.white.name, game.black.name))

    def without(self, played: set[int]) -> PairTask:
        """Return the task without the games whose numbers are in ``played``."""
        unplayed = tuple(game for game in self.games if game.number not in played)
        return self if unplayed == self.games else replace(self, games=unplayed)


@dataclass(slots=True)
class MoveRecord:
    """A played move with the engine's score (from its own view), depth, nodes and time.

    ``score`` is in centi-men. ``win_in`` is a claimed distance in plies: above 0 to a win, else to
    a loss. Both are None if the engine sent no score.
    """

    move: str
    score: int | None
    win_in: int | None
    depth: int
    nodes: int
    elapsed: int
    """Time from go to bestmove, in nanoseconds."""
    clock: int | None = None
    """Time left after the move, in nanoseconds; None without a clock."""
    late: int | None = None
    """Runner's delay in reading the answer, part of ``elapsed``; None if not measured."""
    waited: int | None = None
    """Engine's wait for a processor, part of ``elapsed``; None if not measured."""
    info: str = ""
    """Last ``info`` line with a score, if recorded."""


class Overtime(NamedTuple):
    """Times of the move that lost a game on time, in nanoseconds."""

    elapsed: int
    overrun: int
    """Time beyond the clock or the time per move; the margin is not subtracted."""
    margin: int
    """Largest overrun that does not lose the game."""
    late: int | None
    """Delay of the runner in reading the answer; None if not measured."""
    waited: int | None
    """Time that the engine waited for a processor; None if not measured."""

    @property
    def excused(self) -> bool:
        """Whether delays of the runner and the machine account for the loss."""
        return (self.late or 0) + (self.waited or 0) >= self.overrun - self.margin


class Oddities(NamedTuple):
    """Counts of an engine's faults that did not affect the game."""

    junk_lines: int = 0
    """Lines outside the protocol."""
    late_answers: int = 0
    """Answers late by at most ``timemargin=``, and answers to no search or to an earlier one."""


class Origin(NamedTuple):
    """Machine and programs of a game; empty fields are unknown."""

    host: str = ""
    version: str = ""
    """Version of merels."""
    ids: tuple[str, str] = ("", "")
    """Names and versions that White's and Black's engine announced."""
    programs: tuple[str, str] = ("", "")
    """Fingerprints of White's and Black's program."""


@dataclass(frozen=True, slots=True)
class GameResult:
    """A finished game. ``result`` is 1-0, 0-1 or 1/2-1/2.

    ``termination`` is normal, adjudication, abandoned, time forfeit or illegal move. ``reason`` is
    the sentence of the last comment in PGN, for example ``White loses on time (13ms overrun)``.
    """

    spec: GameSpec
    result: str
    termination: str
    reason: str
    moves: tuple[MoveRecord, ...] = ()
    started: str = ""
    """Start of the game, before its engines are ready, ISO 8601 in UTC."""
    elapsed: int = 0
    """Duration of the game from the first ``go``, in nanoseconds."""
    overtime: Overtime | None = None
    """The move that lost on time, or None."""
    origin: Origin = Origin()
    oddities: tuple[Oddities, Oddities] = (Oddities(), Oddities())
    """Oddities of White's and Black's engine."""
    cause: str = ""
    """One of `CAUSES` in `merels.tournament.statistics.terminations`; empty if unknown."""
