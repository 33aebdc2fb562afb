"""The games of a league: one pair at a time, chosen by what has been played until then."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Container, Iterator
from dataclasses import dataclass
from itertools import combinations
from time import monotonic
from typing import NamedTuple

from merels.engine.common.numbers import counted
from merels.tournament.league.choice import GAMES, Field, Pair, choose
from merels.tournament.league.league import League, ratings_of
from merels.tournament.records.games import GameSpec, Opening, PairTask
from merels.tournament.run.plan import Plan, Progress, derive_seed
from merels.tournament.statistics.counts import GameScore
from merels.tournament.statistics.ratings import PlayerRating

SHARE = 0.05
"""The most of a run's time that goes into ratings and their covariance."""


_HALVES = (
    "SELECT number, pair, white, black, position, opening, opening_name FROM games "
    "GROUP BY pair HAVING count(*) = 1"
)


class _Games(NamedTuple):
    """Games of one pair: the player who begins with White comes first in ``pair``."""

    number: int
    """Of the pair, from 1."""
    pair: Pair
    opening: Opening
    open: tuple[int, ...] = tuple(range(GAMES))
    """Those to play: 0, the first, or 1, with colours swapped."""


@dataclass(frozen=True, slots=True)
class Goal:
    """When a run ends: with errors of at most ``error`` Elo, or after ``games`` or ``seconds``."""

    error: float
    games: int | None = None
    seconds: float | None = None


