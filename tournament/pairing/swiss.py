"""Swiss pairing by simplified rules of the Dutch system.

1.  Engines rank by points, then by the order of entry (their seeding).
2.  With an odd number of engines, the lowest ranked engine without a bye so far gets a bye, which
    scores as a won pairing. The next higher engine gets the bye if fewer of the other engines must
    then meet again.
3.  From the top, engines meet within their score group: the upper half meets the lower half in
    order, unless two engines have met before. An unpaired engine floats down to the next group.
4.  Two engines meet again only if every round contains a rematch. The round then has as few
    rematches as possible.
5.  With an odd number of games, White goes to the engine with the smaller number of Whites minus
    Blacks, then to the one whose last White is longer ago, then to the higher ranked in odd rounds.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence, Sized
from itertools import chain
from typing import NamedTuple

from merels.engine.common.errors import InputError
from merels.tournament.pairing.matching import Matching
from merels.tournament.records.games import Pairing, PairingResult, Results
from merels.tournament.records.settings import Settings

BYE = -1
"""Opponent of the engine that has a bye."""


class Standing(NamedTuple):
    """Standing of an engine; ``buchholz`` is the sum of its opponents' points.

    ``byes`` are the numbers, from 1, of the rounds in which the engine had a bye. As in FIDE's
    tie-breaks, a bye counts as an opponent with the engine's own points.
    """

    engine: int
    points: float
    buchholz: float
    byes: tuple[int, ...]


def number_of_rounds(settings: Settings) -> int:
    """Return the number of rounds; InputError if it forces two engines to meet twice."""
    count = len(settings.engines)
    maximum = count - 1 + count % 2
    if settings.rounds > maximum:
        raise InputError(
            str(settings.rounds),
            f"expected -rounds up to {maximum}; with more, some of the {count} engines meet twice",
        )
    return settings.rounds


def usual_rounds(engines: int) -> int:
    """Return the fewest rounds after which only one engine can have won all its pairings."""
    return max(1, math.ceil(math.log2(engines)))


def pair_round(settings: Settings, number: int, results: Results) -> list[Pairing]:
    """Return the pairings of round ``number``, from 0, or [] after the last one."""
    if number >= number_of_rounds(settings):
        return []
    points = _points(settings, results)
    order = sorted(range(len(points)), key=lambda engine: (-points[engine], engine))
    met: list[Counter[int]] = [Counter() for _ in points]
    for first, second in (result.pairing for result in chain.from_iterable(results)):
        met[first][second] += 1
        met[second][first] += 1
    pairs = _pair(order, points, met, _byes(order, results))
    return [_coloured(settings, number, results, higher, lower) for higher, lower in pairs]


def places(settings: Settings, results: Results) -> list[Standing]:
    """Return the standings, best first: by points, then Buchholz, then seeding."""
    points = _points(settings, results)
    buchholz = [0.0] * len(points)
    for result in chain.from_iterable(results):
        first, second = result.pairing
        buchholz[first] += points[second]
        buchholz[second] += points[first]
    bye_rounds = [_engines_with_bye(points, played) for played in results]
    table = []
    for engine in range(len(points)):
        byes = tuple(number for number, resting in enumerate(bye_rounds, 1) if engine in resting)
        total = buchholz[engine] + len(byes) * points[engine]
        table.append(Standing(engine, points[engine], total, byes))
    return sorted(table, key=lambda place: (-place.points, -place.buchholz, place.engine))


def _points(settings: Settings, results: Results) -> list[float]:
    """Return each engine's points, byes included."""
    points = [0.0] * len(settings.engines)
    for played in results:
        for (first, second), (first_points, second_points) in played:
            points[first] += first_points
            points[second] += second_points
        for engine in _engines_with_bye(points, played):
            points[engine] += settings.games
    return points


def _engines_with_bye(engines: Sized, played: Sequence[PairingResult]) -> set[int]:
    """Return the engines that have a bye in a round."""
    return set(range(len(engines))).difference(*(result.pairing for result in played))


def _byes(order: list[int], results: Results) -> list[int]:
    """Return the candidates for this round's bye, best first; [] if there is no bye."""
    if len(order) % 2 == 0:
        return []
    byes = Counter(chain.from_iterable(_engines_with_bye(order, played) for played in results))
    fewest = min(byes[engine] for engine in order)
    return [engine for engine in reversed(order) if byes[engine] == fewest]


def _pair(
    order: list[int], points: list[float], met: Sequence[Mapping[int, int]], byes: list[int]
) -> list[tuple[int, int]]:
    """Return the pairs of a round with as few rematches as possible.

    ``order``: the engines, best first. ``met``: engine -> opponent -> number of meetings. ``byes``:
    the candidates for the bye, best first. Among several solutions, rules 2 and 3 decide.
    """
    fresh = {engine: set(order).difference(met[engine], [engine]) for engine in order}
    if byes:
        fresh[BYE] = set(byes)
        for engine in byes:
            fresh[engine].add(BYE)
    matching = Matching(fresh)
    unpaired = list(order)
    if byes:
        unpaired.remove(next(
            engine for engine in byes if matching.take(BYE, engine, matching.exposed)
        ))
    pairs = []
    while unpaired:
        top = unpaired[0]
        others = sorted(_candidates(unpaired, points), key=met[top].__getitem__)
        # Engines that stay exposed meet again, so a rematch must leave two fewer of them.
        other = next(
            other for other in others
            if matching.take(top, other, matching.exposed - 2 * (other not in fresh[top]))
        )
        pairs.append((top, other))
        unpaired = [engine for engine in unpaired if engine not in (top, other)]
    return pairs


def _candidates(unpaired: list[int], points: list[float]) -> list[int]:
    """Return the opponents of the first unpaired engine, best first.

    Within the engine's score group, its counterpart in the lower half comes first, then the other
    engines of the lower half, then those of its own half. The lower groups come last.
    """
    group = [engine for engine in unpaired if points[engine] == points[unpaired[0]]]
    half = len(group) // 2
    upper, lower = group[1:half], group[max(half, 1) :]
    return [*lower, *reversed(upper), *unpaired[len(group) :]]


def _coloured(
    settings: Settings, number: int, results: Results, higher: int, lower: int
) -> Pairing:
    """Return the pairing of two engines with colours; ``higher`` ranks above ``lower``."""
    swapped = False
    if settings.games % 2 and settings.swap:
        higher_need, lower_need = (_white_need(results, engine) for engine in (higher, lower))
        swapped = number % 2 == 1 if higher_need == lower_need else higher_need > lower_need
    return Pairing(lower, higher) if swapped else Pairing(higher, lower)


def _white_need(results: Results, engine: int) -> tuple[int, int]:
    """Return Whites minus Blacks and the last round with White; lower values need White more."""
    balance, last_white = 0, -1
    for number, played in enumerate(results):
        for result in played:
            white, black = result.pairing
            if engine == white:
                balance, last_white = balance + 1, number
            elif engine == black:
                balance -= 1
    return balance, last_white
