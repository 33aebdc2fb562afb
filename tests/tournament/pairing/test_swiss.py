"""Swiss and knockout pairings: they keep their rules whatever the results are."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Set

import pytest

from merels.engine.common.errors import InputError
from merels.tournament.pairing import knockout, swiss
from merels.tournament.records.games import Pairing, PairingResult, Results
from merels.tournament.records.settings import Settings
from merels.tournament.run.plan import Plan
from tests.tournament.specs import planned_games, settings

PairRound = Callable[[Settings, int, Results], list[Pairing]]


def play(chosen: Settings, pair_round: PairRound, seed: int) -> list[list[PairingResult]]:
    """Return the rounds of a tournament with random results."""
    rng = random.Random(seed)
    results: list[list[PairingResult]] = []
    while pairings := pair_round(chosen, len(results), results):
        assert pairings == pair_round(chosen, len(results), results), "a second call differs"
        firsts = [sum(rng.choice((0, 0.5, 1)) for _ in range(chosen.games)) for _ in pairings]
        results.append([
            PairingResult(pairing, (first, chosen.games - first))
            for pairing, first in zip(pairings, firsts)
        ])
    return results


@pytest.mark.parametrize("count", range(4, 17))
@pytest.mark.parametrize("games", [1, 2])
def test_a_swiss_has_no_rematches_and_fair_byes_and_colours(count: int, games: int) -> None:
    rounds = swiss.usual_rounds(count)
    chosen = settings(count, format="swiss", rounds=rounds, games=games)
    for seed in range(20):
        results = play(chosen, swiss.pair_round, seed)
        assert len(results) == rounds
        met = Counter(frozenset(m.pairing) for r in results for m in r)
        assert set(met.values()) == {1}, "no two engines meet twice"
        byes: Counter[int] = Counter()
        for round_ in results:
            names = [engine for m in round_ for engine in m.pairing]
            assert len(names) == len(set(names)) == count - count % 2
            byes.update(set(range(count)) - set(names))
        assert max(byes.values(), default=0) <= 1
        if games == 1:
            whites = Counter(m.pairing.first for r in results for m in r)
            blacks = Counter(m.pairing.second for r in results for m in r)
            assert all(abs(whites[e] - blacks[e]) <= 2 for e in range(count))
        places = swiss.places(chosen, results)
        assert sum(p.points for p in places) == rounds * games * (count // 2 + count % 2)
        assert [p.points for p in places] == sorted((p.points for p in places), reverse=True)


def test_the_first_round_pairs_the_upper_half_with_the_lower() -> None:
    chosen = settings(6, format="swiss", rounds=2)
    assert swiss.pair_round(chosen, 0, []) == [(0, 3), (1, 4), (2, 5)]


def test_engines_meet_within_their_score_group() -> None:
    chosen = settings(8, format="swiss", rounds=3)
    first = swiss.pair_round(chosen, 0, [])
    results = [[PairingResult(pairing, (2, 0)) for pairing in first]]
    assert swiss.pair_round(chosen, 1, results) == [(0, 2), (1, 3), (4, 6), (5, 7)]


def test_a_swiss_refuses_rounds_that_force_rematches() -> None:
    with pytest.raises(InputError, match="up to 5"):
        Plan(settings(6, format="swiss", rounds=6))


@pytest.mark.parametrize("count", [4, 5, 6, 7])
def test_a_swiss_of_the_greatest_number_of_rounds_is_played_to_its_end(count: int) -> None:
    chosen = settings(count, format="swiss", rounds=count - 1 + count % 2)
    for seed in range(10):
        assert len(play(chosen, swiss.pair_round, seed)) == chosen.rounds


def rematches(pairings: Iterable[Pairing], results: Results) -> int:
    """Return how many pairings of a round are of engines that have met."""
    met = {frozenset(result.pairing) for played in results for result in played}
    return sum(frozenset(pairing) in met for pairing in pairings)


def least_rematches(engines: tuple[int, ...], met: Set[frozenset[int]]) -> int:
    """Return the least number of rematches of all ways to pair the engines."""
    if not engines:
        return 0
    first, *others = engines
    return min(
        (frozenset((first, other)) in met)
        + least_rematches(tuple(engine for engine in others if engine != other), met)
        for other in others
    )


@pytest.mark.parametrize("count", [6, 7, 8, 9, 10, pytest.param(12, marks=pytest.mark.thorough)])
def test_a_swiss_over_all_rounds_has_no_more_rematches_than_needed(count: int) -> None:
    """In a former version, a round with one needed rematch forgot all earlier meetings."""
    chosen = settings(count, format="swiss", rounds=count - 1 + count % 2, games=1)
    for seed in range(8):
        results = play(chosen, swiss.pair_round, seed)
        for number, played in enumerate(results):
            earlier = results[:number]
            pairings = [result.pairing for result in played]
            if not rematches(pairings, earlier):
                continue
            byes = Counter(set(range(count)).difference(*(m.pairing for m in old)).pop()
                           for old in earlier if count % 2)
            resting = [{engine} for engine in range(count) if byes[engine] == min(
                byes[other] for other in range(count))] if count % 2 else [set()]
            met = {frozenset(result.pairing) for old in earlier for result in old}
            least = min(least_rematches(tuple(sorted(set(range(count)) - bye)), met)
                        for bye in resting)
            assert rematches(pairings, earlier) == least


def test_a_hundred_engines_meet_no_one_again_while_there_are_fresh_opponents() -> None:
    """In a former version, 24 of the 50 pairings of round 18 were rematches."""
    chosen = settings(100, format="swiss", rounds=30)
    results: list[list[PairingResult]] = []
    while pairings := swiss.pair_round(chosen, len(results), results):
        assert not rematches(pairings, results)
        results.append([
            PairingResult(pairing, (2, 0) if pairing.first < pairing.second else (0, 2))
            for pairing in pairings
        ])
    assert len(results) == 30


def same_colours(results: Results, engine: int) -> str:
    """Return the colours of an engine, such as ``WBW``."""
    pairings = (result.pairing for played in results for result in played)
    return "".join("W" if p.first == engine else "B" for p in pairings if engine in p)


@pytest.mark.parametrize("count", range(6, 25))
def test_no_engine_has_a_colour_three_times_in_a_row(count: int) -> None:
    """A former version chose colours after the pairs, so that 58 of these engines had one."""
    rounds = swiss.usual_rounds(count) + 1
    chosen = settings(count, format="swiss", rounds=rounds, games=1)
    for seed in range(3):
        results = play(chosen, swiss.pair_round, seed)
        for engine in range(count):
            colours = same_colours(results, engine)
            assert "WWW" not in colours and "BBB" not in colours
            assert abs(colours.count("W") - colours.count("B")) <= 2


def test_engines_float_no_further_than_needed_and_seldom_twice() -> None:
    """In a former version, the sum of the squares was 109, and 91 engines floated as before."""
    chosen = settings(100, format="swiss", rounds=18, games=1)
    results = play(chosen, swiss.pair_round, 1)
    points, floated = [0.0] * 100, dict[int, float]()
    apart, repeated = 0.0, 0
    for played in results:
        now = {}
        for (first, second), _ in played:
            difference = points[first] - points[second]
            apart += difference * difference
            now[first], now[second] = difference, -difference
        repeated += sum(now[e] * floated.get(e, 0) > 0 for e in now)
        floated = now
        for (first, second), (first_points, second_points) in played:
            points[first] += first_points
            points[second] += second_points
    assert apart <= 48
    assert repeated <= 39


def test_a_bye_that_forces_a_rematch_goes_to_the_next_engine() -> None:
    chosen = settings(9, format="swiss", rounds=9, games=1)
    rounds = ["04- 15- 26= 37+", "53+ 48= 02+ 61=", "54- 80+ 36- 71+", "64= 85+ 27- 03+",
              "78= 41= 60+ 52-", "86- 47+ 32- 10="]  # fmt: skip
    points = {"+": (1.0, 0.0), "-": (0.0, 1.0), "=": (0.5, 0.5)}
    results = [
        [PairingResult(Pairing(int(word[0]), int(word[1])), points[word[2]])
         for word in text.split()]
        for text in rounds
    ]  # fmt: skip
    pairs = swiss.pair_round(chosen, 6, results)
    met = {frozenset(result.pairing) for played in results for result in played}
    assert not met & {frozenset(pair) for pair in pairs}
    # 0, 4 and 6 had no bye yet. 0 ranks lowest, but its bye would force a rematch.
    assert set(range(9)) - {engine for pair in pairs for engine in pair} == {4}


def test_a_bye_scores_a_win_and_counts_as_an_opponent_of_equal_points() -> None:
    chosen = settings(3, format="swiss", rounds=2)
    results = [[PairingResult(Pairing(0, 1), (1.5, 0.5))]]
    assert swiss.places(chosen, results) == [
        (2, 2.0, 2.0, (1,)), (0, 1.5, 0.5, ()), (1, 0.5, 1.5, ())
    ]


def test_a_bracket_keeps_the_best_apart_and_gives_them_byes() -> None:
    assert knockout.bracket(8) == [0, 7, 3, 4, 1, 6, 2, 5]
    assert knockout.bracket(5) == [0, None, 3, 4, 1, None, 2, None]
    assert knockout.bracket(2) == [0, 1]


@pytest.mark.parametrize("count", range(2, 12))
@pytest.mark.parametrize("games", [1, 2])
def test_a_knockout_has_one_winner(count: int, games: int) -> None:
    chosen = settings(count, format="knockout", rounds=2, games=games)
    for seed in range(20):
        results = play(chosen, knockout.pair_round, seed)
        winner = knockout.champion(chosen, results)
        assert winner is not None
        matches = Counter(frozenset(m.pairing) for r in results for m in r)
        assert len(matches) == count - 1, "every engine but the winner loses one match"
        assert all(2 <= pairings <= 2 + knockout.MAX_EXTRA for pairings in matches.values())
        assert knockout.champion(chosen, results[:-1]) is None


@pytest.mark.parametrize("rounds", [1, 2, 3])
@pytest.mark.parametrize("games", [1, 2])
def test_drawn_matches_are_extended_and_then_won_by_the_higher_seed(
    rounds: int, games: int
) -> None:
    chosen = settings(2, format="knockout", rounds=rounds, games=games)
    results: list[list[PairingResult]] = []
    white: list[int] = []
    while pairings := knockout.pair_round(chosen, len(results), results):
        white += [pairing.first for pairing in pairings]
        results.append([PairingResult(pairing, (games / 2, games / 2)) for pairing in pairings])
    assert len(results) == 1 + knockout.MAX_EXTRA
    assert knockout.champion(chosen, results) == 0
    # With an odd number of games, the engines take White in turn.
    assert white == [number % 2 * (games % 2) for number in range(rounds + knockout.MAX_EXTRA)]


@pytest.mark.parametrize("style", ["swiss", "knockout"])
def test_the_plan_pairs_by_the_scores_of_played_games(style: str) -> None:
    chosen = settings(4, format=style, rounds=2)
    plan = Plan(chosen)
    numbers = []
    for game in planned_games(plan):
        numbers.append(game.number)
        plan.score(game.number, 1.0 if game.white.name < game.black.name else 0.0)
    assert numbers == list(range(1, len(numbers) + 1))
    if style == "knockout":
        assert knockout.champion(chosen, plan.results) == 0
        assert len(numbers) == 3 * 2 * 2
    else:
        assert [place.engine for place in swiss.places(chosen, plan.results)][0] == 0
        assert len(numbers) == plan.games == 2 * 2 * 2
