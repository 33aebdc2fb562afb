"""What was played: the score of one game, and the counts of a match between two engines."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GameScore:
    """One finished game; ``pair`` names the opening pair it belongs to, None if there is none."""

    white: str
    black: str
    score: float
    """White's score: 1, 0.5 or 0."""
    pair: Hashable | None = None

    def __post_init__(self) -> None:
        """Refuse what no table could hold: an engine against itself, a score of another kind."""
        if self.white == self.black:
            raise ValueError(f"a game of {self.white!r} against itself cannot be rated")
        if self.score not in (0.0, 0.5, 1.0):
            raise ValueError(f"a game's score is 0, 0.5 or 1, not {self.score!r}")


class Tally:
    """What comes of games won, drawn and lost; for classes that count them."""

    __slots__ = ()
    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        """Their number."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """One a win, a half a draw."""
        return self.wins + self.draws / 2

    @property
    def score(self) -> float:
        """The mean score a game; 0.5 before the first game."""
        return self.points / self.games if self.games else 0.5


@dataclass(frozen=True, slots=True)
class MatchCounts(Tally):
    """The counts of a match, seen from its first engine: games, and finished opening pairs.

    A pair is two games of one opening with the colours swapped. Games outside a finished pair
    count in ``wins``, ``losses`` and ``draws`` alone.
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
        """Level pairs, a win each to two draws: ``inf`` without the latter, 1 without either."""
        return _ratio(self.wl, self.dd)

    def reversed(self) -> MatchCounts:
        """The same match seen from its second engine."""
        return MatchCounts(
            wins=self.losses, losses=self.wins, draws=self.draws,
            ll=self.ww, ld=self.wd, wl=self.wl, dd=self.dd, wd=self.ld, ww=self.ll,
        )


_PAIR_NAMES = {
    (0.0, 0.0): "ll", (0.5, 0.0): "ld", (1.0, 0.0): "wl",
    (0.5, 0.5): "dd", (1.0, 0.5): "wd", (1.0, 1.0): "ww",
}


def count_match(games: Iterable[GameScore], first: str, second: str) -> MatchCounts:
    """Count the games between two engines, from the first one's side; other games are passed over.

    Games of one ``pair`` are taken two by two in the order given; an odd last one is in no pair.
    """
    singles = {1.0: 0, 0.5: 0, 0.0: 0}
    pairs = {"ll": 0, "ld": 0, "wl": 0, "dd": 0, "wd": 0, "ww": 0}
    waiting: dict[Hashable, float] = {}
    for game in games:
        if {game.white, game.black} != {first, second}:
            continue
        score = game.score if game.white == first else 1.0 - game.score
        singles[score] += 1
        if game.pair is None:
            continue
        earlier = waiting.pop(game.pair, None)
        if earlier is None:
            waiting[game.pair] = score
        else:
            pairs[_PAIR_NAMES[max(earlier, score), min(earlier, score)]] += 1
    return MatchCounts(wins=singles[1.0], losses=singles[0.0], draws=singles[0.5], **pairs)


def _ratio(over: int, under: int) -> float:
    """``over / under`` without nan: ``inf`` over nothing, 1 for nothing over nothing."""
    if under:
        return over / under
    return float("inf") if over else 1.0
