"""Delays in moves: the counters of a real system, and the delays derived from counters."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from merels.engine.game.rules import parse_rules
from merels.protocol.client.engine import Engine
from merels.protocol.client.engine_spec import EngineSpec
from merels.tournament.play.clock import Clock
from merels.tournament.play.engine_cache import EngineCache
from merels.tournament.play.lag import CREDIT_STEP, NOT_MEASURED, Lag, LagMeter, Reading
from merels.tournament.play.player import Player, PositionLine
from merels.tournament.records.games import Entrant, TimeControl
from tests.kit.fakes import fake
from tests.processes import limited

MS = 1_000_000


@pytest.fixture
def meter() -> Iterator[LagMeter]:
    meter = LagMeter()
    yield meter
    meter.close()


BEFORE = Reading(10 * MS, {"1": (100 * MS, 50 * MS), "2": (7 * MS, 7 * MS)})
"""The counters before a move: two threads of the engine, and how long each ran and waited."""


@pytest.mark.parametrize(
    ("runner", "engine", "elapsed", "overslept", "late", "waited"),
    [
        (13, {"1": (120, 55), "2": (7, 7)}, 30, 0, 3, 5),
        # The runner waits in the queue while the engine computes on the same core: not late.
        (40, {"1": (128, 50)}, 30, 0, 2, 0),
        (10, {"1": (100, 50), "3": (20, 4)}, 30, 0, 0, 4),
        # Four threads that share two cores keep each other waiting.
        (10, {"1": (115, 65), "2": (22, 22), "3": (15, 15), "4": (15, 15)}, 30, 0, 0, 0),
        # A late runner does not excuse an engine that searched for too long.
        (10, {"1": (125, 50)}, 30, 20, 5, 0),
        (10, {"1": (105, 50)}, 30, 20, 20, 0),
        # No thread of the process ran or waited: another process does its work.
        (10, {"1": (100, 50)}, 30, 0, 0, None),
        (10, {}, 30, 0, 0, None),
    ],
)
def test_lag_is_derived_from_the_counters(
    meter: LagMeter, monkeypatch: pytest.MonkeyPatch, runner: int,
    engine: dict[str, tuple[int, int]], elapsed: int, overslept: int, late: int, waited: int | None,
) -> None:
    """All times are in milliseconds; ``runner`` and ``engine`` are counters after the move."""
    threads = {thread: (ran * MS, wait * MS) for thread, (ran, wait) in engine.items()}
    monkeypatch.setattr(meter, "read", lambda pid: Reading(runner * MS, threads))
    lag = meter.lag(1, BEFORE, elapsed * MS, overslept * MS)
    assert lag == Lag(late * MS, None if waited is None else waited * MS)


def test_without_counters_only_an_overslept_timeout_is_detected() -> None:
    meter = LagMeter()
    meter.close()
    assert meter.read(os.getpid()) is None
    assert meter.lag(1, None, 30 * MS) == NOT_MEASURED == Lag(None, None)
    assert meter.lag(1, None, 30 * MS, 20 * MS) == Lag(20 * MS, None)


@pytest.mark.thorough
@pytest.mark.skipif(
    not os.path.exists("/proc/thread-self/schedstat") or not hasattr(os, "sched_setaffinity"),
    reason="needs the counters of Linux",
)
def test_processes_on_one_core_wait_for_each_other() -> None:
    core = max(os.sched_getaffinity(0))
    measure = f"""
import os, sys, time
from merels.tournament.play.lag import LagMeter

os.sched_setaffinity(0, {{{core}}})
meter, other = LagMeter(), int(sys.argv[1])
before, began = meter.read(other), time.monotonic_ns()
while time.monotonic_ns() - began < 300_000_000:
    pass
print(meter.lag(other, before, time.monotonic_ns() - began).late)
before, began = meter.read(other), time.monotonic_ns()
time.sleep(0.3)  # The two other processes compete for the core.
print(meter.lag(other, before, time.monotonic_ns() - began).waited)
"""
    burn = f"import os\nos.sched_setaffinity(0, {{{core}}})\nprint(flush=True)\nwhile True: pass"
    with ExitStack() as closing:
        for _ in range(2):
            command = [sys.executable, "-c", burn]
            other = closing.enter_context(
                limited(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
            )
            assert other.stdout is not None and other.stdout.readline()
        words = subprocess.check_output([sys.executable, "-P", "-c", measure, str(other.pid)])
    late, waited = map(int, words.split())
    assert late > 0 and waited > 0


def test_quick_engines_are_not_measured_until_they_slow_down(meter: LagMeter) -> None:
    for _ in range(CREDIT_STEP):
        assert meter.should_measure("Quick")
        meter.add_move("Quick", False)
    assert not meter.should_measure("Quick") and meter.should_measure("Other")
    meter.add_move("Quick", True)
    assert meter.should_measure("Quick")


@pytest.mark.parametrize(("overslept", "late"), [(0, None), (1, None), (2, None), (3, 3)])
def test_a_runner_is_late_if_it_wakes_over_two_milliseconds_after_a_timeout(
    engines: EngineCache, overslept: int, late: int | None
) -> None:
    entrant = Entrant(EngineSpec(fake(), "E"), TimeControl(per_move=10 * MS))
    (engine,) = engines.lend([entrant], parse_rules("mill"))
    assert isinstance(engine, Engine)
    without_counters = LagMeter()
    without_counters.close()
    clocks = (Clock(entrant.limit), Clock(entrant.limit))
    position_line = PositionLine(engine.connection.dialect, b"")
    player = Player(0, entrant, engine, clocks, position_line, without_counters)
    player._measure((10 + overslept) * MS, 10 * MS, 10 * MS, None)
    assert player.lag == Lag(late and late * MS, None)
    engines.give_back(entrant, engine)
