"""How engines play against proven values, counted move by move."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import NamedTuple

from merels.engine.tablebase.verdict import PHASES, PlayedMove, Verdict

THROWN = {(1, 0): "win_to_draw", (1, -1): "win_to_loss", (0, -1): "draw_to_loss"}
"""The counts of what a move threw away, by the value before it and the value it leaves."""


@dataclass(slots=True)
class MoveCounts:
    """Some moves of one engine. All but ``moves`` are of judged ones."""

    moves: int = 0
    judged: int = 0
    """Those in positions where the tables know every move."""
    held: int = 0
    """Those that kept the proven value."""
    critical: int = 0
    """Those where at most a third of the legal moves keep the value."""
    critical_held: int = 0
    win_to_draw: int = 0
    win_to_loss: int = 0
    draw_to_loss: int = 0
    in_doubt: int = 0
    """Of what was thrown away: what a limit on plies or a repetition may have spoilt before."""

    def add(self, verdict: Verdict | None) -> None:
        """Count a move."""
        self.moves += 1
        if verdict is None:
            return
        self.judged += 1
        self.critical += verdict.critical
        if verdict.held:
            self.held += 1
            self.critical_held += verdict.critical
        else:
            name = THROWN[verdict.value, verdict.after]
            setattr(self, name, getattr(self, name) + 1)
            self.in_doubt += not verdict.certain


def total(counts: Iterable[MoveCounts]) -> MoveCounts:
    """The sums of some counts."""
    rows = list(counts)
    names = [one.name for one in fields(MoveCounts)]
    return MoveCounts(*(sum(getattr(row, name) for row in rows) for name in names))


class GameName(NamedTuple):
    """Where a game is found, and who played it."""

    path: str
    number: int
    white: str
    black: str

    def relabelled(self, labels: Mapping[str, str]) -> GameName:
        """The same with other names."""
        return self._replace(white=labels[self.white], black=labels[self.black])


class WorstMove(NamedTuple):
    """The move that threw most away, beyond doubt if any did; of several, the easiest to avoid."""

    game: GameName
    move: PlayedMove
    verdict: Verdict


class WorstGame(NamedTuple):
    """The game in which an engine threw most half points away: first those beyond doubt count."""

    game: GameName
    wins: int
    draws: int
    in_doubt: int
    badness: tuple[int, int]


@dataclass(slots=True)
class EngineAccuracy:
    """One engine's moves by phase; ``worst_move`` and ``worst_game`` are None where all held."""

    phases: dict[str, MoveCounts] = field(
        default_factory=lambda: {phase: MoveCounts() for phase in PHASES}
    )
    worst_move: WorstMove | None = None
    worst_game: WorstGame | None = None

    @property
    def total(self) -> MoveCounts:
        """The counts of all phases."""
        return total(self.phases.values())

    def add(self, game: GameName, moves: Iterable[PlayedMove]) -> None:
        """Count the engine's moves of a game."""
        wins = draws = in_doubt = proven = halves = 0
        for move in moves:
            found = move.verdict
            self.phases[move.phase].add(found)
            if found is None or found.held:
                continue
            wins += found.value == 1
            draws += found.value == 0
            in_doubt += not found.certain
            halves += found.value - found.after
            proven += (found.value - found.after) * found.certain
            worst = self.worst_move
            if worst is None or _badness(found) > _badness(worst.verdict):
                self.worst_move = WorstMove(game, move, found)
        badness = proven, halves
        if badness > (self.worst_game.badness if self.worst_game else (0, 0)):
            self.worst_game = WorstGame(game, wins, draws, in_doubt, badness)

    def merge(self, later: EngineAccuracy) -> None:
        """Add the engine's moves of later games."""
        for phase, counts in later.phases.items():
            self.phases[phase] = total((self.phases[phase], counts))
        move, game = later.worst_move, later.worst_game
        worst = self.worst_move
        if move is not None and (
            worst is None or _badness(move.verdict) > _badness(worst.verdict)
        ):
            self.worst_move = move
        if game is not None and (
            self.worst_game is None or game.badness > self.worst_game.badness
        ):
            self.worst_game = game


def _badness(verdict: Verdict) -> tuple[bool, int, float]:
    """Sort key of thrown values: certainty, the loss, then the share of moves that held."""
    return verdict.certain, verdict.value - verdict.after, verdict.holding / verdict.legal


class Coverage(NamedTuple):
    """Contents of the tables of some rules.

    ``men`` is the number of men up to which they have every position without men in hand; ``whole``
    is True if they have every position of the game.
    """

    men: int
    whole: bool


@dataclass(slots=True)
class Accuracy:
    """The play of engines against the tables, by engine in order of appearance."""

    engines: dict[str, EngineAccuracy] = field(default_factory=dict)
    games: int = 0
    coverage: dict[str, Coverage] = field(default_factory=dict)
    """By rules, what the tables hold."""
    depths: bool = True
    """Whether all of the tables have depths."""

    @property
    def total(self) -> MoveCounts:
        """The counts of all engines."""
        return total(engine.total for engine in self.engines.values())

    def add(self, game: GameName, moves: Iterable[PlayedMove]) -> None:
        """Count the moves of a game that its engines chose."""
        self.games += 1
        chosen = list(moves)
        for side, name in enumerate((game.white, game.black)):
            own = (move for move in chosen if move.side == side)
            self.engines.setdefault(name, EngineAccuracy()).add(game, own)

    def merge(self, later: Accuracy) -> None:
        """Add what was counted of later games."""
        self.games += later.games
        self.coverage |= later.coverage
        self.depths &= later.depths
        for name, engine in later.engines.items():
            self.engines.setdefault(name, EngineAccuracy()).merge(engine)

    def relabelled(self, labels: Mapping[str, str]) -> Accuracy:
        """Return a copy with other names of engines; one new name may cover several."""
        other = Accuracy(games=self.games, coverage=self.coverage, depths=self.depths)
        for name, engine in self.engines.items():
            if engine.worst_move is not None:
                game = engine.worst_move.game.relabelled(labels)
                engine.worst_move = engine.worst_move._replace(game=game)
            if engine.worst_game is not None:
                game = engine.worst_game.game.relabelled(labels)
                engine.worst_game = engine.worst_game._replace(game=game)
            other.engines.setdefault(labels[name], EngineAccuracy()).merge(engine)
        return other
