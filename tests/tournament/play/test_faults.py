"""Faults of real engine processes that depend on times, on both engines or on children.

`test_catalogue` has a row for each fault of one engine.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from merels.protocol.client.answers import Answer
from merels.protocol.client.connection import Connection
from merels.protocol.client.engine_spec import EngineSpec
from merels.tournament.play import player
from merels.tournament.play.engine_cache import EngineCache
from merels.tournament.play.game import NotStarted, play_game
from merels.tournament.records.games import (
    SECOND,
    Adjudication,
    Entrant,
    GameResult,
    TimeControl,
)
from tests.kit.fakes import fake
from tests.processes import limited, needs_proc, wait_until_gone
from tests.tournament.specs import changed, game

pytestmark = pytest.mark.thorough

PATIENCE = 60.0
"""Timeout for engines that start and answer, in seconds; a busy machine may need long."""
ROOT = Path(__file__).parents[3]
NODES = TimeControl(nodes=10)
CLOCK = TimeControl(time=SECOND // 2)
SHORT = Adjudication(max_moves=12)


def engine(mode: str, argument: str = "", limit: TimeControl = NODES) -> Entrant:
    """Return a fake engine of this mode."""
    spec = EngineSpec(fake(mode, argument), mode)
    return Entrant(spec, limit, start_timeout=PATIENCE, ping_timeout=PATIENCE)


def hasty(mode: str, argument: str = "", limit: TimeControl = NODES) -> Entrant:
    """Return a fake engine of this mode, which must answer isready within a second."""
    return replace(engine(mode, argument, limit), ping_timeout=1.0)


def meet(engines: EngineCache, faulty: Entrant) -> GameResult:
    """Play faulty White against sound Black; check that the sound engine can play again."""
    sound = engine("sound")
    result = play_game(game(faulty, sound, adjudication=SHORT), engines)
    other = changed(sound, name="other")
    next_game = play_game(game(sound, other, adjudication=SHORT), engines)
    assert next_game.termination in ("adjudication", "normal"), next_game.reason
    return result


def check(result: GameResult, termination: str, reason: str, moves: int | None = None) -> None:
    """Check that White lost for ``reason`` (a pattern), after ``moves`` moves."""
    assert (result.result, result.termination) == ("0-1", termination), result.reason
    assert re.fullmatch(reason, result.reason), result.reason
    causes = {"disconnects": "crash", "stalls": "stall", "loses": "time", "makes": "illegal move"}
    assert result.cause == causes[result.reason.split()[1]]
    if moves is not None:
        assert len(result.moves) == moves


TENTH = TimeControl(per_move=SECOND // 10, margin=SECOND // 50)
"""A tenth of a second for each move."""
HOUR = TimeControl(time=3600 * SECOND)
DEAF = "does not respond for 2 s"
NO_BESTMOVE = "loses on time (no bestmove, even after stop)"


def check_not_started(engines: EngineCache, faulty: Entrant, why: str) -> None:
    """Check that no game starts, for the reason ``why`` (a pattern)."""
    with pytest.raises(NotStarted) as caught:
        meet(engines, faulty)
    ((name, reason),) = caught.value.failures.items()
    assert name == faulty.name and re.fullmatch(rf"does not start \({why}\)", reason), reason


@pytest.mark.parametrize(
    ("faulty", "termination", "reason"),
    [
        (engine("never", limit=CLOCK), "time forfeit", "Black loses on time ("),
        (engine("illegal"), "illegal move", "Black makes an illegal move ("),
        (engine("die-search", "1"), "abandoned", "Black disconnects ("),
    ],
    ids=("time", "move", "exit"),
)
def test_black_at_fault_loses_to_white(
    engines: EngineCache, faulty: Entrant, termination: str, reason: str
) -> None:
    result = play_game(game(engine("sound"), faulty, adjudication=SHORT), engines)
    assert (result.result, result.termination) == ("1-0", termination), result.reason
    assert result.reason.startswith(reason)


def test_all_missing_programs_of_a_game_are_named(engines: EngineCache) -> None:
    missing = Entrant(EngineSpec(("./no-such-engine",), "missing"), NODES)
    check_not_started(engines, missing, "no such engine: './no-such-engine'.*")
    with pytest.raises(NotStarted) as caught:
        play_game(game(missing, changed(missing, name="too")), engines)
    assert list(caught.value.failures) == ["missing", "too"]


def test_an_engine_may_be_silent_for_two_pings(engines: EngineCache) -> None:
    slow = hasty("late", "3.5", HOUR)
    check(meet(engines, slow), "abandoned", rf"White stalls \({DEAF}\)")
    result = meet(engines, replace(slow, ping_timeout=3.0))
    assert result.termination in ("adjudication", "normal"), result.reason


@pytest.mark.parametrize("mode", ["chats", "sleeps", "computes"])
@pytest.mark.parametrize("limit", [TimeControl(depth=2), HOUR], ids=["depth", "clock"])
def test_an_engine_that_writes_or_answers_isready_may_search_for_long(
    engines: EngineCache, mode: str, limit: TimeControl, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine that uses its processor may search for longer than one that sleeps."""
    if mode == "computes":
        monkeypatch.setattr(player, "IDLE_SECONDS", 0.0)
    result = meet(engines, hasty(mode, "3", limit))
    assert result.termination in ("adjudication", "normal"), result.reason
    assert max(move.elapsed for move in result.moves) > 2 * SECOND


