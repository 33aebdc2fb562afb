"""SPSA: schedule, perturbations, steps of the values, and their standard errors."""

from __future__ import annotations

import random
from dataclasses import replace
from statistics import fmean

import pytest

from merels.tournament.records.settings import (
    USUAL_R_END,
    Parameter,
    Schedule,
    Settings,
    Tuning,
    read_settings,
)
from merels.tournament.tuning.spsa import Trial, perturbed, rate_at, step_at, updated
from merels.tournament.tuning.spsa_state import SpsaState, max_pending

PARAMETER = Parameter("One", 50, 0, 100, 5.0)
"""Starts at 50, from 0 to 100, with a last step of 5."""
SCHEDULE = Schedule(0.02)


def test_the_schedule_ends_at_c_end_and_r_end() -> None:
    assert step_at(PARAMETER, SCHEDULE, 1000, 1000) == 5.0
    assert rate_at(SCHEDULE, 1000, 1000) == pytest.approx(0.02)
    steps = [step_at(PARAMETER, SCHEDULE, pair, 1000) for pair in (1, 10, 100, 1000)]
    assert steps == sorted(steps, reverse=True)
    assert steps[0] == pytest.approx(5 * 1000**0.101)


def test_a_win_moves_a_parameter_by_the_documented_formula() -> None:
    """The formula is in tuning.md; a former version of it had the exponent 0.202."""
    pair, pairs = 100, 1000
    step = 0.02 * 5 * ((0.1 * pairs + pairs) / (0.1 * pairs + pair)) ** 0.602
    after = updated([PARAMETER], [50.0], SCHEDULE, pair, pairs, Trial((55,), (45,)), 1)
    assert after == pytest.approx([50 + step * (pair / pairs) ** 0.101])


def test_the_two_sides_differ_by_two_steps_and_their_mean_is_the_current_value() -> None:
    trials = [perturbed([PARAMETER], [40.3], SCHEDULE, 1000, 1000, seed) for seed in range(4000)]
    distances = {abs(trial.plus[0] - trial.minus[0]) for trial in trials}
    assert distances <= {9, 10, 11}
    assert fmean(trial.plus[0] for trial in trials) == pytest.approx(40.3, abs=0.5)
    assert fmean(trial.plus[0] > trial.minus[0] for trial in trials) == pytest.approx(0.5, abs=0.03)
    assert trials[:9] == [perturbed([PARAMETER], [40.3], SCHEDULE, 1000, 1000, n) for n in range(9)]


def test_the_rounded_values_of_the_sides_differ_even_with_a_step_of_a_half() -> None:
    half = replace(PARAMETER, c_end=0.5)
    for seed in range(300):
        trial = perturbed([half], [40.3], SCHEDULE, 1000, 1000, seed)
        assert abs(trial.plus[0] - trial.minus[0]) == 1


@pytest.mark.parametrize("value", [0.0, 1.0, 100.0])
def test_the_sides_stay_within_bounds_and_differ(value: float) -> None:
    for seed in range(300):
        plus, minus = perturbed([PARAMETER], [value], SCHEDULE, 1, 1000, seed)
        assert 0 <= min(*plus, *minus) <= max(*plus, *minus) <= 100
        assert plus != minus


def test_values_move_towards_the_winner_and_stay_within_bounds() -> None:
    two = replace(PARAMETER, name="Two", c_end=1.0)
    trial = Trial((55, 49), (45, 51))
    won = updated([PARAMETER, two], [50.0, 50.0], SCHEDULE, 1000, 1000, trial, 2)
    assert won == pytest.approx([50 + 0.02 * 5 * 2, 50 - 0.02 * 1 * 2])
    assert updated([PARAMETER], [50.0], SCHEDULE, 1000, 1000, Trial((55,), (45,)), 0) == [50.0]
    assert updated([PARAMETER], [50.0], SCHEDULE, 1000, 1000, Trial((55,), (55,)), 2) == [50.0]
    assert updated([PARAMETER], [99.9], SCHEDULE, 1000, 1000, Trial((100,), (90,)), 2) == [100.0]


def tune(pairs: int, seed: int, *parameters: Parameter) -> Settings:
    """Return the settings of a tune."""
    tuning = Tuning(parameters, Schedule(min(0.5, USUAL_R_END / pairs)))
    return Settings((), seed, rounds=pairs, tuning=tuning)


def test_settings_of_a_tune_survive_json() -> None:
    chosen = tune(300, 3, PARAMETER, replace(PARAMETER, name="Two"))
    assert read_settings(chosen.as_json()) == chosen


def test_values_depend_only_on_the_results_before_the_pending_pairs() -> None:
    delayed, immediate = SpsaState(tune(400, 5, PARAMETER)), SpsaState(tune(400, 5, PARAMETER))
    rng = random.Random(1)
    results = [rng.randint(-2, 2) for _ in range(400)]
    trials = []
    for pair, won in enumerate(results):
        trials.append(immediate.next_trial())
        immediate.add(won)
        if pair >= max_pending(400):
            delayed.add(results[pair - max_pending(400)])
        assert delayed.next_trial() == trials[-1]
    for won in results[-max_pending(400):]:
        delayed.add(won)
    delayed.count_all()
    immediate.count_all()
    assert delayed.values == immediate.values != [50.0]
    assert delayed.points == immediate.points
    assert (delayed.points[0], delayed.points[-1]) == ((0, [50.0]), (400, delayed.values))


def simulated(pairs: int, seed: int, best: tuple[float, float]) -> SpsaState:
    """Return the final state of a simulated tune.

    The probability of a loss grows with the squared distance of two options from ``best``; a third
    option has no effect.
    """
    parameters = [replace(PARAMETER, name=name) for name in ("Alpha", "Beta", "Noise")]
    state, rng = SpsaState(tune(pairs, seed, *parameters)), random.Random(f"games {seed}")

    def gives_up(values: tuple[int, ...]) -> bool:
        cost = sum(((value - at) / 25) ** 2 for value, at in zip(values, best))
        return rng.random() < min(0.95, 0.2 + 0.5 * cost)

    for _ in range(pairs):
        plus, minus = state.next_trial()
        won = 0
        for first, second, gain in ((plus, minus, -1), (minus, plus, 1)):
            if gives_up(first):
                won += gain
            elif gives_up(second):
                won -= gain
        state.add(won)
    state.count_all()
    return state


def test_distances_from_the_best_values_are_distributed_as_the_errors_state() -> None:
    pairs, tunes = 600, 40
    best = (70.0, 35.0)
    distances, noise_with_error = [], 0
    for seed in range(tunes):
        state = simulated(pairs, seed, best)
        *errors, error_of_noise = state.errors()
        noise_with_error += error_of_noise is not None
        distances += [
            abs(value - at) / error
            for value, at, error in zip(state.values, best, errors) if error is not None
        ]  # fmt: skip
    assert len(distances) > 1.8 * tunes, f"only {len(distances)} of {2 * tunes} values have errors"
    within = fmean(distance <= 1 for distance in distances)
    assert 0.55 < within < 0.8, f"{within:.0%} of the values are within one error, not about 68 %"
    square = fmean(distance**2 for distance in distances)
    assert 0.8 < square < 1.3, f"the mean square distance is {square:.2f} squared errors, not 1"
    assert noise_with_error < tunes / 5, "options without effect have errors"


def test_a_tune_of_drawn_pairs_has_no_error() -> None:
    state = SpsaState(tune(200, 1, PARAMETER))
    assert state.errors() == [None]
    for _ in range(200):
        state.next_trial()
        state.add(0)
    state.count_all()
    assert state.errors() == [None] and state.values == [50.0]
