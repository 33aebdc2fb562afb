"""Who meets whom, in which order and with which colours.

A schedule is a pure function: the pairings of each round follow from the settings and, in formats
that pair by standing, from the results of the rounds before. Nothing is remembered between calls,
so a resumed tournament gets the same pairings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from merels.engine.common.errors import InputError
from merels.tournament.pairing import knockout, swiss
from merels.tournament.records.games import Pairing, Results
from merels.tournament.records.settings import Settings


class Schedule(NamedTuple):
    """A format. ``pair(settings, number, results)`` gives round ``number``, from 0; [] at the end.

    ``waits``: a round can only be paired once the one before is over.
    """

    pair: Callable[[Settings, int, Results], list[Pairing]]
    waits: bool
    games: Callable[[Settings], int]
    """How many games the whole tournament has at most."""


def schedule_for(settings: Settings) -> Schedule:
    """The schedule of the settings' format, checked against the number of engines."""
    count = len(settings.engines)
    if count < 2:
        raise InputError("-engine", f"expected at least two engines, found {count}")
    if settings.format == "gauntlet" and not 1 <= settings.seeds < count:
        raise InputError(
            str(settings.seeds), f"expected -seeds from 1 to {count - 1} for {count} engines"
        )
    return _FORMATS[settings.format]


def circle(count: int) -> Iterator[list[tuple[int, int]]]:
    """The rounds of a round robin of ``count`` players, each meeting each once, lower index first.

    The circle method: one player stays, the others rotate around it. With an odd count each round
    leaves one player out.
    """
    seats: list[int | None] = list(range(count)) + [None] * (count % 2)
    for _ in range(len(seats) - 1):
        half = len(seats) // 2
        across = zip(seats[:half], reversed(seats[half:]))
        yield sorted(
            (min(one, other), max(one, other))
            for one, other in across
            if one is not None and other is not None
        )
        seats.insert(1, seats.pop())


def _fixed_round(settings: Settings, number: int, results: Results) -> list[Pairing]:
    """Every pairing once: of any two engines, or in a gauntlet of a seed and one of the others."""
    if number >= settings.rounds:
        return []
    count, seeds = len(settings.engines), settings.seeds
    if settings.format == "gauntlet":
        pairs = [(seed, other) for other in range(seeds, count) for seed in range(seeds)]
    else:
        pairs = [pair for meetings in circle(count) for pair in meetings]
    return [_coloured(settings, number, one, other) for one, other in pairs]


def _coloured(settings: Settings, number: int, one: int, other: int) -> Pairing:
    """The pairing of two engines, ``one < other``, with colours that even out.

    With an even number of games every pairing is balanced, and the engine entered first
    begins with White. Otherwise White goes by the parity of the indices (Berger's rule: nobody's
    Whites and Blacks differ by more than one in a round), exchanged from round to round.
    """
    odd = settings.swap and settings.games % 2 == 1
    swapped = odd and (one + other + number) % 2 == 0
    return Pairing(other, one) if swapped != settings.reverse else Pairing(one, other)


def colours(settings: Settings, pairing: Pairing, game: int) -> tuple[int, int]:
    """White and Black of a pairing's game number ``game`` (from 0)."""
    first, second = pairing
    return (second, first) if settings.swap and game % 2 else (first, second)


def pair_of(settings: Settings, number: int) -> int:
    """The number of the pair that a game belongs to, in a format whose rounds wait for no results.
    """
    pairing, game = divmod(number - 1, settings.games)
    return pairing * ((settings.games + 1) // 2) + game // 2 + 1


def is_in_part(pair: int, part: tuple[int, int]) -> bool:
    """Whether a pair of this number is in the part (i, n) of a tournament: the i-th of every n."""
    index, count = part
    return pair % count == index % count


def _all_games(settings: Settings) -> int:
    """The games of a format in which every round has as many pairings."""
    rounds = swiss.number_of_rounds(settings) if settings.format == "swiss" else settings.rounds
    return rounds * len(schedule_for(settings).pair(settings, 0, ())) * settings.games


_FORMATS = {
    "roundrobin": Schedule(_fixed_round, False, _all_games),
    "gauntlet": Schedule(_fixed_round, False, _all_games),
    "swiss": Schedule(swiss.pair_round, True, _all_games),
    "knockout": Schedule(knockout.pair_round, True, knockout.most_games),
}
