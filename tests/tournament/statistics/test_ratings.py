"""Ratings: known values, simulations, unconnected and one-sided results, large fields."""

from __future__ import annotations

import math
import random
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import pytest

from merels.tournament.statistics import ratings as rating_module
from merels.tournament.statistics.counts import GameScore, count_matches, counts_between
from merels.tournament.statistics.elo import Z95, elo_of_score, from_cells
from merels.tournament.statistics.graphs import Laplacian, components

RESULTS: dict[Sequence[str], tuple[int, int, int]] = {
    "AB": (30, 50, 20), "AC": (45, 40, 15), "AD": (70, 24, 6),
    "BC": (36, 44, 20), "BD": (58, 32, 10), "CD": (44, 38, 18),
}
"""Wins, draws and losses of the first of two engines."""
KNOWN = {
    "A": (98.634688, 23.51), "B": (50.836425, 22.97),
    "C": (-17.643717, 23.45), "D": (-131.827395, 25.56),
}
"""Rating and error of each engine."""


def rate(
    games: Iterable[GameScore], anchors: Mapping[str, float] | None = None
) -> rating_module.Ratings:
    """Return the ratings from single games."""
    return rating_module.rate(count_matches(games), anchors)


def by_name(
    games: Iterable[GameScore], anchors: Mapping[str, float] | None = None
) -> dict[str, rating_module.PlayerRating]:
    """Return the rated players by name."""
    return {player.name: player for player in rate(games, anchors).players}


def played(results: Mapping[Sequence[str], Sequence[int]]) -> list[GameScore]:
    """Return single games with these results and alternating colours."""
    games = []
    for (first, second), record in results.items():
        for score, count in zip((1.0, 0.5, 0.0), record):
            for k in range(count):
                if k % 2:
                    games.append(GameScore(second, first, 1 - score))
                else:
                    games.append(GameScore(first, second, score))
    return games


def test_ratings_and_errors_equal_known_values() -> None:
    ratings = rate(played(RESULTS))
    assert [player.name for player in ratings.players] == list("ABCD")
    for player in ratings.players:
        elo, error = KNOWN[player.name]
        assert player.elo == pytest.approx(elo, abs=1e-6)
        assert player.error == pytest.approx(error, abs=0.005)
    assert sum(player.elo for player in ratings.players) == pytest.approx(0, abs=1e-9)
    [group] = ratings.groups
    assert group.names == tuple("ABCD") and group.virtual_draws == 0
    first = ratings.players[0]
    assert (first.wins, first.draws, first.losses) == (145, 114, 41)
    assert first.games == 300 and first.points == 202


def test_the_order_of_games_changes_nothing() -> None:
    games = played(RESULTS)
    random.Random(1).shuffle(games)
    for player in rate(games).players:
        assert player.elo == pytest.approx(KNOWN[player.name][0], abs=1e-6)


def test_swapped_wins_and_losses_negate_the_ratings() -> None:
    swapped = rate(played({pair: record[::-1] for pair, record in RESULTS.items()}))
    for player in swapped.players:
        assert player.elo == pytest.approx(-KNOWN[player.name][0], abs=1e-6)
        assert player.error == pytest.approx(KNOWN[player.name][1], abs=0.005)


def test_an_anchor_keeps_its_rating_and_has_no_error() -> None:
    free, anchored = by_name(played(RESULTS)), by_name(played(RESULTS), {"B": 1500.0})
    for name, player in anchored.items():
        difference = free[name].elo - free["B"].elo
        assert player.elo == pytest.approx(1500 + difference, abs=1e-6)
    assert (anchored["B"].elo, anchored["B"].error) == (1500.0, 0.0)
    with pytest.raises(ValueError, match="'Z'"):
        rate(played(RESULTS), {"Z": 0.0})


def test_the_mean_of_several_anchors_is_fixed() -> None:
    anchors = {"A": 1500.0, "C": 1450.0, "Y": 100.0}
    apart = [GameScore("X", "Y", score, 1) for score in (1.0, 0.5)]
    players = by_name([*played(RESULTS), *apart], anchors)
    assert players["A"].elo + players["C"].elo == pytest.approx(2950, abs=1e-9)
    assert players["A"].elo - players["B"].elo == pytest.approx(98.634688 - 50.836425, abs=1e-6)
    assert (players["Y"].elo, players["Y"].error) == (100.0, 0.0)
    # Each of two anchors differs from the mean of both by half of their difference.
    about_a = by_name(played(RESULTS), {"A": 0.0})
    for name in "AC":
        assert players[name].error == pytest.approx(about_a["C"].error / 2, rel=0.01)


