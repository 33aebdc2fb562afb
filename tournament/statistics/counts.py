"""The score of one game, and the counts of a match between two engines."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter

from merels.engine.common.errors import InputError, required, required_items, shown


@dataclass(frozen=True, slots=True)
class GameScore:
    """Score of a finished game; ``pair`` identifies its game pair, or is None for a single game."""

    white: str
    black: str
    score: float
    """White's score: 1, 0.5 or 0."""
    pair: Hashable | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for an engine against itself or an invalid score, name or pair."""
        if not (isinstance(self.white, str) and isinstance(self.black, str)):
            names = f"{shown(self.white)}, {shown(self.black)}"
            raise InputError(names, "expected the names of two engines")
        if self.white == self.black:
            raise ValueError(f"a game of {self.white!r} against itself cannot be rated")
        if self.score not in (0.0, 0.5, 1.0):
            raise ValueError(f"expected a game's score of 0, 0.5 or 1, not {shown(self.score)}")
        try:
            hash(self.pair)
        except TypeError:
            raise InputError(
                shown(self.pair), "expected a number, a text or None as the pair of a game"
            ) from None


class Tally:
    """Base class of counts of wins, draws and losses, with the figures derived from them."""

    __slots__ = ()
    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        """Number of games."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """Points: 1 for a win, 0.5 for a draw."""
        return self.wins + self.draws / 2

    @property
    def score(self) -> float:
        """Mean score of a game; 0.5 before the first game."""
        return self.points / self.games if self.games else 0.5


@dataclass(frozen=True, slots=True)
class MatchCounts(Tally):
    """Counts of games and of finished opening pairs of a match, seen from its first engine.

    A pair is two games of one opening, normally with the colours swapped. Games outside a finished
    pair count only in ``wins``, ``losses`` and ``draws``.
    """

    wins: int = 0
    losses: int = 0
    draws: int = 0
    ll: int = 0
    ld: int = 0
    wl: int = 0
    dd: int = 0
    wd: int = 0
    ww: int = 0

    @property
    def pairs(self) -> int:
        """Number of finished opening pairs."""
        return sum(self.pentanomial)

    @property
    def trinomial(self) -> tuple[int, int, int]:
        """Games by rising score: losses, draws, wins."""
        return self.losses, self.draws, self.wins

    @property
    def pentanomial(self) -> tuple[int, int, int, int, int]:
        """Pairs by rising score: LL, LD, DD or WL, WD, WW."""
        return self.ll, self.ld, self.dd + self.wl, self.wd, self.ww

    @property
    def unpaired(self) -> tuple[int, int, int]:
        """Games outside finished pairs by rising score: losses, draws, wins."""
        return (
            self.losses - 2 * self.ll - self.ld - self.wl,
            self.draws - 2 * self.dd - self.ld - self.wd,
            self.wins - 2 * self.ww - self.wd - self.wl,
        )

    @property
    def drawn_games_ratio(self) -> float:
        """Share of games drawn; 0 before the first game."""
        return self.draws / self.games if self.games else 0.0

    @property
    def drawn_pairs_ratio(self) -> float:
        """Share of pairs that ended level; 0 before the first pair."""
        return (self.dd + self.wl) / self.pairs if self.pairs else 0.0

    @property
    def pairs_ratio(self) -> float:
        """Ratio of pairs won to pairs lost; ``inf`` if none was lost, 1 if all were level."""
        return _ratio(self.ww + self.wd, self.ll + self.ld)

    @property
    def wl_dd_ratio(self) -> float:
        """Ratio of WL pairs to DD pairs; ``inf`` without DD pairs, 1 without either."""
        return _ratio(self.wl, self.dd)

    def reversed(self) -> MatchCounts:
        """Return the counts seen from the match's second engine."""
        return MatchCounts(
            wins=self.losses, losses=self.wins, draws=self.draws,
            ll=self.ww, ld=self.wd, wl=self.wl, dd=self.dd, wd=self.ld, ww=self.ll,
        )


