"""Swiss pairing after the Dutch system, in plain form.

1.  Engines rank by points, then by the order in which they were entered (their seeding).
2.  With an odd number, the lowest ranked engine that had no bye yet has one, worth a won encounter.
3.  From the top, each engine meets one of its own score group: the upper half of the group meets
    the lower half in order, as far as they have not met before. Who finds nobody floats down to
    the next group.
4.  Nobody meets twice, unless no pairing of the whole round without a rematch is found.
5.  With an odd number of games an encounter, the one who had White less often begins with White,
    then the one whose last White is longer ago, then the higher ranked in odd rounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from merels.engine.game.errors import InputError
from merels.tournament.records.results import Encounter, Met, Results
from merels.tournament.records.settings import Settings

MOST_STEPS = 50_000
"""Tries after which a pairing without rematches is given up."""


class Place(NamedTuple):
    """An engine's place in a Swiss tournament; ``buchholz`` is the sum of its opponents' points."""

    engine: int
    points: float
    buchholz: float


def number_of_rounds(settings: Settings) -> int:
    """The settings' rounds, checked: everyone can meet everyone only once."""
    count = len(settings.engines)
    most = count - 1 + count % 2
    if settings.rounds > most:
        raise InputError(
            str(settings.rounds),
            f"expected -rounds up to {most}: a swiss of {count} engines without rematches",
        )
    return settings.rounds


def usual_rounds(engines: int) -> int:
    """The rounds that single out one winner: enough to halve the field down to one."""
    return max(1, math.ceil(math.log2(engines)))


def pair_round(settings: Settings, number: int, results: Results) -> list[Encounter]:
    """The encounters of a round."""
    if number >= number_of_rounds(settings):
        return []
    points = _points(settings, results)
    order = sorted(range(len(points)), key=lambda engine: (-points[engine], engine))
    bye = _bye(order, results)
    order = [engine for engine in order if engine != bye]
    met = {frozenset(met.encounter) for met in _all(results)}
    pairs = _pair(order, points, met)
    if pairs is None:
        pairs = _pair(order, points, set())
    assert pairs is not None
    return [_coloured(settings, number, results, one, other) for one, other in pairs]


def places(settings: Settings, results: Results) -> list[Place]:
    """The standings, best first: by points, then Buchholz, then seeding."""
    points = _points(settings, results)
    buchholz = [0.0] * len(points)
    for met in _all(results):
        first, second = met.encounter
        buchholz[first] += points[second]
        buchholz[second] += points[first]
    table = [Place(engine, points[engine], buchholz[engine]) for engine in range(len(points))]
    return sorted(table, key=lambda place: (-place.points, -place.buchholz, place.engine))


def _all(results: Results) -> Iterator[Met]:
    return (met for met_in_round in results for met in met_in_round)


def _points(settings: Settings, results: Results) -> list[float]:
    """Each engine's points, byes included."""
    points = [0.0] * len(settings.engines)
    for played in results:
        resting = set(range(len(points)))
        for (first, second), (first_points, second_points) in played:
            points[first] += first_points
            points[second] += second_points
            resting -= {first, second}
        for engine in resting:
            points[engine] += settings.games
    return points


def _bye(order: list[int], results: Results) -> int | None:
    """Who rests in this round."""
    if len(order) % 2 == 0:
        return None
    rested = [set(order) - {e for met in played for e in met.encounter} for played in results]
    byes = {engine: sum(engine in resting for resting in rested) for engine in order}
    fewest = min(byes.values())
    return next(engine for engine in reversed(order) if byes[engine] == fewest)


def _pair(
    order: list[int], points: list[float], met: set[frozenset[int]]
) -> list[tuple[int, int]] | None:
    """A pairing of everyone without a rematch, the first that the rules come upon."""
    steps = 0

    def search(left: list[int]) -> list[tuple[int, int]] | None:
        nonlocal steps
        if not left:
            return []
        top = left[0]
        for other in _candidates(left, points):
            steps += 1
            if steps > MOST_STEPS:
                return None
            if frozenset((top, other)) in met:
                continue
            rest = search([engine for engine in left if engine not in (top, other)])
            if rest is not None:
                return [(top, other), *rest]
        return None

    return search(order)


def _candidates(left: list[int], points: list[float]) -> list[int]:
    """Whom the first of those left should meet, most wanted first.

    In its own score group first its counterpart in the lower half, then the others of that half,
    then those of its own half, and then the groups below.
    """
    group = [engine for engine in left if points[engine] == points[left[0]]]
    half = len(group) // 2
    below = left[len(group) :]
    if half == 0:
        return below
    return [*group[half:], *reversed(group[1:half]), *below]


def _coloured(
    settings: Settings, number: int, results: Results, one: int, other: int
) -> Encounter:
    """The encounter with its colours; ``one`` ranks higher."""
    if settings.games % 2 == 0 or not settings.swap:
        first, second = one, other
    else:
        key_one, key_other = (_white_need(results, engine) for engine in (one, other))
        if key_one == key_other:
            first, second = (one, other) if number % 2 == 0 else (other, one)
        else:
            first, second = (one, other) if key_one < key_other else (other, one)
    return Encounter(second, first) if settings.reverse else Encounter(first, second)


def _white_need(results: Results, engine: int) -> tuple[int, int]:
    """Whites less Blacks so far, and the last round begun with White: the lower, the more need."""
    balance, last = 0, -1
    for number, played in enumerate(results):
        for met in played:
            if engine == met.encounter.first:
                balance, last = balance + 1, number
            elif engine == met.encounter.second:
                balance -= 1
    return balance, last