def test_an_anchored_error_and_the_superiority_agree() -> None:
    ratings = rate(played(RESULTS), {"B": 0.0})
    a, b = ratings.players[:2]
    deviations = (a.elo - b.elo) / (a.error / Z95)
    assert ratings.superiority[0][1] == pytest.approx(statistics.NormalDist().cdf(deviations))
    for i in range(4):
        assert ratings.superiority[i][i] is None
        for j in range(i):
            chance, reverse = ratings.superiority[i][j], ratings.superiority[j][i]
            assert chance is not None and reverse is not None
            assert chance + reverse == pytest.approx(1)


def random_score(chance: random.Random, expected: float) -> float:
    """Return the score of a game; draws are as frequent as its expected score allows."""
    draw = min(expected, 1 - expected)
    roll = chance.random()
    return ((roll < expected - draw / 2) + (roll < expected + draw / 2)) / 2


def simulate(
    chance: random.Random, strengths: Sequence[float], pairs: int, bias: float
) -> list[GameScore]:
    """Return game pairs from openings that favour White by up to ``bias`` (log-odds)."""
    games = []
    for i, first in enumerate(strengths):
        for second in strengths[i + 1:]:
            for k in range(pairs):
                opening = chance.uniform(-bias, bias)
                for white, black in ((first, second), (second, first)):
                    expected = 1 / (1 + math.exp(black - white - opening))
                    score = random_score(chance, expected)
                    games.append(GameScore(f"{white}", f"{black}", score, pair=k))
    return games


def test_clustered_errors_agree_with_simulation() -> None:
    chance = random.Random(2024)
    strengths = [0.4, 0.2, 0.0, -0.6]
    elos, clustered, unclustered = [], [], []
    for _ in range(250):
        games = simulate(chance, strengths, pairs=30, bias=3.0)
        best = by_name(games)["0.4"]
        elos.append(best.elo)
        clustered.append(best.error)
        unpaired = by_name(GameScore(game.white, game.black, game.score) for game in games)
        unclustered.append(unpaired["0.4"].error)
    spread = Z95 * statistics.stdev(elos)
    assert statistics.mean(clustered) == pytest.approx(spread, rel=0.12)
    assert statistics.mean(unclustered) > 1.2 * spread


def test_intervals_about_the_anchors_cover_the_true_ratings() -> None:
    """In a former version, errors were about the mean of all players, also with two anchors."""
    chance, runs = random.Random(44), 300
    true = {f"e{k}": 1000.0 + 150 * k for k in range(7)}
    names, anchors = list(true), {name: true[name] for name in ("e0", "e2")}
    covered, covered_about_all = Counter[str](), Counter[str]()
    for _ in range(runs):
        games = []
        for i, first in enumerate(names):
            for second in names[i + 1 : i + 3]:
                expected = 1 / (1 + 10 ** ((true[second] - true[first]) / 400))
                for pair in range(20):
                    for _ in range(2):
                        games.append(GameScore(first, second, random_score(chance, expected), pair))
        about_all = by_name(games)
        for name, player in by_name(games, anchors).items():
            miss = abs(player.elo - true[name])
            covered[name] += miss <= player.error
            covered_about_all[name] += miss <= about_all[name].error
    four_deviations = 4 * math.sqrt(0.95 * 0.05 * runs)
    for name in names:
        assert covered[name] == pytest.approx(0.95 * runs, abs=four_deviations)
    assert covered_about_all["e6"] < 0.85 * runs


def test_matches_may_use_the_same_pair_ids() -> None:
    distinct, shared = [], []
    for number, opponents in enumerate((("A", "B"), ("A", "C"), ("B", "C"))):
        for k in range(8):
            scores = ((1.0, 0.5), (0.0, 0.5), (0.5, 0.5), (1.0, 1.0))[(k + number) % 4]
            for score in scores:
                distinct.append(GameScore(*opponents, score, pair=(number, k)))
                shared.append(GameScore(*opponents, score, pair=k))
    assert rate(distinct) == rate(shared)


