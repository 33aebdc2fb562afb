"""Schedule of a league: one game pair at a time, chosen by the results so far."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Container, Iterator
from dataclasses import dataclass
from itertools import combinations
from time import monotonic
from typing import NamedTuple

from merels.engine.common.numbers import counted
from merels.tournament.league.choice import GAMES_PER_PAIR, Field, Pair, choose
from merels.tournament.league.league import League, anchors_of, ratings_of
from merels.tournament.pairing.schedule import is_in_part
from merels.tournament.records.games import GameSpec, Opening, PairTask
from merels.tournament.run.plan import Plan, Progress, derive_seed
from merels.tournament.statistics.counts import GameScore
from merels.tournament.statistics.ratings import PlayerRating

MARGIN = 1.1
"""Smallest goal for an error, as a multiple of its limit for infinitely many games."""
ESTIMATION_SHARE = 0.05
"""Largest share of a run's time spent on estimates while games are open."""
_HALF_PAIRS = (
    "SELECT number, pair, white, black, position, opening, opening_name FROM games "
    "GROUP BY pair HAVING count(*) = 1"
)
"""Selects the game of each pair that has only one game in the journal."""


class _GamePair(NamedTuple):
    """A game pair to play."""

    number: int
    """Number of the pair, from 1."""
    players: tuple[int, int]
    """Indices of the players; the first one has White in the first game."""
    opening: Opening
    unplayed: tuple[int, ...] = tuple(range(GAMES_PER_PAIR))
    """Games to play: 0 is the first game, 1 the game with colours swapped."""


@dataclass(frozen=True, slots=True)
class Goal:
    """End of a run: at errors of at most ``error`` Elo, or after ``games`` or ``seconds``."""

    error: float
    games: int | None = None
    seconds: float | None = None


