"""Both kinds of wire, between this process and real ones."""

from __future__ import annotations

import os
import shutil
import sys
import time
from array import array

import pytest

from merels.protocol.client.engine import EngineTimeout
from merels.protocol.process.pipe import LONGEST_LINE, PipeWire, Wire
from merels.protocol.process.process import EngineProcess
from merels.protocol.process.thread_pipe import ThreadWire

pytestmark = pytest.mark.usefixtures("nothing_is_left")


SCRIPT = """
import sys, time
exec(sys.argv[1])
"""


def talk(code: str, wires: type[Wire] = PipeWire) -> tuple[EngineProcess, Wire]:
    """A wire to a process that runs some code."""
    process = EngineProcess([sys.executable, "-c", SCRIPT, code])
    return process, wires(process)


WIRES = [PipeWire, ThreadWire] if os.name == "posix" else [ThreadWire]
SOON = 5 * 10**9


@pytest.mark.parametrize("wires", WIRES)
def test_an_endless_line_takes_no_memory(wires: type[Wire]) -> None:
    code = r"""
sys.stdin.readline()
sys.stdout.write("info " + "x" * 30_000_000 + "\nbestmove d6\n")
"""
    process, wire = talk(code, wires)
    answer = wire.ask(b"go\n", SOON)
    assert answer is not None and answer.text == b"d6"
    assert len(wire._tail) <= LONGEST_LINE
    process.close()
    wire.close()


@pytest.mark.parametrize("wires", WIRES)
def test_a_process_that_reads_nothing_does_not_block_us(wires: type[Wire]) -> None:
    process, wire = talk("print('here', flush=True); time.sleep(1000)", wires)
    assert wire.read_line(time.monotonic_ns() + SOON) == b"here"
    start = time.monotonic()
    with pytest.raises(EngineTimeout, match="does not read its input"):
        for _ in range(3):
            wire.send(b"position startpos\n" * 100_000, 0.2)
    assert time.monotonic() - start < 5.0
    process.close(0.1)
    wire.close()


@pytest.mark.parametrize("wires", WIRES)
def test_both_sides_may_write_more_than_a_pipe_holds(wires: type[Wire]) -> None:
    code = "print('x\\n' * 500_000, flush=True); n = len(sys.stdin.readline()); print(n)"
    process, wire = talk(code, wires)
    wire.send(b"y" * 300_000 + b"\n", 20.0)
    deadline = time.monotonic_ns() + 20 * 10**9
    while (line := wire.read_line(deadline)) in (b"x", b""):
        pass
    assert line == b"300001"
    process.close()
    wire.close()


@pytest.mark.parametrize("wires", WIRES)
def test_the_last_score_before_the_answer_is_kept(wires: type[Wire]) -> None:
    code = r"""
sys.stdin.readline()
for line in ("info depth 1 score cp 1 nodes 1", "info string nothing",
             "info depth 2 score cp 2 nodes 2", "info depth 2 score cp 3 nodes 3 multipv 1",
             "info depth 2 score cp -9 nodes 3 multipv 2", "info depth 2 multipv 10 score cp -99",
             "info string the score is 9 ",
             "info currmove d6",
             " \tBestMove d6 ponder f4"):
    print(line, flush=True); time.sleep(0.01)
"""
    process, wire = talk(code, wires)
    answer = wire.ask(b"go\n", SOON)
    assert answer is not None
    assert answer.info == b"info depth 2 score cp 3 nodes 3 multipv 1"
    assert answer.text == b"d6 ponder f4"
    process.close()
    wire.close()


@pytest.mark.parametrize("wires", WIRES)
def test_a_stray_bestmove_is_dropped_and_remembered(wires: type[Wire]) -> None:
    code = r"""
sys.stdin.readline(); print("bestmove a1", flush=True); print("bestmove d1", flush=True)
sys.stdin.readline(); print("bestmove g1", flush=True)
"""
    process, wire = talk(code, wires)
    first = wire.ask(b"go\n", SOON)
    assert first is not None and first.text == b"a1"
    time.sleep(0.2)
    second = wire.ask(b"go\n", SOON)
    assert second is not None and second.text == b"g1"
    assert wire.untidy
    process.close()
    wire.close()


@pytest.mark.parametrize("wires", WIRES)
def test_lines_read_ahead_stay_in_order(wires: type[Wire]) -> None:
    code = r"""
w = sys.stdout.write
sys.stdin.readline()
w("bestmove a1\ninfo depth 5 score cp 5 nodes 5\nbestmo"); sys.stdout.flush(); time.sleep(0.2)
w("ve d1\n"); sys.stdout.flush()
"""
    process, wire = talk(code, wires)
    first = wire.ask(b"go\n", SOON)
    second = wire.wait_answer(time.monotonic_ns(), SOON)
    assert first is not None and first[:2] == (b"a1", b"")
    assert second is not None and second[:2] == (b"d1", b"info depth 5 score cp 5 nodes 5")
    process.close()
    wire.close()