def test_groups_without_common_games_are_rated_separately() -> None:
    games = played({("A", "B"): (3, 4, 2), ("X", "Y"): (1, 5, 2), ("Y", "Z"): (2, 2, 1)})
    ratings = rate(games, {"A": 100.0})
    assert [set(group.names) for group in ratings.groups] == [{"X", "Y", "Z"}, {"A", "B"}]
    assert [player.group for player in ratings.players] == [0, 0, 0, 1, 1]
    assert sum(p.elo for p in ratings.players if p.group == 0) == pytest.approx(0, abs=1e-9)
    assert next(p.elo for p in ratings.players if p.name == "A") == 100.0
    assert ratings.superiority[0][3] is None and ratings.superiority[3][0] is None
    assert ratings.superiority[0][1] is not None


def test_all_wins_and_all_losses_stay_finite() -> None:
    games = played({("A", "B"): (10, 0, 0), ("B", "C"): (4, 3, 3), ("C", "D"): (20, 0, 0)})
    ratings = rate(games)
    assert ratings.groups[0].virtual_draws == 2
    assert [player.name for player in ratings.players] == ["A", "B", "C", "D"]
    for player in ratings.players:
        assert math.isfinite(player.elo) and 0 < player.error < math.inf
    gap = ratings.players[0].elo - ratings.players[1].elo
    assert gap == pytest.approx(elo_of_score(10.5 / 11), abs=1e-9), "ten wins and a virtual draw"
    assert ratings.players[0].games == 10


def test_a_longer_row_of_wins_rates_higher() -> None:
    gaps = []
    for wins in (1, 10, 1000):
        strong, weak = rate(played({("A", "B"): (wins, 0, 0)})).players
        gaps.append(strong.elo - weak.elo)
    assert 0 < gaps[0] < gaps[1] < gaps[2] < 3000


@pytest.mark.parametrize(
    "pairs",
    [((1, 0.5),), ((1, 1),), ((1, 0),), ((0.5, 0.5),) * 2, ((1, 0.5),) * 50,
     ((0.5, 0.5), (0.5, 0.5), (1, 0.5)), ((1, 0.5), (0, 0), (1, 0), (1, 1), (0.5, 0.5))],
)
def test_the_ratings_of_two_engines_agree_with_the_estimate_of_their_match(
    pairs: Sequence[tuple[float, float]]
) -> None:
    """In a former version, the match reported certainty, although the ratings were nearly equal."""
    games = [
        GameScore(*names, score, pair=k)
        for k, (first, second) in enumerate(pairs)
        for names, score in ((("A", "B"), first), (("B", "A"), 1 - second))
    ]
    matches = count_matches(games)
    match = from_cells(counts_between(matches, "A", "B").pentanomial)
    players = {player.name: player for player in rating_module.rate(matches).players}
    a, b = players["A"], players["B"]
    assert a.error == pytest.approx(b.error)
    if math.isfinite(match.elo):
        assert a.elo - b.elo == pytest.approx(match.elo)
        assert 2 * a.error == pytest.approx(match.elo_error, rel=0.03)
    else:
        assert 2 * a.error > 300
    chance = rating_module.rate(matches).superiority[0][1]
    assert chance is not None
    assert 100 * chance == pytest.approx(max(match.los, 100 - match.los), abs=0.5)
    assert a.too_few == match.too_few == (len(pairs) < 10)


def test_an_engine_with_one_pair_has_a_large_error() -> None:
    games = played({("A", "B"): (30, 40, 30)})
    games += [GameScore("C", "B", 1.0, pair=1), GameScore("B", "C", 0.5, pair=1)]
    rated = by_name(games, {"B": 0.0})
    assert rated["C"].error > 6 * rated["A"].error > 0


def fields_joined_by(bridges: int) -> list[GameScore]:
    """Return the games of two fields of three engines, joined by ``bridges`` pairs.

    Within each field, every match has many games.
    """
    games = []
    for field in ("ABC", "XYZ"):
        games += played({pair: (30, 40, 30) for pair in zip(field, field[1:])})
    for k in range(bridges):
        games += [GameScore("A", "X", 1.0, pair=k), GameScore("X", "A", 1.0, pair=k)]
    return games


def test_a_single_pair_between_two_fields_leaves_a_large_error() -> None:
    """The fitted ratings predict the score of such a pair exactly, so its variance is zero."""
    errors = [
        by_name(fields_joined_by(bridges), {"A": 0.0})["Z"].error for bridges in (1, 2, 200)
    ]
    assert errors[0] > 200 > errors[1] > 2 * errors[2] > 0


