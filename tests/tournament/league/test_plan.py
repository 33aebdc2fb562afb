"""A league's plan: runs with simulated results of players of known strength, and pair numbers."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from merels.tournament.league.league import League, ratings_of, read_league
from merels.tournament.league.plan import Goal, LeaguePlan
from merels.tournament.records.games import Opening, PairTask
from tests.benchmarks.league import score_of
from tests.tournament.league.leagues import game, make_league

TRUE_ELO = {"A": 1000.0, "B": 1150.0, "C": 1300.0, "D": 1500.0, "E": 1700.0}
ANCHORS = (("A", 1000.0), ("C", 1300.0))


@pytest.fixture
def league(tmp_path: Path) -> Iterator[League]:
    """Provide a league without games."""
    folder = make_league(tmp_path / "league", list(TRUE_ELO), (), anchors=ANCHORS)
    with read_league(folder) as league:
        yield league


def next_of(plan: LeaguePlan) -> PairTask:
    """Return the next pair, which there must be."""
    task = plan.next()
    assert task is not None
    return task


def play(plan: LeaguePlan, true: Mapping[str, float], chance: random.Random) -> None:
    """Play two pairs at a time until the plan ends."""
    for _ in range(10_000):
        tasks = []
        for _ in range(2):
            if (task := plan.next()) is not None:
                tasks.append(task)
        if not tasks:
            return
        for spec in (spec for task in tasks for spec in task.games):
            ahead = true[spec.white.name] - true[spec.black.name]
            plan.score(spec.number, score_of(chance, ahead))
    raise AssertionError("the run does not end")


@pytest.mark.thorough
def test_intervals_at_the_end_of_a_run_cover_the_true_ratings(league: League) -> None:
    chance, runs = random.Random(44), 40
    covered: Counter[str] = Counter()
    for _ in range(runs):
        plan = LeaguePlan(league, Goal(90))
        play(plan, TRUE_ELO, chance)
        for player in ratings_of(league, plan._counter.counts):
            assert player.error <= 90
            covered[player.name] += abs(player.elo - TRUE_ELO[player.name]) <= player.error
    four_deviations = 4 * math.sqrt(0.95 * 0.05 * runs)
    for name in TRUE_ELO:
        assert covered[name] == pytest.approx(0.95 * runs, abs=four_deviations)


def test_a_run_ends_although_retired_anchors_have_few_games(tmp_path: Path) -> None:
    """No number of games between other players improves the estimate of a retired anchor."""
    names = list(TRUE_ELO)
    games = [game(number, *("AB" if number % 2 else "BA"), result)
             for number, result in enumerate(["1-0", "1-0", "1/2-1/2", "1-0"], 1)]
    folder = make_league(tmp_path / "league", names, games, anchors=(("A", 1000.0),))
    with read_league(folder) as league:
        plan = LeaguePlan(league.with_member("A", status="retired"), Goal(50))
        play(plan, TRUE_ELO, random.Random(1))
        errors = {player.name: player.error
                  for player in ratings_of(league, plan._counter.counts)}
        assert errors["A"] == 0 and min(errors[name] for name in names[1:]) > 100
        plan = LeaguePlan(league, Goal(50))
        play(plan, TRUE_ELO, random.Random(1))
        assert plan.least_certain()[1] <= 50, "the anchor is active again"


def test_numbers_of_pairs_without_a_stored_game_are_used_first(tmp_path: Path) -> None:
    """A kill may come after games of pair 2 were stored, but before a game of pair 1 was."""
    games = [game(number, *("AB" if number % 2 else "BA")) for number in (3, 4, 5, 6, 9, 10)]
    folder = make_league(tmp_path / "league", list(TRUE_ELO), games, anchors=ANCHORS)

    def next_pairs(part: tuple[int, int]) -> list[int]:
        with read_league(folder) as league:
            plan = LeaguePlan(league, Goal(50), part)
            return [next_of(plan).pair for _ in range(4)]

    assert next_pairs((1, 1)) == [1, 4, 6, 7]
    assert next_pairs((1, 2)) == [1, 7, 9, 11]
    assert next_pairs((2, 2)) == [4, 6, 8, 10]


def test_results_that_wait_for_the_next_estimate_count_for_the_floor(tmp_path: Path) -> None:
    """In a former version, pairs got more games than the floor until the next estimate."""
    folder = make_league(tmp_path / "league", ["A", "B", "C"], (), floor=10)
    with read_league(folder) as league:
        plan = LeaguePlan(league, Goal(100_000))
        played = Counter[frozenset[str]]()
        while (task := plan.next()) is not None:
            for spec in task.games:
                plan.score(spec.number, 0.5)
                played[frozenset((spec.white.name, spec.black.name))] += 1
            if played.total() == 10:
                plan._refresh(is_needed=True)
                plan._next_estimate = math.inf
            assert played.total() < 100
        assert list(played.values()) == [10, 10, 10]


@pytest.mark.parametrize("part", [(1, 1), (2, 2)])
def test_the_players_of_a_league_meet_in_the_same_openings(
    tmp_path: Path, part: tuple[int, int]
) -> None:
    """In a former version, with as many openings as pairings each pairing had one of its own."""
    with read_league(make_league(tmp_path / "league", ["A", "B", "C"], ())) as league:
        plan = LeaguePlan(league, Goal(1), part)
        met = defaultdict[frozenset[str], list[Opening]](list)
        for _ in range(30):
            task = next_of(plan)
            met[task.engines].append(task.games[0].opening)
            for spec in task.games:
                plan.score(spec.number, 0.5)
        openings = [plan.openings[number] for number in range(part[0] - 1, 60, part[1])]
        assert len(met) > 1
        assert all(sequence == openings[: len(sequence)] for sequence in met.values())


def test_excluded_players_are_in_no_pair_until_they_return(league: League) -> None:
    plan = LeaguePlan(league, Goal(100))
    excluded = {"C", "D"}
    for _ in range(1000):
        if (task := plan.next(excluded)) is None:
            break
        assert excluded.isdisjoint(task.engines)
        for spec in task.games:
            plan.score(spec.number, 0.5)
    assert plan.least_certain()[1] <= 100, "the others reached the goal"
    assert next_of(plan).engines & excluded


def test_no_pair_is_chosen_if_one_player_is_left(league: League) -> None:
    plan = LeaguePlan(league, Goal(100))
    assert plan.next(set("ABCD")) is None


def test_games_that_were_given_up_are_no_longer_expected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a former version, their results were expected until the end of the run."""
    monkeypatch.setattr("merels.tournament.league.plan.ESTIMATION_SHARE", math.inf)
    folder = make_league(tmp_path / "league", ["A", "B", "C"], (), floor=0)
    chance = random.Random(1)

    def next_tasks(plan: LeaguePlan) -> list[PairTask]:
        """Return the pairs of A and B until only results are missing; play the other pairs."""
        tasks = []
        while (task := plan.next()) is not None:
            if task.engines == {"A", "B"}:
                tasks.append(task)
                continue
            for spec in task.games:
                plan.score(spec.number, score_of(chance, 0))
        return tasks

    with read_league(folder) as league:
        plan = LeaguePlan(league, Goal(60))
        given_up = next_tasks(plan)
        for task in given_up:
            plan.skip(task.games)
            plan.skip(task.games)
        games = plan._finished
        assert given_up and not next_tasks(plan), "A and B meet no more"
        assert plan._finished > games, "games with C replace the games that were given up"
        plan.score(given_up[0].games[0].number, 0.5)
        plan.goal = Goal(30)
        assert next_tasks(plan), "A and B meet again"


def test_only_active_players_count_for_the_queue(league: League) -> None:
    """In a former version, retired players lengthened the queue of pairs."""
    for name in "BCE":
        league = league.with_member(name, status="retired")
    assert [entrant.name for entrant in LeaguePlan(league, Goal(100)).entrants] == ["A", "D"]