def test_a_thread_that_still_writes_touches_no_other_s_pipes() -> None:
    deaf, wire = talk("print('here', flush=True); time.sleep(1000)", ThreadWire)
    assert wire.read_line(time.monotonic_ns() + SOON) == b"here"
    for _ in range(2):
        wire.send(b"position startpos\n" * 100_000, 0.2)
    deaf.close(0.1)
    wire.close()
    fresh, other = talk("print(repr(sys.stdin.read()))")
    time.sleep(0.1)
    other.send(b"mine\n")
    other.close_input()
    assert other.read_line(time.monotonic_ns() + SOON) == b"'mine\\n'"
    fresh.close()
    other.close()


@pytest.mark.skipif(shutil.which("yes") is None, reason="needs one that writes faster than Python")
@pytest.mark.parametrize("wires", WIRES)
def test_an_engine_that_never_stops_writing_has_a_deadline_too(wires: type[Wire]) -> None:
    process = EngineProcess("yes")
    wire = wires(process)
    deadline = time.monotonic_ns() + SOON // 50
    lines = (wire.read_line(deadline) for _ in range(20_000_000))
    assert any(line is None for line in lines)
    process.close(0.1)
    wire.close()


@pytest.mark.skipif(os.name != "posix", reason="waits for a pipe")
def waiting(pipe: int) -> int:
    """Bytes that can be read from a pipe."""
    fcntl, termios = pytest.importorskip("fcntl"), pytest.importorskip("termios")
    number = array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, number)
    return number[0]


def test_what_came_in_time_is_read_after_the_deadline() -> None:
    code = """
sys.stdin.readline(); print("id\\n" * 20_000 + "uciok", flush=True); sys.stdin.readline()
"""
    process, wire = talk(code)
    wire.send(b"uci\n")
    until = time.monotonic() + 60
    while waiting(process.stdout) < 3 * 20_000 + len("uciok\n"):
        assert time.monotonic() < until
        time.sleep(0.01)
    deadline = time.monotonic_ns() - SOON
    for _ in range(20_000):
        assert wire.read_line(deadline) == b"id"
    assert wire.read_line(deadline) == b"uciok"
    assert wire.read_line(deadline) is None
    process.close()
    wire.close()


@pytest.mark.parametrize("silence", [SOON // 50, 10 * SOON])
@pytest.mark.parametrize("wires", WIRES)
def test_an_answer_without_the_end_of_its_line_is_read(wires: type[Wire], silence: int) -> None:
    code = r"""
w = sys.stdout.write
for line in sys.stdin:
    w("readyok\n" if line == "isready\n" else "info depth 1 score cp 7 nodes 1\nbestmove d6")
    sys.stdout.flush()
"""
    process, wire = talk(code, wires)
    wire.send(b"isready\n")
    assert wire.read_line(time.monotonic_ns() + SOON) == b"readyok"
    wire.silence = silence
    for _ in range(2):
        answer = wire.ask(b"go\n", SOON // 10)
        assert answer is not None
        assert answer[:2] == (b"d6", b"info depth 1 score cp 7 nodes 1")
        # Its clock ran until it answered, not until the end of the wait for more.
        assert answer.elapsed < SOON // 10
    process.close(0.1)
    wire.close()


@pytest.mark.parametrize("wires", WIRES)
def test_half_a_bestmove_is_no_answer(wires: type[Wire]) -> None:
    code = r"""
print("here", flush=True)
sys.stdout.write("bestmove"); sys.stdout.flush(); sys.stdin.readline(); print(" d6", flush=True)
"""
    process, wire = talk(code, wires)
    assert wire.read_line(time.monotonic_ns() + SOON) == b"here"
    assert wire.wait_answer(time.monotonic_ns(), SOON // 50) is None
    answer = wire.stop(5.0)
    assert answer is not None and answer.text == b"d6"
    process.close()
    wire.close()


@pytest.mark.parametrize("wires", WIRES)
def test_no_time_left_is_no_wait_without_end(wires: type[Wire]) -> None:
    process, wire = talk("time.sleep(5)", wires)
    assert wire.ask(b"go\n", -2_000_000) is None
    assert wire.ask(b"go\n", -1) is None
    process.close(0.1)
    wire.close()


@pytest.mark.parametrize("wires", WIRES)
def test_a_wait_may_be_longer_than_the_system_knows(wires: type[Wire]) -> None:
    process, wire = talk("time.sleep(0.1); print('here')", wires)
    assert wire.read_line(1 << 66) == b"here"
    process.close()
    wire.close()
