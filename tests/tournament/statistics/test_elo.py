"""Elo, normalized Elo and superiority against published values and in extreme cases."""

from __future__ import annotations

import math
import random

import pytest

from merels.tournament.statistics import elo
from merels.tournament.statistics.counts import (
    GameScore,
    MatchCounter,
    MatchCounts,
    count_matches,
    counts_between,
)

KNOWN = [
    ((89, 123, 76), (-15.693521, 30.458001, -20.756450, 40.126026, 15.532643)),
    ((96, 111, 136), (40.702458, 30.427218, 49.768415, 36.768451, 99.601024)),
    ((356, 0, 34), (-407.988432, 63.164515, -508.435325, 34.481812, 0.0)),
    ((34, 54, 63, 64, 75), (55.579780, 27.653430, 57.935600, 28.275376, 99.997039)),
    ((332, 433, 498, 333, 334), (-8.642667, 10.334194, -9.172914, 10.960459, 5.047007)),
    ((7895, 8757, 5685, 568, 9999), (-21.043521, 2.945281, -19.012834, 2.654502, 0.0)),
]
"""Counts with their Elo, its error, normalized Elo, its error, and superiority in percent."""


def numbers(estimate: elo.Estimate) -> tuple[float, ...]:
    return (estimate.elo, estimate.elo_error, estimate.nelo, estimate.nelo_error, estimate.los)


@pytest.mark.parametrize("cells, known", KNOWN)
def test_estimates_equal_published_values(cells: tuple[int, ...], known: tuple[float, ...]) -> None:
    assert numbers(elo.from_cells(cells)) == pytest.approx(known, abs=1e-6)


@pytest.mark.parametrize("size", [3, 5])
def test_reversed_counts_negate_the_estimate(size: int) -> None:
    chance = random.Random(size)
    for _ in range(200):
        cells = [chance.choice((0, 1, 7, chance.randrange(5000))) for _ in range(size)]
        first, second = elo.from_cells(cells), elo.from_cells(cells[::-1])
        assert second.elo == pytest.approx(-first.elo, abs=1e-9)
        assert second.nelo == pytest.approx(-first.nelo, abs=1e-9)
        assert second.elo_error == pytest.approx(first.elo_error, abs=1e-9)
        assert second.nelo_error == first.nelo_error
        assert second.los == pytest.approx(100 - first.los, abs=1e-9)
        assert not any(map(math.isnan, numbers(first)))


def test_no_games_give_an_even_estimate() -> None:
    estimate = elo.from_cells((0, 0, 0))
    assert estimate == elo.Estimate(0.5, 0.0, math.inf, 0.0, math.inf, 50.0, too_few=True)
    assert elo.from_cells((0, 0, 0, 0, 0)) == estimate


def test_the_error_of_drawn_games_shrinks_with_their_number() -> None:
    for cells in ((0, 1, 0), (0, 0, 1, 0, 0)):
        errors = []
        for count in (1, 2, 12, 500):
            estimate = elo.from_cells([count * cell for cell in cells])
            assert (estimate.elo, estimate.nelo, estimate.los) == (0, 0, 50)
            assert 0 < estimate.nelo_error < math.inf
            errors.append(estimate.elo_error)
        assert math.inf > errors[0] > errors[1] > errors[2] > errors[3] > 0


def test_a_match_won_in_all_games_has_infinite_elo() -> None:
    for cells in ((0, 0, 9), (0, 0, 0, 0, 9)):
        won, lost = elo.from_cells(cells), elo.from_cells(cells[::-1])
        assert (won.elo, won.elo_error, won.nelo) == (math.inf, math.inf, math.inf)
        assert (lost.elo, lost.elo_error, lost.nelo) == (-math.inf, math.inf, -math.inf)
        assert 98 < won.los < 100 and lost.los == pytest.approx(100 - won.los)


@pytest.mark.parametrize("cells", [(0, 0, 0, 1, 0), (0, 1, 1), (0, 0, 0, 0, 1), (0, 0, 1, 0, 0)])
def test_two_games_leave_large_errors(cells: tuple[int, ...]) -> None:
    estimate = elo.from_cells(cells)
    assert estimate.elo_error > 190 and estimate.nelo_error > 190
    assert 40 < estimate.los < 90
    assert estimate.too_few


def test_pairs_of_equal_scores_have_an_error_although_their_variance_is_zero() -> None:
    estimate = elo.from_cells((0, 8, 0, 0, 0))
    assert estimate.elo == pytest.approx(-190.848502)
    assert 60 < estimate.elo_error < 120 and -math.inf < estimate.nelo < -400
    assert 0 < estimate.los < 1


@pytest.mark.parametrize("size", [3, 5])
def test_errors_change_gradually_with_each_result(size: int) -> None:
    """In a former version, two drawn pairs had an error of 170 Elo, and three had 48 Elo."""
    chance = random.Random(size)
    for _ in range(300):
        weights = [chance.random() ** 3 for _ in range(size)]
        cells = [0] * size
        errors, chances = [], []
        for cell in chance.choices(range(size), weights, k=80):
            cells[cell] += 1
            estimate = elo.from_cells(cells)
            errors.append(estimate.elo_error)
            chances.append(estimate.los)
        for count, (before, after) in enumerate(zip(errors, errors[1:]), 1):
            if math.isfinite(before + after):
                assert before / 2 < after < before * (2.4 if count < 8 else 1.5), cells
        assert all(abs(after - before) < 60 for before, after in zip(chances, chances[1:])), cells