class LeaguePlan(Plan):
    """Chooses game pairs until the goal is reached.

    Pairs of which an earlier run played only one game come first. ``part`` (i, n): this run plays
    the i-th of every n chosen pairs, and chooses the next pairs as if all n were played.
    """

    shows_stored = False

    def __init__(
        self, league: League, goal: Goal, part: tuple[int, int] = (1, 1), pause: float = 0.0
    ) -> None:
        super().__init__(league.settings, part, pause=pause)
        self._league, self.goal = league, goal
        self._entrants = {entrant.name: entrant for entrant in league.settings.engines}
        self._names = league.listed
        self._index = {name: index for index, name in enumerate(self._names)}
        self._active = [self._index[name] for name in league.active]
        self._counter = league.counter()
        self._half_pairs = list(self._stored_half_pairs())
        used = {pair for (pair,) in league.journal.query("SELECT DISTINCT pair FROM games")}
        self._last_pair = max(used, default=0)
        """Highest number of a game pair."""
        self._gaps = [
            number for number in range(self._last_pair, 0, -1)
            if number not in used and is_in_part(number, self._part)
        ]
        """Numbers of this part's pairs without a stored game, after a killed run; highest first."""
        self._specs: dict[int, GameSpec] = {}
        """Games in progress, by number."""
        self._pending: dict[int, tuple[Pair, int]] = {}
        """Number of a game pair -> (its players, number of its games in progress)."""
        self._games_started = 0
        """Number of games that this run has started."""
        self._start = monotonic()
        self._next_estimate: float
        self._is_stale: bool
        self._field: Field
        self._players: dict[str, PlayerRating]
        self._variances: list[float]
        """Variance of each strength at the last estimate, without pending games."""
        self._least: list[float]
        """Limit of each rating's error, in Elo, for infinitely many games of the active players."""
        self._played: dict[Pair, int]
        """Number of finished games by pair of players, also of games after the last estimate."""
        self._estimate()

    # Methods of `Plan`, called by the runner.

    def progress(self, done: int) -> Progress:
        """Return the progress after ``done`` games, with the largest error."""
        name, error = self.least_certain()
        limit = self.goal.games
        goal = f"goal ±{self.goal.error:g}"
        text = f"{counted(done, 'game')}; least certain: {name} ±{error:.0f}, {goal}"
        share = min(1.0, (self.goal.error / error) ** 2) if error else 1.0
        return Progress(text, share, None if limit is None else limit - done, limit is not None)

    def must_wait(self, open_games: int) -> bool:
        """Return whether only the results of the open games can show if more games are needed."""
        # An estimate in `next_round` could end the run before the results of the open games.
        self._refresh(is_needed=not open_games)
        return open_games > 0 and self._is_enough()

    def can_pair_without(self, names: Container[str]) -> bool:
        """Return whether at least two active players are not in ``names``."""
        return sum(self._names[index] not in names for index in self._active) > 1

    def is_ours(self, task: PairTask) -> bool:
        """Return True: `next_round` returns only tasks of this run's part."""
        return True

    def next_round(self) -> list[PairTask]:
        """Return the next pair as a list of one task; empty at the end of the run."""
        if self._is_over():
            return []
        if self._half_pairs:
            return [self._task(self._half_pairs.pop())]
        if self._is_enough():
            return []
        part, count = self._part
        chosen = choose(self._field, count, self._wanted(), self._active, self._below_floor())
        if len(chosen) < count:
            return []
        if self._gaps:
            number = self._gaps.pop()
        else:
            # The next number of a pair that belongs to this part.
            number = self._last_pair + 1 + (part - self._last_pair - 1) % count
            self._last_pair = number
        # In odd pairs, the player of lower index has White in the first game; in even ones, Black.
        players = chosen[part - 1] if number % 2 else chosen[part - 1][::-1]
        index = number - 1
        if self.settings.openings.policy == "round":
            # Each two players meet in the openings of their part in turn, so that all pairs of
            # players meet in the same openings.
            index = self._encounters(chosen[part - 1]) * count + part - 1
        return [self._task(_GamePair(number, players, self.openings[index]))]

    def score(self, number: int, white_score: float | None) -> None:
        """Count a game's result; a game without a result is only removed from the open games."""
        spec = self._specs.pop(number, None)
        if spec is None:
            return
        if white_score is not None:
            game = GameScore(spec.white.name, spec.black.name, white_score, spec.pair)
            self._counter.add(game)
            i, j = sorted((self._index[game.white], self._index[game.black]))
            self._played[i, j] += 1
        pair, open_games = self._pending[spec.pair]
        self._pending[spec.pair] = pair, open_games - 1
        if open_games == 1:
            del self._pending[spec.pair]
        self._is_stale = True

    # Ratings.

    def least_certain(self) -> tuple[str, float]:
        """Return the active player with the largest error at the last estimate, and this error."""
        errors = {self._names[index]: self._error(index) for index in self._active}
        name = max(errors, key=lambda name: errors[name])
        return name, errors[name]

    def _estimate(self) -> None:
        """Rate the players and compute the covariance of their strengths."""
        began = monotonic()
        games: dict[Pair, int] = defaultdict(int)
        points: dict[Pair, float] = defaultdict(float)
        for (first, second), counts in self._counter.counts.items():
            i, j = self._index[first], self._index[second]
            pair = min(i, j), max(i, j)
            games[pair] += counts.games
            points[pair] += counts.points if i < j else counts.games - counts.points
        self._played = games
        met = {index for pair in games for index in pair}
        anchors = (self._index[name] for name in anchors_of(self._league) if name in self._index)
        origins = [index for index in anchors if index in met]
        self._field = Field(len(self._names), games, points, origins)
        self._variances = [row[index] for index, row in enumerate(self._field.covariance)]
        self._players = {
            player.name: player for player in ratings_of(self._league, self._counter.counts)
        }
        self._least = [0.0] * len(self._names)
        if not met.issubset(self._active):
            # The errors of retired players stay, and keep the other errors above a limit.
            limits = self._field.limits(self._active)
            self._least = [
                self._error(index) * self._shrinkage(index, limit) if index in met else 0.0
                for index, limit in enumerate(limits)
            ]
        for pair, _ in self._pending.values():
            self._field.add(pair)
        self._is_stale = False
        now = monotonic()
        self._next_estimate = now + (now - began) / ESTIMATION_SHARE

    def _refresh(self, is_needed: bool) -> None:
        """Estimate again if there are new results and an estimate is needed or due."""
        if self._is_stale and (is_needed or monotonic() >= self._next_estimate):
            self._estimate()

    def _error(self, index: int) -> float:
        """Return the error of a player's rating in Elo, at the last estimate."""
        player = self._players.get(self._names[index])
        return math.inf if player is None else player.error

    def _expected_error(self, index: int) -> float:
        """Return the error of a player's rating, in Elo, that is expected after pending games."""
        return self._error(index) * self._shrinkage(index, self._field.covariance[index][index])

    def _shrinkage(self, index: int, variance: float) -> float:
        """Return the factor by which an error changes if the variance becomes ``variance``."""
        now = self._variances[index]
        # The only anchor is the origin of all strengths: its variance is 0.
        return math.sqrt(max(0.0, variance) / now) if now > 0 else 1.0

    def _wanted(self) -> list[int]:
        """Return the active players whose expected errors are above the goal.

        The goal for each rating is at least `MARGIN` times the rating's limit in `_least`.
        """
        goal = self.goal.error
        return [
            index for index in self._active
            if self._expected_error(index) > max(goal, MARGIN * self._least[index])
        ]

    def _below_floor(self) -> list[Pair]:
        """Return the pairs of active players with too few games, including pending games."""
        games = defaultdict[Pair, int](int, self._played)
        for pair, open_games in self._pending.values():
            games[pair] += open_games
        floor = self._league.terms.floor
        return [pair for pair in combinations(sorted(self._active), 2) if games[pair] < floor]

    def _encounters(self, pair: Pair) -> int:
        """Return the number of game pairs of two players, including pending ones."""
        pending = sum(open_games for players, open_games in self._pending.values()
                      if players == pair)
        return (self._played[pair] + pending + 1) // GAMES_PER_PAIR

    # The end.

    def _is_enough(self) -> bool:
        """Return whether the pending games are expected to suffice for the goal."""
        return not self._wanted() and not self._below_floor()

    def _is_over(self) -> bool:
        """Return whether the run has used up its number of games or its time."""
        games, seconds = self.goal.games, self.goal.seconds
        if games is not None and self._games_started >= games:
            return True
        return seconds is not None and monotonic() - self._start >= seconds

    # Games.

    def _stored_half_pairs(self) -> Iterator[_GamePair]:
        """Yield the half-played pairs of this part whose players are active."""
        active = {self._names[index] for index in self._active}
        for number, pair, white, black, *opening in self._league.journal.query(_HALF_PAIRS):
            if white in active and black in active and is_in_part(pair, self._part):
                is_second = number % GAMES_PER_PAIR == 0
                first, second = (black, white) if is_second else (white, black)
                position, moves, name = opening
                yield _GamePair(
                    pair, (self._index[first], self._index[second]),
                    Opening(position, tuple(moves.split()), name), (0 if is_second else 1,),
                )

    def _task(self, pair: _GamePair) -> PairTask:
        """Return the games of a pair as a task, and count them as pending."""
        settings = self.settings
        specs = []
        for game in pair.unplayed:
            white, black = pair.players[::-1] if game else pair.players
            number = GAMES_PER_PAIR * (pair.number - 1) + game + 1
            specs.append(GameSpec(
                number, pair.number, pair.number,
                self._entrants[self._names[white]], self._entrants[self._names[black]],
                pair.opening, settings.rules, settings.adjudication,
                derive_seed(settings.seed, number),
            ))
        first, second = sorted(pair.players)
        self._specs |= {spec.number: spec for spec in specs}
        self._pending[pair.number] = (first, second), len(specs)
        self._games_started += len(specs)
        return PairTask(tuple(specs), self._pause)