def test_errors_of_a_field_change_gradually_with_each_pair() -> None:
    chance = random.Random(4)
    games: list[GameScore] = []
    errors: list[dict[str, float]] = []
    for k in range(40):
        for first, second in ("AB", "BC", "CA"):
            scores = chance.choices((0.0, 0.5, 1.0), (1, 4, 1), k=2)
            games += [GameScore(first, second, scores[0], pair=k),
                      GameScore(second, first, scores[1], pair=k)]
        errors.append({name: player.error for name, player in by_name(games).items()})
    for before, after in zip(errors, errors[1:]):
        for name in "ABC":
            assert before[name] / 2 < after[name] < 1.3 * before[name]
    assert errors[0]["A"] > 100


def test_no_games_make_an_empty_rating_list() -> None:
    ratings = rate([])
    assert ratings.players == () and ratings.groups == () and ratings.superiority == ()


def random_field(engines: int, pairs: int) -> list[GameScore]:
    """Return game pairs between random engines."""
    chance = random.Random(engines)
    strengths = [chance.gauss(0, 1) for _ in range(engines)]
    games = []
    for k in range(pairs):
        i, j = chance.sample(range(engines), 2)
        expected = 1 / (1 + math.exp(strengths[j] - strengths[i]))
        for _ in range(2):
            score = chance.choices((1.0, 0.5, 0.0), (expected**2, 0.5, (1 - expected) ** 2))[0]
            games.append(GameScore(f"e{i}", f"e{j}", score, pair=k))
    return games


def test_errors_of_a_large_field_are_near_the_exact_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    games = random_field(60, 3000)
    for anchors in ({}, {f"e{k}": 100.0 * k for k in range(2, 9)}, {"e3": 100.0}):
        exact = by_name(games, anchors)
        monkeypatch.setattr(rating_module, "MAX_EXACT", 10)
        estimated = by_name(games, anchors)
        monkeypatch.undo()
        for name, player in exact.items():
            assert estimated[name].elo == pytest.approx(player.elo, abs=1e-9)
            assert estimated[name].error == pytest.approx(player.error, rel=0.15)
    assert estimated["e3"].error == 0
    assert statistics.mean(estimated[name].error / player.error for name, player in exact.items()
                           if name != "e3") == pytest.approx(1, abs=0.05)


def test_rating_a_thousand_engines_takes_no_cubic_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a former version, the time was cubic in the number of engines, so it took minutes."""
    products = 0
    times = Laplacian.times

    def counted(graph: Laplacian, x: Sequence[float]) -> list[float]:
        nonlocal products
        products += 1
        return times(graph, x)

    monkeypatch.setattr(Laplacian, "times", counted)
    monkeypatch.setattr(Laplacian, "inverse", None)
    ratings = rate(random_field(1000, 10_000))
    assert len(ratings.groups) == 1 and ratings.superiority == ()
    assert products < 1500, "a product takes time linear in the pairings"


def test_rating_a_long_chain_takes_few_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a former version, 500 players in a chain took 30 seconds, growing by the power 2.3."""
    products = 0
    iterate = Laplacian.times

    def counted(graph: Laplacian, x: Sequence[float]) -> list[float]:
        nonlocal products
        products += 1
        return iterate(graph, x)

    monkeypatch.setattr(Laplacian, "times", counted)
    monkeypatch.setattr(rating_module, "MAX_EXACT", 10)
    for reach, scores in ((1, (1.0, 0.0, 0.5)), (1, (1.0,)), (3, (1.0, 0.0))):
        rate(
            GameScore(f"e{i}", f"e{j}", score) for i in range(300)
            for j in range(i + 1, min(300, i + 1 + reach)) for score in scores
        )
        assert products < 300


@pytest.mark.parametrize("extra", [0, 10, 150])
def test_solutions_after_elimination_equal_those_of_the_inverse(extra: int) -> None:
    chance, size = random.Random(extra), 60
    tree = [(chance.randrange(node), node) for node in range(1, size)]
    edges = sorted({*tree, *(
        (i, j) for i, j in (sorted(chance.sample(range(size), 2)) for _ in range(extra))
    )})
    graph = Laplacian(size, edges)
    graph.weigh([chance.uniform(0.5, 2) for _ in edges])
    right = graph.gather([chance.uniform(-1, 1) for _ in edges])
    expected = [sum(map(float.__mul__, row, right)) for row in graph.inverse()]
    assert graph.solve(right, 1e-13) == pytest.approx(expected, abs=1e-9)


def test_components_are_the_connected_nodes() -> None:
    assert components(5, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)]) == [[0, 1, 2], [3], [4]]
    assert components(3, []) == [[0], [1], [2]]
    assert components(4, [(0, 3), (3, 0), (1, 2), (2, 1)]) == [[0, 3], [1, 2]]