def test_endless_output_on_a_clock_loses_on_time(engines: EngineCache) -> None:
    reason = re.escape(f"White {NO_BESTMOVE[:-1]}; last output: 'info depth 1 score cp 1")
    check(meet(engines, engine("flood", limit=CLOCK)), "time forfeit", f"{reason}.*", 0)


def test_an_overrun_includes_the_time_until_the_stop(
    engines: EngineCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine, the runner sends stop late; the engine is late by this time as well."""
    stop = Connection.stop

    def delayed(self: Connection, seconds: float = 5.0) -> Answer | None:
        time.sleep(0.1)
        return stop(self, seconds)

    monkeypatch.setattr(Connection, "stop", delayed)
    result = meet(engines, engine("stops-only", limit=TENTH))
    match = re.fullmatch(r"White loses on time \((\d+)ms overrun\)", result.reason)
    assert match is not None and int(match[1]) >= 120, "a margin of 20 ms and a delay of 100 ms"


@pytest.mark.skipif(
    not os.path.exists("/proc/thread-self/schedstat") or not hasattr(os, "sched_setaffinity"),
    reason="needs the counters of Linux",
)
def test_the_delay_of_an_engine_that_reads_no_stop_is_measured_before_it_is_ended(
    engines: EngineCache,
) -> None:
    """The engine needs 0.9 s of a core that it shares, and gets a second."""
    shared = engine("shares-core", "0.9", TimeControl(per_move=SECOND))
    result = meet(engines, shared)
    check(result, "time forfeit", f"White {re.escape(NO_BESTMOVE)}", 2)
    lost = result.overtime
    assert lost is not None and lost.waited and lost.excused, lost
    # An engine that sleeps is not excused, although no answer came either.
    lost = meet(engines, engine("never", limit=CLOCK)).overtime
    assert lost is not None and lost.late is not None and not lost.excused, lost


def test_an_overrun_within_the_margin_loses_nothing(engines: EngineCache) -> None:
    limit = replace(TENTH, margin=60 * SECOND)
    result = meet(engines, engine("late", "0.3", limit))
    assert result.termination in ("adjudication", "normal"), result.reason
    assert max(move.elapsed for move in result.moves) > SECOND // 10


def test_the_time_to_stop_pondering_is_charged_to_the_engine(engines: EngineCache) -> None:
    second = TimeControl(time=SECOND, increment=2 * SECOND, margin=60 * SECOND)
    ponders = replace(engine("ponders", "0.2", second), ponder=True)
    result = meet(engines, ponders)
    assert result.termination in ("adjudication", "normal"), result.reason
    slow = [move.elapsed for move in result.moves[2::2] if move.elapsed >= SECOND // 5]
    assert slow, "no guess was wrong, so no search had to be stopped"
    short = TimeControl(time=SECOND // 10, margin=SECOND // 50)
    result = meet(engines, replace(engine("ponders", "0.3", short), ponder=True))
    check(result, "time forfeit", r"White loses on time \(\d+ms overrun\)")
    # The clock is longer than the timeout for the end of a search.
    result = meet(engines, replace(hasty("ponders", "1.5", second), ponder=True))
    check(result, "abandoned", r"White stalls \(does not end its pondering\)")


RUNNER = """
import sys, time
from merels.tournament.play.engine_cache import EngineCache
from merels.tournament.play.game import NotStarted, play_game
from tests.processes import own_mark
from tests.tournament.play.test_faults import SHORT, engine
from tests.tournament.specs import game
engines = EngineCache()
first, second = engine("family", "session"), engine("stubborn")
play_game(game(first, second, adjudication=SHORT), engines)
print(own_mark(), flush=True)
{then}
"""


@contextmanager
def run_until_mark(then: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start a runner whose engines ignore quit and have children; yield it and their mark."""
    command = [sys.executable, "-c", RUNNER.format(then=then)]
    with limited(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)) as runner:
        assert runner.stdout is not None
        yield runner, runner.stdout.readline().strip()


