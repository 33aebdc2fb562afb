"""Knockout: the winner of a match advances; engines are seeded in the order of entry.

The first two seeds can meet only in the final. If the number of engines is not a power of two, the
first seeds have byes in the first stage. A match plays its pairing ``rounds`` times. A drawn match
is extended by one pairing at a time. If the match is still drawn after `MAX_EXTRA` extensions, the
higher seed advances.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain

from merels.tournament.records.games import Pairing, PairingResult, Results
from merels.tournament.records.settings import Settings

MAX_EXTRA = 8
"""Largest number of pairings that extend a drawn match."""


@dataclass(slots=True)
class Match:
    """A match of the bracket: two engines, or one engine with a bye.

    ``higher`` is the higher seed, ``lower`` the other engine, or None for a bye. ``points`` holds
    the points of ``higher``, then those of ``lower``. ``pairings`` counts the finished pairings.
    ``winner`` is None while the match is undecided.
    """

    higher: int
    lower: int | None
    points: list[float] = field(default_factory=lambda: [0.0, 0.0])
    pairings: int = 0
    winner: int | None = None

    def add(self, result: PairingResult) -> None:
        """Count the points of a pairing."""
        is_first = result.pairing.first == self.higher
        higher, lower = result.points if is_first else result.points[::-1]
        self.points[0] += higher
        self.points[1] += lower

    def decide(self, is_exhausted: bool) -> None:
        """Set the winner: the leader or, if a drawn match ``is_exhausted``, the higher seed."""
        higher, lower = self.points
        if higher != lower or is_exhausted:
            self.winner = self.lower if lower > higher else self.higher


def pair_round(settings: Settings, number: int, results: Results) -> list[Pairing]:
    """Return the pairings of batch ``number``, from 0, or [] after the final.

    A batch holds all matches of a stage, or one more pairing of each drawn match.
    """
    undecided = [match for match in stages(settings, results[:number])[-1] if match.winner is None]
    return [
        _coloured(settings, match, index)
        for match in undecided
        for index in range(match.pairings, match.pairings + _batch(settings, match))
    ]


def most_games(settings: Settings) -> int:
    """Return the number of games if every match is extended to the limit."""
    return (len(settings.engines) - 1) * (settings.rounds + MAX_EXTRA) * settings.games


def decided(settings: Settings, results: Results, unfinished: bool = False) -> int:
    """Return the number of decided matches: after the final, one less than the engines."""
    matches = chain.from_iterable(stages(settings, results, unfinished))
    return sum(match.winner is not None and match.lower is not None for match in matches)


def champion(settings: Settings, results: Results) -> int | None:
    """Return the winner of the final, or None before it is decided."""
    stage = stages(settings, results)[-1]
    return stage[0].winner if len(stage) == 1 else None


def bracket(count: int) -> list[int | None]:
    """Return the seeds in the order of the first stage; pairs of neighbours meet, None is a bye."""
    order = [0]
    while len(order) < count:
        size = 2 * len(order)
        order = [seed for top in order for seed in (top, size - 1 - top)]
    return [seed if seed < count else None for seed in order]


def stages(
    settings: Settings, results: Results, unfinished: bool = False
) -> list[list[Match]]:
    """Return the matches of each stage so far, in the order of the bracket.

    ``unfinished``: the last batch of ``results`` is not over, so it decides no match yet.
    """
    batches = list(results)
    players = bracket(len(settings.engines))
    played = []
    while len(players) > 1:
        stage = [_match(*engines) for engines in _neighbours(players)]
        played.append(stage)
        while undecided := [match for match in stage if match.winner is None]:
            if not batches:
                return played
            match_of = {frozenset((match.higher, match.lower)): match for match in undecided}
            for result in batches.pop(0):
                match_of[frozenset(result.pairing)].add(result)
            for match in undecided:
                if batches or not unfinished:
                    match.pairings += _batch(settings, match)
                    match.decide(match.pairings >= settings.rounds + MAX_EXTRA)
            if unfinished and not batches:
                return played
        players = [match.winner for match in stage]
    return played


def _batch(settings: Settings, match: Match) -> int:
    """Return the number of pairings of a match's next batch: at first ``rounds``, then one."""
    return 1 if match.pairings else settings.rounds


def _neighbours(players: list[int | None]) -> list[list[int]]:
    """Return the engines of each match of a stage, the higher seed first; one engine has a bye."""
    pairs = zip(players[::2], players[1::2])
    return [sorted(player for player in pair if player is not None) for pair in pairs]


def _match(higher: int, lower: int | None = None) -> Match:
    """Return a match to play, or a bye if there is only one engine."""
    return Match(higher, lower, winner=higher if lower is None else None)


def _coloured(settings: Settings, match: Match, number: int) -> Pairing:
    """Return pairing ``number`` of a match, from 0.

    With an odd number of games, the colours alternate from pairing to pairing, unless ``swap`` is
    False.
    """
    assert match.lower is not None
    swapped = settings.swap and settings.games % 2 == 1 and number % 2 == 1
    first, second = match.higher, match.lower
    return Pairing(second, first) if swapped else Pairing(first, second)
