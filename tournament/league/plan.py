"""Schedule of a league: one game pair at a time, chosen by the results so far."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from time import monotonic
from typing import NamedTuple

from merels.engine.common.numbers import counted
from merels.tournament.journal.rows import Row
from merels.tournament.league.choice import GAMES_PER_PAIR, Choice, Field, Pair
from merels.tournament.league.league import League, anchors_of, ratings_of
from merels.tournament.pairing.schedule import is_in_part
from merels.tournament.play.fingerprint import THIS_ORIGIN
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
_USED_OPENINGS = "SELECT white, black, position, opening FROM games GROUP BY pair"
"""Selects the players and the opening of each pair."""


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
        self.entrants = tuple(self._entrants[name] for name in league.active)
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
        self._open: dict[int, GameSpec] = {}
        """Games in progress, by number."""
        self._skipped: dict[int, GameSpec] = {}
        """Games that the runner gave up, by number; it may play them later."""
        self._programs = {
            (name, THIS_ORIGIN.host): member.program for name, member in league.members.items()
            if member.program
        }
        """Name of a player and machine -> fingerprint of its program there."""
        self._finished = 0
        """Number of games that this run has finished."""
        self._start = monotonic()
        self._excluded: AbstractSet[str] = frozenset()
        """Names of the players that cannot play now."""
        self._barred: set[Pair] = set()
        """Pairs of players of which the runner gave up a game, and finished none since."""
        self._playing: list[int]
        """Active players that can play now, and have an opponent."""
        self._below_floor: set[Pair]
        """Pairs of these players with too few games, including games in progress."""
        self._choice: Choice
        self._next_estimate: float
        self._is_stale: bool
        self._field: Field
        self._players: dict[str, PlayerRating]
        self._variances: list[float]
        """Variance of each strength at the last estimate, without pending games."""
        self._least: list[float]
        """Limit of each rating's error, in Elo, for infinitely many games of those who play."""
        self._met = Counter[Pair]()
        """Number of games by pair of players, including games in progress."""
        for match, counts in self._counter.counts.items():
            self._met[self._pair(*match)] += counts.games
        self._used = defaultdict[Pair, Counter[tuple[str, tuple[str, ...]]]](Counter)
        """Openings by pair of players, as position and moves, with the number of game pairs."""
        for white, black, text, moves in league.journal.query(_USED_OPENINGS):
            if white in self._index and black in self._index:
                self._used[self._pair(white, black)][text, tuple(moves.split())] += 1
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

    @property
    def is_time_up(self) -> bool:
        """Whether the run has used up its time."""
        seconds = self.goal.seconds
        return seconds is not None and monotonic() - self._start >= seconds

    def next(self, excluding: AbstractSet[str] = frozenset()) -> PairTask | None:
        """Return the next pair; None at the end of the run, or if results may show the end."""
        self._exclude(excluding)
        self._refresh(is_needed=not self._open)
        if self._is_over():
            return None
        if (half_pair := self._next_half_pair()) is not None:
            self._half_pairs.remove(half_pair)
            return self._task(half_pair)
        wanted = self._wanted()
        if not (self._below_floor or wanted):
            return None
        part, count = self._part
        chosen = self._choice.next(count, wanted, self._below_floor)
        if len(chosen) < count:
            return None
        if self._gaps:
            number = self._gaps.pop()
        else:
            # The next number of a pair that belongs to this part.
            number = self._last_pair + 1 + (part - self._last_pair - 1) % count
            self._last_pair = number
        # In odd pairs, the player of lower index has White in the first game; in even ones, Black.
        players = chosen[part - 1] if number % 2 else chosen[part - 1][::-1]
        if self.settings.openings.policy == "round":
            opening = self._unused_opening(chosen[part - 1])
        else:
            opening = self.openings[number - 1]
        return self._task(_GamePair(number, players, opening))

    def _unused_opening(self, pair: Pair) -> Opening:
        """Return the first opening of this part in which two players have not met yet.

        So all players meet in the same openings, also after a run that left gaps. A book repeats
        after its end, so the opening may have been used a number of times.
        """
        part, count = self._part
        left = self._used[pair].copy()
        for index in itertools.count(part - 1, count):
            opening = self.openings[index]
            key = opening.position, opening.moves
            if not left[key]:
                break
            left[key] -= 1
        self._used[pair][key] += 1
        return opening

    def objections(self, row: Row) -> dict[str, str]:
        """Return the players that are other programs in this game than before, with the reason.

        On this machine, the program is that of the time when the player was added; on others, that
        of the first game of this run.
        """
        objections = {}
        players = ((row.white, row.white_program), (row.black, row.black_program))
        for name, now in players:
            if now and (before := self._programs.setdefault((name, row.host), now)) != now:
                objections[name] = (
                    f"has another program on {row.host} than before (fingerprint now {now}, then "
                    f"{before}), so the game does not count; add the program as a new player"
                )
        return objections

    def skip(self, games: Iterable[GameSpec]) -> None:
        """Expect no results of these games, and choose no more games of their players."""
        skipped = [spec for spec in games if spec.number in self._open]
        for spec in skipped:
            self._skipped[spec.number] = self._open.pop(spec.number)
            pair = self._pair(spec.white.name, spec.black.name)
            self._barred.add(pair)
            self._count(pair, -1)
        if skipped:
            self._prepare()
            self._is_stale, self._next_estimate = True, 0.0

    def score(self, number: int, white_score: float | None) -> None:
        """Count a game's result; a game without a result is only removed from the open games."""
        spec = self._open.pop(number, None)
        is_counted = spec is not None
        if spec is None and (spec := self._skipped.pop(number, None)) is None:
            return
        pair = self._pair(spec.white.name, spec.black.name)
        if white_score is not None:
            self._finished += 1
            self._counter.add(GameScore(spec.white.name, spec.black.name, white_score, spec.pair))
            if pair in self._barred:
                self._barred.discard(pair)
                self._prepare()
        self._count(pair, (white_score is not None) - is_counted)
        self._is_stale = True

    # Ratings.

    def least_certain(self) -> tuple[str, float]:
        """Return the player with the largest error at the last estimate, and this error.

        Players that cannot play now do not count.
        """
        players = self._playing or self._active
        errors = {self._names[index]: self._error(index) for index in players}
        name = max(errors, key=lambda name: errors[name])
        return name, errors[name]

    def _pair(self, first: str, second: str) -> Pair:
        """Return the indices of two players, the lower one first."""
        i, j = self._index[first], self._index[second]
        return min(i, j), max(i, j)

    def _count(self, pair: Pair, games: int) -> None:
        """Add to the number of games of two players."""
        self._met[pair] += games
        if self._is_below_floor(pair):
            self._below_floor.add(pair)
        else:
            self._below_floor.discard(pair)

    def _is_below_floor(self, pair: Pair) -> bool:
        return pair in self._choice.pairs and self._met[pair] < self._league.terms.floor

    def _exclude(self, names: AbstractSet[str]) -> None:
        """Exclude the players ``names``, and only these, from the next pairs."""
        if names != self._excluded:
            self._excluded = frozenset(names)
            self._prepare()

    def _estimate(self) -> None:
        """Rate the players and compute the covariance of their strengths."""
        began = monotonic()
        games, points = Counter[Pair](), dict[Pair, float]()
        for match, counts in self._counter.counts.items():
            pair = self._pair(*match)
            is_ordered = self._index[match[0]] == pair[0]
            games[pair] += counts.games
            points[pair] = points.get(pair, 0.0) + (
                counts.points if is_ordered else counts.games - counts.points
            )
        met = {index for pair in games for index in pair}
        anchors = (self._index[name] for name in anchors_of(self._league) if name in self._index)
        origins = [index for index in anchors if index in met]
        self._field = Field(len(self._names), games, points, origins)
        self._variances = self._field.variances
        self._players = {
            player.name: player for player in ratings_of(self._league, self._counter.counts)
        }
        pending = {spec.pair: spec for spec in self._open.values()}
        for spec in pending.values():
            self._field.add(self._pair(spec.white.name, spec.black.name))
        self._prepare()
        self._is_stale = False
        now = monotonic()
        self._next_estimate = now + (now - began) / ESTIMATION_SHARE

    def _prepare(self) -> None:
        """Prepare the choice among the players that can play now."""
        able = [index for index in self._active if self._names[index] not in self._excluded]
        self._choice = Choice(self._field, able, self._barred)
        self._playing = sorted({index for pair in self._choice.pairs for index in pair})
        self._below_floor = set(filter(self._is_below_floor, self._choice.pairs))
        self._least = [0.0] * len(self._names)
        met = {self._index[name] for name in self._players}
        if not met.issubset(self._playing):
            # The errors of the others stay, and keep the errors of those who play above a limit.
            limits = self._field.limits(self._playing)
            self._least = [
                self._error(index) * self._shrinkage(index, limit) if index in met else 0.0
                for index, limit in enumerate(limits)
            ]

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
        return self._error(index) * self._shrinkage(index, self._field.variances[index])

    def _shrinkage(self, index: int, variance: float) -> float:
        """Return the factor by which an error changes if the variance becomes ``variance``."""
        now = self._variances[index]
        # The only anchor is the origin of all strengths: its variance is 0.
        return math.sqrt(max(0.0, variance) / now) if now > 0 else 1.0

    def _wanted(self) -> list[int]:
        """Return the players whose expected errors are above the goal, among those who play.

        If there are none, and no pair is below the floor, the pending games are expected to
        suffice.

        The goal for each rating is at least `MARGIN` times the rating's limit in `_least`.
        """
        goal = self.goal.error
        return [
            index for index in self._playing
            if self._expected_error(index) > max(goal, MARGIN * self._least[index])
        ]

    # The end.

    def _is_over(self) -> bool:
        """Return whether the run has used up its number of games or its time."""
        games = self.goal.games
        has_all = games is not None and self._finished + len(self._open) >= games
        return has_all or self.is_time_up

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

    def _next_half_pair(self) -> _GamePair | None:
        """Return the next half-played pair whose players can play now, or None."""
        return next((
            pair for pair in reversed(self._half_pairs)
            if self._excluded.isdisjoint(self._names[index] for index in pair.players)
        ), None)

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
        self._open |= {spec.number: spec for spec in specs}
        first, second = sorted(pair.players)
        self._count((first, second), len(specs))
        return PairTask(tuple(specs), self._pause)