@needs_proc
def test_no_orphan_when_the_runner_is_killed() -> None:
    with run_until_mark("time.sleep(1000)") as (runner, mark):
        assert len(wait_until_gone(mark, 0.0)) == 4, "two engines, and two children of the first"
        runner.send_signal(signal.SIGKILL)
        assert wait_until_gone(mark) == []


@needs_proc
def test_no_orphan_when_the_runner_is_killed_while_it_starts_its_first_engine() -> None:
    script = """
import os, signal
from merels.protocol.process.guardian import GUARDIAN
from merels.protocol.process.process import EngineProcess
from tests.kit.fakes import fake
from tests.kit.waiting import wait
from tests.processes import marked

def die(pid):
    wait(lambda: len(marked(GUARDIAN._mark)) == 3, 60.0, "the engine has two children")
    os.kill(os.getpid(), signal.SIGKILL)

print(GUARDIAN._mark, flush=True)
GUARDIAN.add = die
EngineProcess(fake("family"))
"""
    command = [sys.executable, "-c", script]
    with limited(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)) as runner:
        assert runner.stdout is not None
        mark = runner.stdout.readline().strip()
        assert runner.wait(60) == -signal.SIGKILL
        assert wait_until_gone(mark) == []


@needs_proc
def test_no_orphan_when_the_runner_exits_without_closing_its_engines() -> None:
    with run_until_mark("sys.exit(0)") as (runner, mark):
        assert runner.wait(20) == 0
        assert wait_until_gone(mark, 0.0) == []


@needs_proc
def test_no_orphan_when_the_parent_of_a_worker_is_killed() -> None:
    then = """
def end_with_parent():
    multiprocessing.parent_process().join()
    os._exit(1)

def work():
    threading.Thread(target=end_with_parent, daemon=True).start()
    engines = EngineCache()
    play_game(game(first, second, adjudication=SHORT), engines)
    print(own_mark(), flush=True)
    time.sleep(1000)

import multiprocessing, os, threading
multiprocessing.get_context("fork").Process(target=work).start()
time.sleep(1000)
"""
    with run_until_mark(then) as (runner, mark):
        assert runner.stdout is not None
        worker_mark = runner.stdout.readline().strip()
        assert worker_mark != mark
        assert len(wait_until_gone(worker_mark, 0.0)) == 4
        runner.send_signal(signal.SIGKILL)
        assert wait_until_gone(worker_mark) == []
        assert wait_until_gone(mark) == []
