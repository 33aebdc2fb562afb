"""Knockout: who wins a match goes on, the engines entered first being the favourites.

The bracket is the usual one: the first seed can meet the second only in the final, and where the
number of engines is no power of two the first seeds have nothing to play in the first stage. A
match is ``rounds`` encounters. A drawn match is prolonged by one encounter at a time; after
`MOST_EXTRA` of them that settle nothing, the engine that was entered earlier goes on.
"""

from __future__ import annotations

from collections.abc import Generator

from merels.tournament.records.results import Encounter, Results
from merels.tournament.records.settings import Settings

MOST_EXTRA = 8


def pair_round(settings: Settings, number: int, results: Results) -> list[Encounter]:
    """The encounters of a batch: a stage's matches, or what prolongs the drawn ones."""
    for batch, encounters in enumerate(_batches(settings, results)):
        if batch == number:
            return encounters
    return []


def champion(settings: Settings, results: Results) -> int | None:
    """Who won the final, once it is played."""
    batches = _batches(settings, results)
    try:
        while True:
            next(batches)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


def bracket(count: int) -> list[int | None]:
    """The seeds in the order of the first stage, neighbours meeting; None: nobody to play."""
    order = [0]
    while len(order) < count:
        size = 2 * len(order)
        order = [seed for top in order for seed in (top, size - 1 - top)]
    return [seed if seed < count else None for seed in order]


def _batches(
    settings: Settings, results: Results
) -> Generator[list[Encounter], None, int | None]:
    """Every batch as far as results tell, and the one to be played next; returns the champion."""
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
            for met in results[batch]:
                first, second = met.encounter
                match = (min(first, second), max(first, second))
                ours, theirs = met.points if first == match[0] else met.points[::-1]
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
    """Who goes on: the better one, the earlier seed of two equals, the one that had no opponent."""
    one, other = match
    if one is None or other is None:
        return one if other is None else other
    low, high = min(one, other), max(one, other)
    ours, theirs = points[low, high]
    return high if theirs > ours else low


def _coloured(settings: Settings, match: tuple[int, int], number: int) -> Encounter:
    """Encounter ``number`` of a match; with an odd number of games White alternates."""
    swapped = settings.swap and settings.games % 2 == 1 and number % 2 == 1
    return Encounter(*match[::-1]) if swapped != settings.reverse else Encounter(*match)
