"""`TuningPlan`: results of pairs, and pairs that wait for results of earlier pairs."""

from __future__ import annotations

from merels.tournament.records.settings import Parameter, Schedule, Tuning
from merels.tournament.tuning.tune_plan import TuningPlan
from tests.tournament.specs import settings


def plan_after(pairs: int) -> TuningPlan:
    """Return a plan of 100 pairs that has drawn ``pairs`` pairs."""
    tuning = Tuning((Parameter("One", 50, 0, 100, 5.0),), Schedule(0.02))
    plan = TuningPlan(settings(2, rounds=100, tuning=tuning))
    for _ in range(pairs):
        assert plan.next() is not None
    return plan


def test_results_of_games_in_any_order_are_added_up_by_pair() -> None:
    plan = plan_after(3)
    # Game 4 is an unfinished game of an old journal, which counts as a draw.
    for number, score in ((2, 0.0), (4, None), (3, 1.0), (1, 1.0), (6, 0.5), (5, 0.0)):
        plan.score(number, score)
    plan.state.count_all()
    assert [result.net_wins for result in plan.state.results] == [2, 1, -1]


def test_a_pair_waits_while_three_earlier_pairs_lack_a_result() -> None:
    plan = plan_after(3)
    assert plan.next() is None
    plan.score(1, 1.0)
    assert plan.next() is None
    plan.score(2, 1.0)
    assert plan.next() is not None
