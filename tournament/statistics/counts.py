"""The score of one game, and the counts of a match between two engines."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from operator import add, attrgetter


@dataclass(frozen=True, slots=True)
class GameScore:
    """One finished game; ``pair`` names its game pair, None if it has none."""

    white: str
    black: str
    score: float
    """White's score: 1, 0.5 or 0."""
    pair: Hashable | None = None

    def __post_init__(self) -> None:
        """Refuse an engine against itself and a score that is none."""
        if self.white == self.black:
            raise ValueError(f"a game of {self.white!r} against itself cannot be rated")
        if self.score not in (0.0, 0.5, 1.0):
            raise ValueError(f"a game's score is 0, 0.5 or 1, not {self.score!r}")


class Tally:
    """A base class for counts of wins, draws and losses: what follows from them."""

    __slots__ = ()
    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        """The number of games."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """One for a win, half for a draw."""
        return self.wins + self.draws / 2

    @property
    def score(self) -> float:
        """The mean score of a game; 0.5 before the first game."""
        return self.points / self.games if self.games else 0.5


@dataclass(frozen=True, slots=True)
class MatchCounts(Tally):
    """The counts of a match, seen from its first engine: games, and finished opening pairs.

    A pair is two games of one opening with the colours swapped. Games outside a finished pair
    count only in ``wins``, ``losses`` and ``draws``.
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
        """The number of finished opening pairs."""
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
        """The share of games drawn, 0 before the first."""
        return self.draws / self.games if self.games else 0.0

    @property
    def drawn_pairs_ratio(self) -> float:
        """The share of pairs that ended level, 0 before the first."""
        return (self.dd + self.wl) / self.pairs if self.pairs else 0.0

    @property
    def pairs_ratio(self) -> float:
        """Pairs won to pairs lost: ``inf`` if none was lost, 1 if none was won either."""
        return _ratio(self.ww + self.wd, self.ll + self.ld)

    @property
    def wl_dd_ratio(self) -> float:
        """Level pairs, a win each over two draws: ``inf`` over none, 1 for none over none."""
        return _ratio(self.wl, self.dd)

    def __add__(self, other: MatchCounts) -> MatchCounts:
        """The counts of two matches of the same engines together."""
        return MatchCounts(*map(add, _FIGURES(self), _FIGURES(other)))

    def reversed(self) -> MatchCounts:
        """The same match seen from its second engine."""
        return MatchCounts(
            wins=self.losses, losses=self.wins, draws=self.draws,
            ll=self.ww, ld=self.wd, wl=self.wl, dd=self.dd, wd=self.ld, ww=self.ll,
        )


Counts = Mapping[tuple[str, str], MatchCounts]
"""Match counts by the names of both engines, seen from the first."""

_NONE = MatchCounts()
_NAMES = ("wins", "losses", "draws", "ll", "ld", "wl", "dd", "wd", "ww")
_FIGURES = attrgetter(*_NAMES)
"""The counts of a match in the order of its fields."""
_OF_GAME = {1.0: 0, 0.0: 1, 0.5: 2}
_OF_PAIR = {
    (0.0, 0.0): 3, (0.5, 0.0): 4, (1.0, 0.0): 5, (0.5, 0.5): 6, (1.0, 0.5): 7, (1.0, 1.0): 8
}
"""The places of these counts by the scores of a game and of a pair, the better one first."""


class MatchCounter:
    """Counts the games of any number of engines, match by match, as they come.

    Games of one ``pair`` are counted two by two in order; an odd last one belongs to no pair.
    Memory grows with the number of matches, not of games.
    """

    def __init__(self) -> None:
        self.counts: dict[tuple[str, str], MatchCounts] = {}
        """In the order of the matches' first games, whose White comes first."""
        self._waiting: dict[tuple[tuple[str, str], Hashable], float] = {}

    def add(self, game: GameScore) -> None:
        """Count a game."""
        match, score = (game.white, game.black), game.score
        if match[::-1] in self.counts:
            match, score = match[::-1], 1.0 - score
        figures = list(_FIGURES(self.counts.get(match, _NONE)))
        figures[_OF_GAME[score]] += 1
        if game.pair is not None:
            self._pair(match, game.pair, score, figures)
        self.counts[match] = MatchCounts(*figures)

    def relabelled(self, labels: Mapping[str, str]) -> MatchCounter:
        """Return a copy with other names; one new name may cover several.

        A pair whose two games were of different names, and now are of one match, is finished.
        """
        other = MatchCounter()
        for match, counts in self.counts.items():
            one, two = (labels[name] for name in match)
            if one == two:
                continue  # No game of an engine against itself can be rated.
            if (two, one) in other.counts:
                other.counts[two, one] += counts.reversed()
            else:
                other.counts[one, two] = other.counts.get((one, two), _NONE) + counts
        for (match, pair), score in self._waiting.items():
            match = labels[match[0]], labels[match[1]]
            if match[::-1] in other.counts:
                match, score = match[::-1], 1.0 - score
            if match in other.counts:
                figures = list(_FIGURES(other.counts[match]))
                other._pair(match, pair, score, figures)
                other.counts[match] = MatchCounts(*figures)
        return other

    def _pair(
        self, match: tuple[str, str], pair: Hashable, score: float, figures: list[int]
    ) -> None:
        """Add the pair that a game finishes as its second, if it does, to the match's figures."""
        earlier = self._waiting.pop((match, pair), None)
        if earlier is None:
            self._waiting[match, pair] = score
        else:
            figures[_OF_PAIR[max(earlier, score), min(earlier, score)]] += 1


def count_matches(games: Iterable[GameScore]) -> Counts:
    """Count all of some games, as a `MatchCounter` does."""
    counter = MatchCounter()
    for game in games:
        counter.add(game)
    return counter.counts


def counts_between(counts: Counts, first: str, second: str) -> MatchCounts:
    """The counts of two engines' match, seen from the first; zeros where they have not met."""
    found = counts.get((first, second))
    return counts.get((second, first), _NONE).reversed() if found is None else found


def _ratio(over: int, under: int) -> float:
    """``over / under`` without nan: ``inf`` over nothing, 1 for nothing over nothing."""
    if under:
        return over / under
    return float("inf") if over else 1.0
