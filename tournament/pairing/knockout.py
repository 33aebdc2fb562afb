"""Knockout: the winner of a match advances; engines are seeded in the order they were entered.

The bracket is the usual one: the first seed can meet the second only in the final, and if the
number of engines is no power of two the first seeds have byes in the first stage. A match plays
its pairing ``rounds`` times. A drawn match is prolonged by one pairing at a time; after
`MOST_EXTRA` of them that decide nothing, the higher seed advances.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain

from merels.tournament.records.games import Pairing, PairingResult, Results
from merels.tournament.records.settings import Settings

MOST_EXTRA = 8


@dataclass(slots=True)
class Match:
    """A match of the bracket: two engines of which one advances, or one with a bye.

    ``one`` is the higher seed; ``other`` is None for a bye. ``points`` are theirs in this order,
    ``pairings`` is how many are over. ``winner`` is who goes on; None: that is not decided.
    """

    one: int
    other: int | None
    points: list[float] = field(default_factory=lambda: [0.0, 0.0])
    pairings: int = 0
    winner: int | None = None

    def add(self, result: PairingResult) -> None:
        """Count the points of one of its pairings."""
        is_first = result.pairing.first == self.one
        ours, theirs = result.points if is_first else result.points[::-1]
        self.points[0] += ours
        self.points[1] += theirs

    def decide(self, last: bool) -> None:
        """Name who goes on, if anyone leads; after the ``last`` pairing the higher seed does."""
        ours, theirs = self.points
        if ours != theirs or last:
            self.winner = self.other if theirs > ours else self.one


def pair_round(settings: Settings, number: int, results: Results) -> list[Pairing]:
    """The pairings of a batch: a stage's matches, or what prolongs the drawn ones."""
    undecided = [match for match in stages(settings, results[:number])[-1] if match.winner is None]
    return [
        _coloured(settings, match, index)
        for match in undecided
        for index in range(match.pairings, match.pairings + _batch(settings, match))
    ]


def most_games(settings: Settings) -> int:
    """How many games there are if every match is prolonged as far as it can be."""
    return (len(settings.engines) - 1) * (settings.rounds + MOST_EXTRA) * settings.games


def decided(settings: Settings, results: Results, unfinished: bool = False) -> int:
    """How many matches are decided, of one less than there are engines."""
    found = chain.from_iterable(stages(settings, results, unfinished))
    return sum(match.winner is not None and match.other is not None for match in found)


def champion(settings: Settings, results: Results) -> int | None:
    """The winner of the final, once it is played."""
    last = stages(settings, results)[-1]
    return last[0].winner if len(last) == 1 else None


def bracket(count: int) -> list[int | None]:
    """The seeds in the order of the first stage, where neighbours meet; None stands for a bye."""
    order = [0]
    while len(order) < count:
        size = 2 * len(order)
        order = [seed for top in order for seed in (top, size - 1 - top)]
    return [seed if seed < count else None for seed in order]


def stages(
    settings: Settings, results: Results, unfinished: bool = False
) -> list[list[Match]]:
    """The matches of each stage so far, in the order of the bracket; the last has the final.

    ``unfinished``: the last of the batches in ``results`` is not over, and decides nothing yet.
    """
    batches = list(results)
    players = bracket(len(settings.engines))
    found = []
    while len(players) > 1:
        stage = [_match(*engines) for engines in _neighbours(players)]
        found.append(stage)
        while undecided := [match for match in stage if match.winner is None]:
            if not batches:
                return found
            places = {frozenset((match.one, match.other)): match for match in undecided}
            for result in batches.pop(0):
                places[frozenset(result.pairing)].add(result)
            for match in undecided:
                if batches or not unfinished:
                    match.pairings += _batch(settings, match)
                    match.decide(match.pairings >= settings.rounds + MOST_EXTRA)
            if unfinished and not batches:
                return found
        players = [match.winner for match in stage]
    return found


def _batch(settings: Settings, match: Match) -> int:
    """How many pairings of a match are played at once: all that it has, then one more at a time."""
    return 1 if match.pairings else settings.rounds


def _neighbours(players: list[int | None]) -> list[list[int]]:
    """Return the matches of a stage, the higher seed first; a single engine has a bye."""
    pairs = zip(players[::2], players[1::2])
    return [sorted(player for player in pair if player is not None) for pair in pairs]


def _match(one: int, other: int | None = None) -> Match:
    """A match that is still to be played, or a bye, which is not."""
    return Match(one, other, winner=one if other is None else None)


def _coloured(settings: Settings, match: Match, number: int) -> Pairing:
    """Pairing ``number`` of a match; with an odd number of games White alternates."""
    assert match.other is not None
    swapped = settings.swap and settings.games % 2 == 1 and number % 2 == 1
    first, second = match.one, match.other
    return Pairing(second, first) if swapped != settings.reverse else Pairing(first, second)