class LeaguePlan(Plan):
    """Draws up pairs until the goal is reached.

    Pairs that an earlier run left with one of their games come first. ``part`` (i, n): of every n
    pairs chosen this run plays the i-th, and all n count as played.
    """

    shows_stored = False

    def __init__(
        self, league: League, goal: Goal, part: tuple[int, int] = (1, 1), pause: float = 0.0
    ) -> None:
        super().__init__(league.settings, part, pause=pause)
        self._league, self.goal = league, goal
        self._entrants = {entrant.name: entrant for entrant in league.settings.engines}
        self._names = league.rated
        self._index = {name: index for index, name in enumerate(self._names)}
        self._active = [self._index[name] for name in league.active]
        self._counter = league.counter()
        self._halves = list(self._unfinished())
        ((last,),) = league.journal.query("SELECT ifnull(max(pair), 0) FROM games")
        self._last_pair = last
        self._specs: dict[int, GameSpec] = {}
        """The games that were handed out and have not ended, by number."""
        self._pending: dict[int, tuple[Pair, int]] = {}
        """Chosen pairs by number, with how many of their games are open."""
        self._drawn = 0
        """Games handed out by this run."""
        self._started = monotonic()
        self._next_estimate: float
        self._is_stale: bool
        self._field: Field
        self._players: dict[str, PlayerRating]
        self._variances: list[float]
        """Of the strengths by the games that the last estimate knew, without pending ones."""
        self._estimate()

    # The parts of a plan that the runner asks for.

    def progress(self, done: int) -> Progress:
        """Return the progress after ``done`` games, with the error farthest from the goal."""
        name, error = self.least_certain()
        limit = self.goal.games
        goal = f"goal ±{self.goal.error:g}"
        text = f"{counted(done, 'game')}; least certain: {name} ±{error:.0f}, {goal}"
        share = min(1.0, (self.goal.error / error) ** 2) if error else 1.0
        return Progress(text, share, None if limit is None else limit - done, limit is not None)

    def must_wait(self, open_games: int) -> bool:
        """Whether the results of open games decide if more are needed."""
        # The next round judges by this estimate: a later one may end the run before the results.
        self._refresh(is_needed=not open_games)
        return open_games > 0 and self._is_enough()

    def can_pair_without(self, names: Container[str]) -> bool:
        """Whether two active players are not among ``names``."""
        return sum(self._names[index] not in names for index in self._active) > 1

    def is_ours(self, task: PairTask) -> bool:
        """All tasks are this run's."""
        return True

    def next_round(self) -> list[PairTask]:
        """The next pair; empty when the goal is reached."""
        if self._is_over():
            return []
        if self._halves:
            return [self._task(self._halves.pop())]
        if self._is_enough():
            return []
        part, count = self._part
        chosen = choose(self._field, count, self._wanted(), self._active, self._floors())
        if len(chosen) < count:
            return []
        # The first number after the last that is this part's.
        number = self._last_pair + 1 + (part - self._last_pair - 1) % count
        self._last_pair = number
        # Colours even out: the lower index begins every other pair with White.
        pair = chosen[part - 1] if number % 2 else chosen[part - 1][::-1]
        return [self._task(_Games(number, pair, self.openings[number - 1]))]

    def score(self, number: int, white_score: float | None) -> None:
        """Count a game's result; one broken off counts as played, and gives no points."""
        spec = self._specs.pop(number, None)
        if spec is None:
            return
        if white_score is not None:
            game = GameScore(spec.white.name, spec.black.name, white_score, spec.pair)
            self._counter.add(game)
        pair, open_games = self._pending[spec.pair]
        self._pending[spec.pair] = pair, open_games - 1
        if open_games == 1:
            del self._pending[spec.pair]
        self._is_stale = True

    # Ratings.

    def least_certain(self) -> tuple[str, float]:
        """The active player with the greatest error at the last estimate, and the error in Elo."""
        errors = {self._names[index]: self._error(index) for index in self._active}
        name = max(errors, key=lambda name: errors[name])
        return name, errors[name]

    def _estimate(self) -> None:
        """Rate the players and find the covariance of their strengths."""
        began = monotonic()
        games: dict[Pair, int] = defaultdict(int)
        points: dict[Pair, float] = defaultdict(float)
        for (first, second), counts in self._counter.counts.items():
            i, j = self._index[first], self._index[second]
            pair = min(i, j), max(i, j)
            games[pair] += counts.games
            points[pair] += counts.points if i < j else counts.games - counts.points
        self._played = games
        self._field = Field(len(self._names), games, points)
        self._variances = [row[index] for index, row in enumerate(self._field.covariance)]
        self._players = {
            player.name: player for player in ratings_of(self._league, self._counter.counts)
        }
        for pair, _ in self._pending.values():
            self._field.add(pair)
        self._is_stale = False
        now = monotonic()
        self._next_estimate = now + (now - began) / SHARE

    def _refresh(self, is_needed: bool) -> None:
        """Estimate again if there are results, and if that is needed or due."""
        if self._is_stale and (is_needed or monotonic() >= self._next_estimate):
            self._estimate()

    def _error(self, index: int) -> float:
        """Return the error of a player's rating in Elo, at the last estimate."""
        player = self._players.get(self._names[index])
        return math.inf if player is None else player.error

    def _expected_error(self, index: int) -> float:
        """Return the error of a player's rating that is expected once pending games are over."""
        left = self._field.covariance[index][index] / self._variances[index]
        return self._error(index) * math.sqrt(max(0.0, left))

    def _wanted(self) -> list[int]:
        """Return the active players whose errors are above the goal."""
        error = self.goal.error
        return [index for index in self._active if self._expected_error(index) > error]

    def _floors(self) -> list[Pair]:
        """Return the pairs of active players that have played too few games, pending ones counted.
        """
        games = defaultdict[Pair, int](int, self._played)
        for pair, _ in self._pending.values():
            games[pair] += GAMES
        floor = self._league.terms.floor
        return [pair for pair in combinations(sorted(self._active), 2) if games[pair] < floor]

    # The end.

    def _is_enough(self) -> bool:
        """Whether the goal is reached if the pending games bring what is expected of them."""
        return not self._wanted() and not self._floors()

    def _is_over(self) -> bool:
        """Whether the run has had the games or the time that it may have."""
        games, seconds = self.goal.games, self.goal.seconds
        if games is not None and self._drawn >= games:
            return True
        return seconds is not None and monotonic() - self._started >= seconds

    # Games.

    def _unfinished(self) -> Iterator[_Games]:
        """Yield the pairs of active players of which the journal has one game."""
        active = {self._names[index] for index in self._active}
        for number, pair, white, black, *opening in self._league.journal.query(_HALVES):
            if white in active and black in active:
                is_second = number % GAMES == 0
                first, second = (black, white) if is_second else (white, black)
                position, moves, name = opening
                yield _Games(
                    pair, (self._index[first], self._index[second]),
                    Opening(position, tuple(moves.split()), name), (0 if is_second else 1,),
                )

    def _task(self, games: _Games) -> PairTask:
        """Hand out games, as a task."""
        settings = self.settings
        specs = []
        for game in games.open:
            white, black = games.pair[::-1] if game else games.pair
            number = GAMES * (games.number - 1) + game + 1
            specs.append(GameSpec(
                number, games.number, games.number,
                self._entrants[self._names[white]], self._entrants[self._names[black]],
                games.opening, settings.rules, settings.adjudication,
                derive_seed(settings.seed, number),
            ))
        first, second = sorted(games.pair)
        self._specs |= {spec.number: spec for spec in specs}
        self._pending[games.number] = (first, second), len(specs)
        self._drawn += len(specs)
        return PairTask(tuple(specs), self._pause)