def test_errors_of_many_mixed_results_follow_from_their_variance_only() -> None:
    for cells in ((30, 0, 100), (15, 900, 15), (0, 10, 10, 10, 40)):
        count, mean, variance = elo.moments(cells)
        reach = elo.Z95 * math.sqrt(variance / count)
        width = elo.elo_of_score(mean + reach) - elo.elo_of_score(mean - reach)
        assert elo.from_cells(cells).elo_error == width / 2
    fewer, more = (elo.from_cells((29, 0, wins)).elo_error for wins in (100, 101))
    assert more < fewer


TRUE_PROBABILITIES = [
    (0.25, 0, 0.5, 0, 0.25), (0.02, 0.1, 0.76, 0.1, 0.02), (0, 0, 1, 0, 0),
    (0.01, 0.08, 0.25, 0.4, 0.26), (0.0576, 0, 0.3648, 0, 0.5776), (0, 0.01, 0.05, 0.19, 0.75),
    (0, 0.02, 0.78, 0.2, 0),
]
"""Probabilities of the five results of a pair."""


@pytest.mark.parametrize("pairs, least", [(3, 90), (5, 92), (10, 92), (30, 92), (100, 92)])
def test_the_interval_of_few_pairs_covers_the_true_value(pairs: int, least: float) -> None:
    for probabilities in TRUE_PROBABILITIES:
        chance = random.Random(pairs)
        score = sum(i / 4 * probability for i, probability in enumerate(probabilities))
        true = elo.elo_of_score(score)
        covered = 0
        for _ in range(600):
            drawn = chance.choices(range(5), probabilities, k=pairs)
            estimate = elo.from_cells([drawn.count(cell) for cell in range(5)])
            # If all games are won, the error is infinite and covers every value; inf - inf is nan.
            covered += not abs(estimate.elo - true) > estimate.elo_error
        assert least <= covered / 6 <= 100, probabilities


@pytest.mark.parametrize("cells", [(1, 2), (1, 2, 3, 4), (-1, 2, 3), (math.inf, 1, 1)])
def test_impossible_counts_are_refused(cells: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="counts"):
        elo.from_cells(cells)


def test_ratios_of_counts_have_values_even_without_games() -> None:
    counts = MatchCounts(wins=45, losses=48, draws=7, ll=11, ld=4, wl=22, wd=3, ww=10)
    assert counts.pairs == 50 and counts.games == 100
    assert counts.drawn_pairs_ratio == 0.44 and counts.drawn_games_ratio == 0.07
    assert counts.pairs_ratio == pytest.approx(13 / 15)
    assert counts.wl_dd_ratio == math.inf
    empty = MatchCounts()
    assert (empty.pairs_ratio, empty.wl_dd_ratio) == (1, 1)
    assert (empty.drawn_pairs_ratio, empty.drawn_games_ratio, empty.score) == (0, 0, 0.5)


def test_a_match_is_counted_pair_by_pair() -> None:
    games = [
        GameScore("A", "B", 1.0, pair=1), GameScore("B", "A", 1.0, pair=1),  # WL
        GameScore("A", "B", 0.5, pair=2), GameScore("A", "C", 1.0, pair=2),
        GameScore("B", "A", 0.5, pair=2),  # DD
        GameScore("A", "B", 1.0, pair=3), GameScore("B", "A", 0.5, pair=3),  # WD
        GameScore("B", "A", 1.0, pair=4),  # The pair's second game is missing.
        GameScore("A", "B", 0.0), GameScore("A", "B", 0.0),  # Games without a pair.
    ]
    matches = count_matches(games)
    counts = counts_between(matches, "A", "B")
    assert counts == MatchCounts(wins=2, losses=4, draws=3, wl=1, dd=1, wd=1)
    assert counts_between(matches, "B", "A") == counts.reversed()
    assert counts.reversed().reversed() == counts


def test_a_counters_memory_grows_with_matches_not_games() -> None:
    counter = MatchCounter()
    for pair in range(1000):
        for white, black in (("A", "B"), ("B", "A")):
            counter.add(GameScore(white, black, 1.0, pair))
    assert list(counter.counts.values()) == [MatchCounts(wins=1000, losses=1000, wl=1000)]
    assert counter._waiting == {}
    for _ in range(3):  # A third game with the same pair stays unpaired.
        counter.add(GameScore("A", "B", 0.5, "x"))
    counts = counter.counts["A", "B"]
    assert (counts.dd, counts.unpaired) == (1, (0, 1, 0))


def test_impossible_games_are_refused() -> None:
    with pytest.raises(ValueError, match="itself"):
        GameScore("A", "A", 1.0)
    with pytest.raises(ValueError, match="0.7"):
        GameScore("A", "B", 0.7)
