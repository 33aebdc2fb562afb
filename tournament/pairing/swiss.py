"""Swiss pairing: the best pairs of a round by an order of rules, as a matching of minimum cost.

Engines rank by points, then by the order of entry (their seeding). A round is paired so that, in
this order of importance,

1.  as few engines as possible meet again, and those that have met least often;
2.  with an odd number of engines, the bye goes to an engine with the fewest byes, and among these
    to the lowest ranked one. A bye scores as a won pairing;
3.  with an odd number of games, no engine has the same colour three times in a row, or three times
    more often than the other one;
4.  engines of equal points meet; the sum of the squared differences is as small as possible;
5.  with an odd number of games, engines that are due for different colours meet;
6.  no engine meets a weaker score group, or a stronger one, in two successive rounds;
7.  the upper half of a score group meets the lower half in order, and the last engine of a group of
    odd size the first one of the next group.

Colours: White goes to the engine that must have it by rule 3, then to the one with the smaller
number of Whites minus Blacks, then to the one whose last White is longer ago, then to the higher
ranked in odd rounds.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence, Sized
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from merels.engine.common.errors import InputError
from merels.tournament.pairing.matching import minimum_matching
from merels.tournament.records.games import Pairing, PairingResult, Results
from merels.tournament.records.settings import Settings

REACH = 60
"""Greatest distance, in places, of an engine's opponent from its best opponent by rule 7.

The limit makes the pairing of many engines fast. It is lifted if it leads to a rematch."""

Places = tuple[int, int]
"""Places of two engines in the ranking, from 0, the higher one first."""


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
    histories = _histories(settings, results)
    for reach in sorted({min(REACH, len(order)), len(order)}):
        terms = _terms(settings, order, points, histories, reach)
        mates = minimum_matching(_costs(terms, len(order) + len(order) % 2))
        pairs = [(place, mate) for place, mate in enumerate(mates or ()) if place < mate]
        if pairs and not any(terms[pair][0] for pair in pairs):
            break
    engines = [(order[place], order[mate]) for place, mate in pairs if mate < len(order)]
    return [_coloured(settings, number, histories, *pair) for pair in engines]


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


@dataclass(slots=True)
class _History:
    """Rounds of an engine."""

    met: Counter[int] = field(default_factory=Counter)
    """Opponent -> number of meetings."""
    colours: list[int] = field(default_factory=list)
    """1 for White, -1 for Black, in the order of the rounds."""
    last_white: int = -1
    """Last round with White, from 0."""
    byes: int = 0
    floated: int = 0
    """In the last round: 1 if the opponent had fewer points, -1 if it had more, else 0."""

    @property
    def need(self) -> tuple[int, int, int]:
        """How much Black is due: by rule 3 (1, 0 or -1), Whites minus Blacks, last White."""
        balance = sum(self.colours)
        last = sum(self.colours[-2:])
        must = (balance > 1 or last == 2) - (balance < -1 or last == -2)
        return must, balance, self.last_white

    @property
    def due(self) -> int:
        """1 if Black is due, -1 if White is due, 0 if neither."""
        must, balance, _ = self.need
        due = must or balance or (self.colours[-1] if self.colours else 0)
        return (due > 0) - (due < 0)


def _histories(settings: Settings, results: Results) -> list[_History]:
    """Return the history of each engine."""
    histories = [_History() for _ in settings.engines]
    for number, played in enumerate(results):
        for white, black in (result.pairing for result in played):
            histories[white].met[black] += 1
            histories[black].met[white] += 1
            histories[white].colours.append(1)
            histories[black].colours.append(-1)
            histories[white].last_white = number
        for engine in _engines_with_bye(histories, played):
            histories[engine].byes += 1
    if results:
        before = _points(settings, results[:-1])
        for first, second in (result.pairing for result in results[-1]):
            apart = before[first] - before[second]
            histories[first].floated = (apart > 0) - (apart < 0)
            histories[second].floated = (apart < 0) - (apart > 0)
    return histories


def _terms(
    settings: Settings, order: list[int], points: list[float], histories: list[_History], reach: int
) -> dict[Places, tuple[int, ...]]:
    """Return the costs of each pair of places in ``order``: two by rule 1, one by each other rule.

    With an odd number of engines, the place after the last one is the bye.
    """
    count, sizes = len(order), Counter(points)
    has_colours = settings.games % 2 == 1 and settings.swap
    musts = [history.need[0] if has_colours else 0 for history in histories]
    dues = [history.due if has_colours else 0 for history in histories]
    terms: dict[Places, tuple[int, ...]] = {}
    for place, higher in enumerate(order):
        half = sizes[points[higher]] // 2
        # The next places may be in the next score group; the best opponent in the engine's own
        # group is half of it away.
        nearest = max(place + 1, place + half - reach)
        for other in {*range(place + 1, place + reach + 2), *range(nearest, place + half + reach)}:
            if other >= count:
                continue
            lower = order[other]
            ours, theirs = histories[higher], histories[lower]
            apart = points[higher] - points[lower]
            floats = (ours.floated > 0) + (theirs.floated < 0) if apart else 0
            # Points are multiples of a half, so the square is one of a quarter.
            terms[place, other] = (
                int(ours.met[lower] > 0), ours.met[lower], 0,
                int(musts[higher] * musts[lower] > 0), round(4 * apart * apart),
                int(dues[higher] * dues[lower] > 0), floats,
                (other - place - (1 if apart else half)) ** 2,
            )
        if count % 2:
            terms[place, count] = (0, 0, (histories[higher].byes + 1) * count - place, *[0] * 5)
    return terms


def _costs(terms: dict[Places, tuple[int, ...]], vertices: int) -> list[dict[int, int]]:
    """Return each vertex's costs, in which an earlier term outweighs the later ones of a round."""
    costs: list[dict[int, int]] = [{} for _ in range(vertices)]
    factors = [1 + max(term) * vertices // 2 for term in zip(*terms.values())]
    for (first, second), values in terms.items():
        cost = 0
        for factor, value in zip(factors, values):
            cost = cost * factor + value
        costs[first][second] = costs[second][first] = cost
    return costs


def _coloured(
    settings: Settings, number: int, histories: list[_History], higher: int, lower: int
) -> Pairing:
    """Return the pairing of two engines with colours; ``higher`` ranks above ``lower``."""
    swapped = False
    if settings.games % 2 and settings.swap:
        higher_need, lower_need = histories[higher].need, histories[lower].need
        swapped = number % 2 == 1 if higher_need == lower_need else higher_need > lower_need
    return Pairing(lower, higher) if swapped else Pairing(higher, lower)
