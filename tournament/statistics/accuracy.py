"""Accuracy of engines' moves against tablebase values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import NamedTuple

from merels.engine.tablebase.verdict import PHASES, PlayedMove, Verdict

BLUNDERS = {(1, 0): "win_to_draw", (1, -1): "win_to_loss", (0, -1): "draw_to_loss"}
"""Names of the counters of blunders, by the values before and after the move."""


@dataclass(slots=True)
class MoveCounts:
    """Counts of moves. Every count except ``moves`` covers judged moves only."""

    moves: int = 0
    judged: int = 0
    """Moves in positions where the tables cover every legal move."""
    held: int = 0
    """Moves that kept the proven value."""
    critical: int = 0
    """Moves in positions where at most a third of the legal moves keep the value."""
    critical_held: int = 0
    win_to_draw: int = 0
    win_to_loss: int = 0
    draw_to_loss: int = 0
    in_doubt: int = 0
    """Blunders whose value before the move is uncertain: a ply limit or repetition may apply."""

    def add(self, verdict: Verdict | None) -> None:
        """Count a move; ``verdict`` is None if the tables do not judge it."""
        self.moves += 1
        if verdict is None:
            return
        self.judged += 1
        self.critical += verdict.critical
        if verdict.held:
            self.held += 1
            self.critical_held += verdict.critical
        else:
            name = BLUNDERS[verdict.value, verdict.after]
            setattr(self, name, getattr(self, name) + 1)
            self.in_doubt += not verdict.certain


def total(counts: Iterable[MoveCounts]) -> MoveCounts:
    """Return the sum of several counts."""
    rows = list(counts)
    names = [counter.name for counter in fields(MoveCounts)]
    return MoveCounts(*(sum(getattr(row, name) for row in rows) for name in names))


class GameName(NamedTuple):
    """File and number of a game, and its players."""

    path: str
    number: int
    white: str
    black: str

    def relabelled(self, labels: Mapping[str, str]) -> GameName:
        """Return a copy with the players' names replaced by their labels."""
        return self._replace(white=labels[self.white], black=labels[self.black])


class WorstMove(NamedTuple):
    """An engine's worst move, by the sort key `_badness`."""

    game: GameName
    move: PlayedMove
    verdict: Verdict


class WorstGame(NamedTuple):
    """The game in which an engine's blunders cost most.

    ``wins`` and ``draws`` count the wins and draws thrown away. ``badness`` is the sort key: half
    points lost by certain blunders, then by all blunders.
    """

    game: GameName
    wins: int
    draws: int
    in_doubt: int
    badness: tuple[int, int]


@dataclass(slots=True)
class EngineAccuracy:
    """One engine's moves by phase; ``worst_move`` and ``worst_game`` are None without a blunder."""

    phases: dict[str, MoveCounts] = field(
        default_factory=lambda: {phase: MoveCounts() for phase in PHASES}
    )
    worst_move: WorstMove | None = None
    worst_game: WorstGame | None = None

    @property
    def total(self) -> MoveCounts:
        """Counts of all phases together."""
        return total(self.phases.values())

    def add(self, game: GameName, moves: Iterable[PlayedMove]) -> None:
        """Count the engine's moves of a game."""
        wins = draws = in_doubt = certain_halves = halves = 0
        for move in moves:
            verdict = move.verdict
            self.phases[move.phase].add(verdict)
            if verdict is None or verdict.held:
                continue
            wins += verdict.value == 1
            draws += verdict.value == 0
            in_doubt += not verdict.certain
            halves += verdict.value - verdict.after
            certain_halves += (verdict.value - verdict.after) * verdict.certain
            self._update_worst(WorstMove(game, move, verdict), None)
        if halves:
            badness = certain_halves, halves
            self._update_worst(None, WorstGame(game, wins, draws, in_doubt, badness))

    def merge(self, later: EngineAccuracy) -> None:
        """Add the engine's moves of later games."""
        for phase, counts in later.phases.items():
            self.phases[phase] = total((self.phases[phase], counts))
        self._update_worst(later.worst_move, later.worst_game)

    def _update_worst(self, move: WorstMove | None, game: WorstGame | None) -> None:
        """Replace the worst move and the worst game if these are worse."""
        old_move, old_game = self.worst_move, self.worst_game
        if move and (old_move is None or _badness(move.verdict) > _badness(old_move.verdict)):
            self.worst_move = move
        if game and (old_game is None or game.badness > old_game.badness):
            self.worst_game = game


def _badness(verdict: Verdict) -> tuple[bool, int, float]:
    """Return a sort key for blunders: certainty, loss, share of moves that held."""
    return verdict.certain, verdict.value - verdict.after, verdict.holding / verdict.legal


class Coverage(NamedTuple):
    """Positions that the tables of a rule set cover.

    ``whole``: all positions of the game. ``men``: all positions of up to this number of men, with
    none in hand.
    """

    men: int
    whole: bool


@dataclass(slots=True)
class Accuracy:
    """Accuracy of several engines, by engine in order of appearance."""

    engines: dict[str, EngineAccuracy] = field(default_factory=dict)
    games: int = 0
    coverage: dict[str, Coverage] = field(default_factory=dict)
    """Coverage of the tables, by rule set."""
    depths: bool = True
    """Whether all tables store depths."""

    @property
    def total(self) -> MoveCounts:
        """Counts of all engines together."""
        return total(engine.total for engine in self.engines.values())

    def add(self, game: GameName, moves: Iterable[PlayedMove]) -> None:
        """Count the moves that the engines of a game chose, without its opening."""
        self.games += 1
        chosen = list(moves)
        for side, name in enumerate((game.white, game.black)):
            moves_of_side = (move for move in chosen if move.side == side)
            self.engines.setdefault(name, EngineAccuracy()).add(game, moves_of_side)

    def merge(self, later: Accuracy) -> None:
        """Add the counts of later games."""
        self.games += later.games
        self.coverage |= later.coverage
        self.depths &= later.depths
        for name, engine in later.engines.items():
            self.engines.setdefault(name, EngineAccuracy()).merge(engine)

    def relabelled(self, labels: Mapping[str, str]) -> Accuracy:
        """Return a copy with engines renamed; engines with the same label are merged."""
        other = Accuracy(games=self.games, coverage=dict(self.coverage), depths=self.depths)
        for name, engine in self.engines.items():
            move, game = engine.worst_move, engine.worst_game
            renamed = replace(
                engine,
                worst_move=move and move._replace(game=move.game.relabelled(labels)),
                worst_game=game and game._replace(game=game.game.relabelled(labels)),
            )
            other.engines.setdefault(labels[name], EngineAccuracy()).merge(renamed)
        return other
