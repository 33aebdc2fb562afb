"""Knockout: the winner of a match advances; engines are seeded in the order they were entered.

The bracket is the usual one: the first seed can meet the second only in the final, and if the
number of engines is no power of two the first seeds have byes in the first stage. A match plays
its pairing ``rounds`` times. A drawn match is prolonged by one pairing at a time; after
`MOST_EXTRA` of them that decide nothing, the higher seed advances.
"""

from __future__ import annotations

from collections.abc import Generator
from itertools import islice

from merels.tournament.records.games import Pairing, Results
from merels.tournament.records.settings import Settings

MOST_EXTRA = 8


def pair_round(settings: Settings, number: int, results: Results) -> list[Pairing]:
    """The pairings of a batch: a stage's matches, or what prolongs the drawn ones."""
    return next(islice(_batches(settings, results), number, None), [])


def champion(settings: Settings, results: Results) -> int | None:
    """The winner of the final, once it is played."""
    batches = _batches(settings, results)
    try:
        while True:
            next(batches)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


def bracket(count: int) -> list[int | None]:
    """The seeds in the order of the first stage, where neighbours meet; None stands for a bye."""
    order = [0]
    while len(order) < count:
        size = 2 * len(order)
        order = [seed for top in order for seed in (top, size - 1 - top)]
    return [seed if seed < count else None for seed in order]


def _batches(settings: Settings, results: Results) -> Generator[list[Pairing], None, int | None]:
    """Every batch that has results, and the one to play next; returns the champion."""
    players = bracket(len(settings.engines))
    batch = 0
    while len(players) > 1:
        matches = list(zip(players[::2], players[1::2]))
        points: dict[tuple[int, int], list[float]] = {
            (min(one, other), max(one, other)): [0.0, 0.0]
            for one, other in matches
            if one is not None and other is not None
        }
        undecided, played, repeats = list(points), 0, settings.rounds
        for _ in range(MOST_EXTRA + 1):
            if not undecided:
                break
            yield [
                _coloured(settings, match, number)
                for match in undecided
                for number in range(played, played + repeats)
            ]
            if batch == len(results):
                return None
            for result in results[batch]:
                first, second = result.pairing
                match = (min(first, second), max(first, second))
                ours, theirs = result.points if first == match[0] else result.points[::-1]
                points[match][0] += ours
                points[match][1] += theirs
            batch += 1
            undecided = [match for match in undecided if points[match][0] == points[match][1]]
            played, repeats = played + repeats, 1
        players = [_winner(match, points) for match in matches]
    return players[0]


def _winner(
    match: tuple[int | None, int | None], points: dict[tuple[int, int], list[float]]
) -> int | None:
    """Who advances: the better one, the higher seed of two equals, or the one with a bye."""
    one, other = match
    if one is None or other is None:
        return one if other is None else other
    low, high = min(one, other), max(one, other)
    ours, theirs = points[low, high]
    return high if theirs > ours else low


def _coloured(settings: Settings, match: tuple[int, int], number: int) -> Pairing:
    """Pairing ``number`` of a match; with an odd number of games White alternates."""
    swapped = settings.swap and settings.games % 2 == 1 and number % 2 == 1
    return Pairing(*match[::-1]) if swapped != settings.reverse else Pairing(*match)
