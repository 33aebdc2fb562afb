"""A quick run of every fuzzer, and tests of the fuzzers themselves."""

from __future__ import annotations

import random

import pytest

from tests.fuzz.__main__ import FUZZERS
from tests.fuzz.core import ENTRIES, MODULES, OTHERS, Core, make_call
from tests.fuzz.harness import Case, Defect, Fuzzer, Tally, minimise, run

SEED = 1
pytestmark = pytest.mark.usefixtures("own_weights")


@pytest.mark.parametrize("name", FUZZERS)
def test_a_quick_run_of_each_fuzzer_finds_nothing(name: str) -> None:
    make, count = FUZZERS[name]
    report = run(make(), count, SEED)
    assert report.failures == [], report
    assert report.count >= count
    assert report.accepted and report.rejected, "all inputs were accepted, or all rejected"


def test_every_compiled_entry_is_fuzzed() -> None:
    entries = set()
    for module in MODULES:
        for name, entry in vars(module).items():
            if name.startswith("_") or not callable(entry) or entry.__module__ != module.__name__:
                continue
            entries.add(name)
            if isinstance(entry, type):
                entries |= {f"{name}.{own}" for own in vars(entry) if not own.startswith("_")}
    assert entries == ENTRIES.keys()


def test_undamaged_arguments_fit_every_entry() -> None:
    """A call with a wrong number of arguments would always be refused, and so fuzz nothing."""
    for name in sorted(ENTRIES.keys() - {"fail_assertion", "set_parameter"}):
        chance, calls = random.Random(name), 0
        for _ in range(5):
            try:
                calls += make_call({}, name, *ENTRIES[name](chance))
            except (ValueError, RuntimeError):
                calls += 1  # Such as a value before its stage, or a board with lost men.
        assert calls, name
    assert make_call({}, "round_trip", *ENTRIES["round_trip"](random.Random(1)))


class Unraisable:
    """Raises an exception that cannot be caught, like an assertion in code without the GIL."""

    def __del__(self) -> None:
        raise AssertionError


@pytest.mark.parametrize(
    ("rules", "text"),
    [("multi", "********/********/**@***** w 9 0 8 2"),
     ("roman", "*****O@*/*@******/**O***** w 7 0 7 3"),
     ("morris", "***O**O*/***O*O**/*@****** w 0 0 3 2")],
)
def test_a_finished_position_with_the_winner_to_move_is_no_failure(rules: str, text: str) -> None:
    with FUZZERS["positions"][0]() as fuzzer:
        fuzzer.check(["position", rules, text])


def test_an_exception_that_is_only_printed_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(OTHERS, "unraisable", Unraisable)
    with Core() as fuzzer, pytest.raises(Defect, match="a broken assertion"):
        fuzzer.check(['["parse_summary", {"a": "unraisable"}]'])


class Faulty(Fuzzer):
    """A fuzzer of a product that fails at the letter q."""

    name = "faulty"

    def make(self, chance: object) -> Case:
        """Return the same case each time."""
        return ["abc", "d e q f", "ghi"]

    def check(self, case: Case) -> Tally:
        """Fail at the letter."""
        if "q" in "".join(case):
            raise Defect("it failed at the letter")
        return Tally(accepted=1)


def test_a_failure_is_minimised_and_can_be_replayed() -> None:
    report = run(Faulty(), 1, SEED)
    assert report.failures == [
        "faulty: it failed at the letter; python -m tests.fuzz faulty -replay '[\"q\"]'"
    ]


def test_the_same_seed_makes_the_same_cases() -> None:
    for name, (make, _) in FUZZERS.items():
        if name in ("tables", "journals"):
            continue  # These fuzzers make cases from files that `__enter__` creates.
        first, second = (make().make(random.Random("a seed")) for _ in range(2))
        assert first == second


def test_a_case_that_fails_in_two_pieces_keeps_both() -> None:
    assert minimise(["a", "bx", "c", "yd"], lambda c: "x" in "".join(c) and "y" in "".join(c)) == [
        "x", "y"
    ]