Counts = Mapping[tuple[str, str], MatchCounts]
"""Match counts by the names of both engines, seen from the first."""

_NO_GAMES = MatchCounts()
_FIELDS = ("wins", "losses", "draws", "ll", "ld", "wl", "dd", "wd", "ww")
_AS_TUPLE = attrgetter(*_FIELDS)
"""Returns the counts of a match as a tuple in the order of `_FIELDS`."""
_GAME_FIELDS = {1.0: 0, 0.0: 1, 0.5: 2}
_PAIR_FIELDS = {
    (0.0, 0.0): 3, (0.5, 0.0): 4, (1.0, 0.0): 5, (0.5, 0.5): 6, (1.0, 0.5): 7, (1.0, 1.0): 8
}
"""Indices in `_FIELDS`, by a game's score and by the scores of a pair, the higher score first."""


class MatchCounter:
    """Counts games of any number of engines, match by match, one game at a time.

    Games of a match with the same ``pair`` are paired two by two in order; an odd last game stays
    unpaired. Memory grows with the number of matches and of unfinished pairs, not of games.
    """

    def __init__(self) -> None:
        self.counts: dict[tuple[str, str], MatchCounts] = {}
        """Counts by match (White of its first game, Black), in order of first games."""
        self._waiting: dict[tuple[tuple[str, str], Hashable], float] = {}

    def add(self, game: GameScore) -> None:
        """Count a game."""
        match, score = (game.white, game.black), game.score
        if match[::-1] in self.counts:
            match, score = match[::-1], 1.0 - score
        figures = list(_AS_TUPLE(self.counts.get(match, _NO_GAMES)))
        figures[_GAME_FIELDS[score]] += 1
        if game.pair is not None:
            self._pair(match, game.pair, score, figures)
        self.counts[match] = MatchCounts(*figures)

    def _pair(
        self, match: tuple[str, str], pair: Hashable, score: float, figures: list[int]
    ) -> None:
        """Add the pair that a game finishes to ``figures``, or keep the game for its partner."""
        earlier = self._waiting.pop((match, pair), None)
        if earlier is None:
            self._waiting[match, pair] = score
        else:
            figures[_PAIR_FIELDS[max(earlier, score), min(earlier, score)]] += 1


def count_matches(games: Iterable[GameScore]) -> Counts:
    """Return the counts of the games by match; ValueError for what is no `GameScore`."""
    counter = MatchCounter()
    for game in required_items(games, "objects of the class GameScore"):
        counter.add(required(game, GameScore, "a GameScore"))
    return counter.counts


def check_counts(counts: Counts) -> None:
    """Raise ValueError unless these are counts of matches, as `count_matches` returns them."""
    required(counts, Mapping, "counts of matches, as count_matches returns them")
    for match, figures in counts.items():
        if not (
            isinstance(match, tuple) and len(match) == 2
            and isinstance(match[0], str) and isinstance(match[1], str)
        ):
            raise InputError(shown(match), "expected the names of two engines as a tuple")
        try:
            values = _AS_TUPLE(figures)
            valid = type(sum(values)) is int and min(*values, *figures.unpaired) >= 0
        except (AttributeError, TypeError):
            valid = False
        if not valid:
            raise InputError(
                shown(figures), "expected a MatchCounts of whole numbers from 0, with at "
                "most all of its games in pairs"
            )  # fmt: skip


def counts_between(counts: Counts, first: str, second: str) -> MatchCounts:
    """Return the counts of two engines, seen from the first; zeros if they have not met."""
    match = counts.get((first, second))
    return counts.get((second, first), _NO_GAMES).reversed() if match is None else match


def _ratio(over: int, under: int) -> float:
    """Return ``over / under``; ``inf`` for a positive ``over`` and 0, 1 for 0 / 0."""
    if under:
        return over / under
    return float("inf") if over else 1.0
