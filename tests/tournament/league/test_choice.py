"""The choice of a league's next pairs, compared with a computation without shortcuts."""

from __future__ import annotations

import copy
import math
import random
from itertools import combinations
from statistics import fmean

import pytest

from merels.tournament.league.choice import Choice, Field, Pair
from tests.benchmarks.league import FIELDS, games_needed


def random_results(players: int) -> tuple[dict[Pair, int], dict[Pair, float]]:
    """Return the games of random pairs, and the points of the first player of each pair."""
    chance = random.Random(1)
    pairs = [pair for pair in combinations(range(players), 2) if chance.random() < 0.6]
    games = {pair: 2 * chance.randint(1, 9) for pair in pairs}
    return games, {pair: chance.randint(0, 2 * games[pair]) / 2 for pair in pairs}


def covariance(field: Field) -> list[tuple[float, ...]]:
    """Return the covariance of all strengths."""
    return [field.row(player) for player in range(field.size)]


def test_strengths_follow_the_scores_and_have_mean_zero() -> None:
    field = Field(3, {(0, 1): 10, (1, 2): 10}, {(0, 1): 7.5, (1, 2): 7.5})
    assert field.strengths[0] > field.strengths[1] > field.strengths[2]
    assert sum(field.strengths) == pytest.approx(0, abs=1e-9)
    assert field.strengths[0] == pytest.approx(-field.strengths[2], abs=1e-4)


def test_a_player_that_lost_all_its_games_has_a_finite_strength() -> None:
    field = Field(2, {(0, 1): 40}, {(0, 1): 40.0})
    assert 1 < field.strengths[0] < 10


def test_adding_a_pair_changes_the_covariance_as_solving_again_does() -> None:
    games, points = random_results(7)
    field = Field(7, games, points)
    for pair in ((2, 5), (0, 1), (2, 5)):
        before = covariance(field)
        weight = field.weight(pair)
        field.add(pair)
        # With e_i = 1 and e_j = -1, C' = (C^-1 + w e e^T)^-1 solves C' + w C' e e^T C = C.
        i, j = pair
        for row, row_before in zip(covariance(field), before):
            for k in range(7):
                added = weight * (row[i] - row[j]) * (before[i][k] - before[j][k])
                assert row[k] + added == pytest.approx(row_before[k], abs=1e-9)


def test_the_covariance_is_about_the_mean_of_the_origins() -> None:
    games, points = random_results(6)
    plain, anchored = Field(6, games, points), Field(6, games, points, [1, 4])
    for i in range(6):
        for j in range(6):
            c = covariance(plain)
            expected = c[i][j] - fmean([c[i][1], c[i][4]]) - fmean([c[j][1], c[j][4]])
            expected += fmean([c[first][second] for first in (1, 4) for second in (1, 4)])
            assert covariance(anchored)[i][j] == pytest.approx(expected, abs=1e-12)
    assert Field(6, games, points, [3]).row(3)[3] == pytest.approx(0, abs=1e-15)
    for pair in combinations(range(6), 2):
        assert anchored.weight(pair) == pytest.approx(plain.weight(pair))


def test_the_limits_are_the_variances_after_endless_games_of_some_players() -> None:
    games, points = random_results(6)
    field = Field(6, games, points, [0, 1])
    limits, before = field.limits([2, 3, 4, 5]), field.variances
    for _ in range(5000):
        for pair in combinations(range(2, 6), 2):
            field.add(pair)
    assert limits == pytest.approx(field.variances, rel=0.01)
    assert max(limits[2:]) - min(limits[2:]) < 1e-6 < min(limits[2:]) < max(before[2:])


@pytest.mark.parametrize("wanted", [list(range(8)), [3], [0, 6]])
def test_the_chosen_pair_lowers_the_wanted_variances_most(wanted: list[int]) -> None:
    field = Field(8, *random_results(8))

    def remaining(pair: Pair) -> float:
        after = copy.deepcopy(field)
        after.add(pair)
        return sum(after.variances[player] for player in wanted)

    best = min(combinations(range(8), 2), key=remaining)
    assert Choice(copy.deepcopy(field), range(8)).next(1, wanted) == [best]


def test_pairs_chosen_without_results_are_those_of_a_full_search() -> None:
    field = Field(8, *random_results(8), [2, 3])
    choice, compared = Choice(field, range(8)), copy.deepcopy(field)

    def reduction(pair: Pair) -> float:
        return compared.reduction(pair, math.dist(*map(compared.row, pair)))

    for _ in range(40):
        best = max(combinations(range(8), 2), key=reduction)
        assert choice.next(1, range(8)) == [best]
        compared.add(best)


def test_few_reductions_are_computed_for_each_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a former version, the time for each pair grew with the cube of the number of players."""
    computed: list[Pair] = []
    reduction = Field.reduction

    def counted(field: Field, pair: Pair, distance: float) -> float:
        computed.append(pair)
        return reduction(field, pair, distance)

    monkeypatch.setattr(Field, "reduction", counted)
    field = Field(40, {(0, 1): 2}, {(0, 1): 1.0})
    choice = Choice(field, range(40))
    choice.next(1, range(40))
    computed.clear()
    for wanted in range(40, 20, -1):
        choice.next(1, range(wanted))
    assert len(computed) < 20 * 4 * 40 < 20 * 40 * 39 / 2


def test_a_new_player_meets_opponents_in_the_middle_first() -> None:
    games = {pair: 200 for pair in zip(range(4), range(1, 5))}
    points = {pair: 150.0 for pair in games}
    (pair,) = Choice(Field(6, games, points), range(6)).next(1, [5])
    assert pair == (2, 5)


def test_only_players_that_may_meet_are_paired() -> None:
    games, points = random_results(6)
    pairs = Choice(Field(6, games, points), [1, 3, 4]).next(20, [0, 1])
    assert {player for pair in pairs for player in pair} <= {1, 3, 4}


def test_pairs_below_the_floor_come_first() -> None:
    games, points = random_results(5)
    below_floor = {(0, 4), (1, 3)}
    pairs = Choice(Field(5, games, points), range(5)).next(4, range(5), below_floor)
    assert set(pairs[:2]) == below_floor


def test_no_pair_is_chosen_if_only_one_player_may_meet_others() -> None:
    assert Choice(Field(2, {}, {}), [0]).next(3, [0, 1]) == []


@pytest.mark.thorough
@pytest.mark.parametrize("field", [name for name in FIELDS if "over 110 Elo" not in name])
def test_a_league_needs_a_third_fewer_games_than_a_round_robin(field: str) -> None:
    round_robin, league = (games_needed(FIELDS[field], 60, 1, is_league)
                           for is_league in (False, True))
    assert 3 * league < 2 * round_robin
