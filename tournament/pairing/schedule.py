"""Schedules of all formats: pairings, their order and their colours.

A schedule is a pure function. The pairings of a round follow from the settings and, in Swiss and
knockout tournaments, from the results of earlier rounds. Therefore a resumed tournament gets the
same pairings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from merels.engine.common.errors import InputError
from merels.tournament.pairing import knockout, swiss
from merels.tournament.records.games import Pairing, Results
from merels.tournament.records.settings import LEAGUE, Settings


class Schedule(NamedTuple):
    """A tournament format.

    ``pair(settings, number, results)`` returns the pairings of round ``number``, from 0; none
    after the last round. ``waits`` is True if a round can be paired only after the previous one is
    over.
    """

    pair: Callable[[Settings, int, Results], Iterable[Pairing]]
    waits: bool
    games: Callable[[Settings], int]
    """Returns the largest possible number of games of the tournament."""


def schedule_for(settings: Settings) -> Schedule:
    """Return the schedule of the format; InputError if the number of engines does not fit it."""
    count = len(settings.engines)
    if count < 2:
        raise InputError("-engine", f"expected at least two engines, found {count}")
    if settings.format == "gauntlet" and not 1 <= settings.seeds < count:
        raise InputError(
            str(settings.seeds), f"expected -seeds from 1 to {count - 1} for {count} engines"
        )
    return _FORMATS[settings.format]


def circle(count: int) -> Iterator[list[tuple[int, int]]]:
    """Yield the rounds of a round robin of ``count`` players, the lower index of a pair first.

    In the circle method, one player stays and the others rotate around it. If the count is odd, one
    player has no opponent in each round.
    """
    seats: list[int | None] = list(range(count)) + [None] * (count % 2)
    for _ in range(len(seats) - 1):
        half = len(seats) // 2
        across = zip(seats[:half], reversed(seats[half:]))
        yield sorted(
            (min(near, far), max(near, far))
            for near, far in across
            if near is not None and far is not None
        )
        seats.insert(1, seats.pop())


def _fixed_round(settings: Settings, number: int, results: Results) -> Iterator[Pairing]:
    """Yield the pairings of round ``number``, from 0; none after the last one.

    A round robin pairs all engines. A gauntlet pairs each seed with each engine that is not a seed.
    """
    if number >= settings.rounds:
        return
    count, seeds = len(settings.engines), settings.seeds
    pairs: Iterable[tuple[int, int]] = chain.from_iterable(circle(count))
    if settings.format == "gauntlet":
        pairs = ((seed, other) for other in range(seeds, count) for seed in range(seeds))
    for first, second in pairs:
        yield _coloured(settings, number, first, second)


def _coloured(settings: Settings, number: int, first: int, second: int) -> Pairing:
    """Return the pairing of two engines, ``first < second``, with their colours.

    With an even number of games, or if colours never swap, the engine entered first has White in
    the first game. Otherwise the parity of the indices decides (Berger's rule: an engine's Whites
    and Blacks differ by at most one in a round), and the colours swap from round to round.
    """
    is_berger = settings.swap and settings.games % 2 == 1
    swapped = is_berger and (first + second + number) % 2 == 0
    return Pairing(second, first) if swapped else Pairing(first, second)


def colours(settings: Settings, pairing: Pairing, game: int) -> tuple[int, int]:
    """Return White and Black of game number ``game`` (from 0) of a pairing."""
    first, second = pairing
    return (second, first) if settings.swap and game % 2 else (first, second)


def pair_of(settings: Settings, number: int) -> int:
    """Return the number, from 1, of the pair to which game ``number`` belongs."""
    pairing, game = divmod(number - 1, settings.games)
    return pairing * ((settings.games + 1) // 2) + game // 2 + 1


def is_in_part(pair: int, part: tuple[int, int]) -> bool:
    """Return whether a pair belongs to part (i, n) of a tournament: the i-th of every n pairs."""
    index, count = part
    return pair % count == index % count


def _fixed_games(settings: Settings) -> int:
    """Return the number of games of a round robin or gauntlet."""
    count, seeds = len(settings.engines), settings.seeds
    pairings = seeds * (count - seeds) if settings.format == "gauntlet" else math.comb(count, 2)
    return settings.rounds * pairings * settings.games


def _swiss_games(settings: Settings) -> int:
    return swiss.number_of_rounds(settings) * (len(settings.engines) // 2) * settings.games


_FORMATS = {
    "roundrobin": Schedule(_fixed_round, False, _fixed_games),
    "gauntlet": Schedule(_fixed_round, False, _fixed_games),
    "swiss": Schedule(swiss.pair_round, True, _swiss_games),
    "knockout": Schedule(knockout.pair_round, True, knockout.most_games),
    # `merels.tournament.league` chooses the pairs of a league.
    LEAGUE: Schedule(lambda settings, number, results: [], False, lambda settings: 0),
}
