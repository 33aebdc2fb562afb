"""Both kinds of pipe, between this process and real ones."""

from __future__ import annotations

import os
import shutil
import sys
import time
from array import array

import pytest

from merels.protocol.client.engine import EngineTimeout
from merels.protocol.process.pipe import LONGEST_LINE, Pipe, PollPipe
from merels.protocol.process.process import EngineProcess
from merels.protocol.process.thread_pipe import ThreadPipe

pytestmark = pytest.mark.usefixtures("nothing_is_left")


SCRIPT = """
import sys, time
exec(sys.argv[1])
"""


def talk(code: str, kind: type[Pipe] = PollPipe) -> tuple[EngineProcess, Pipe]:
    """A pipe to a process that runs some code."""
    process = EngineProcess([sys.executable, "-c", SCRIPT, code])
    return process, kind(process)


PIPES = [PollPipe, ThreadPipe] if os.name == "posix" else [ThreadPipe]
SOON = 5 * 10**9


@pytest.mark.parametrize("kind", PIPES)
def test_an_endless_line_takes_no_memory(kind: type[Pipe]) -> None:
    code = r"""
sys.stdin.readline()
sys.stdout.write("info " + "x" * 30_000_000 + "\nbestmove d6\n")
"""
    process, pipe = talk(code, kind)
    answer = pipe.ask(b"go\n", SOON)
    assert answer is not None and answer.text == b"d6"
    assert len(pipe._tail) <= LONGEST_LINE
    process.close()
    pipe.close()


@pytest.mark.parametrize("kind", PIPES)
def test_a_process_that_reads_nothing_does_not_block_us(kind: type[Pipe]) -> None:
    process, pipe = talk("print('here', flush=True); time.sleep(1000)", kind)
    assert pipe.read_line(time.monotonic_ns() + SOON) == b"here"
    start = time.monotonic()
    with pytest.raises(EngineTimeout, match="does not read its input"):
        for _ in range(3):
            pipe.send(b"position startpos\n" * 100_000, 0.2)
    assert time.monotonic() - start < 5.0
    process.close(0.1)
    pipe.close()


@pytest.mark.parametrize("kind", PIPES)
def test_both_sides_may_write_more_than_a_pipe_holds(kind: type[Pipe]) -> None:
    code = "print('x\\n' * 500_000, flush=True); n = len(sys.stdin.readline()); print(n)"
    process, pipe = talk(code, kind)
    pipe.send(b"y" * 300_000 + b"\n", 20.0)
    deadline = time.monotonic_ns() + 20 * 10**9
    while (line := pipe.read_line(deadline)) in (b"x", b""):
        pass
    assert line == b"300001"
    process.close()
    pipe.close()


@pytest.mark.parametrize("kind", PIPES)
def test_the_last_score_before_the_answer_is_kept(kind: type[Pipe]) -> None:
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
    process, pipe = talk(code, kind)
    answer = pipe.ask(b"go\n", SOON)
    assert answer is not None
    assert answer.info == b"info depth 2 score cp 3 nodes 3 multipv 1"
    assert answer.text == b"d6 ponder f4"
    process.close()
    pipe.close()


@pytest.mark.parametrize("kind", PIPES)
def test_a_stray_bestmove_is_dropped_and_remembered(kind: type[Pipe]) -> None:
    code = r"""
sys.stdin.readline(); print("bestmove a1", flush=True); print("bestmove d1", flush=True)
sys.stdin.readline(); print("bestmove g1", flush=True)
"""
    process, pipe = talk(code, kind)
    first = pipe.ask(b"go\n", SOON)
    assert first is not None and first.text == b"a1"
    time.sleep(0.2)
    second = pipe.ask(b"go\n", SOON)
    assert second is not None and second.text == b"g1"
    assert pipe.untidy
    process.close()
    pipe.close()


@pytest.mark.parametrize("kind", PIPES)
def test_lines_read_ahead_stay_in_order(kind: type[Pipe]) -> None:
    code = r"""
w = sys.stdout.write
sys.stdin.readline()
w("bestmove a1\ninfo depth 5 score cp 5 nodes 5\nbestmo"); sys.stdout.flush(); time.sleep(0.2)
w("ve d1\n"); sys.stdout.flush()
"""
    process, pipe = talk(code, kind)
    first = pipe.ask(b"go\n", SOON)
    second = pipe.wait_answer(time.monotonic_ns(), SOON)
    assert first is not None and first[:2] == (b"a1", b"")
    assert second is not None and second[:2] == (b"d1", b"info depth 5 score cp 5 nodes 5")
    process.close()
    pipe.close()


def test_a_thread_that_still_writes_touches_no_other_s_pipes() -> None:
    deaf, pipe = talk("print('here', flush=True); time.sleep(1000)", ThreadPipe)
    assert pipe.read_line(time.monotonic_ns() + SOON) == b"here"
    for _ in range(2):
        pipe.send(b"position startpos\n" * 100_000, 0.2)
    deaf.close(0.1)
    pipe.close()
    fresh, other = talk("print(repr(sys.stdin.read()))")
    time.sleep(0.1)
    other.send(b"mine\n")
    other.close_input()
    assert other.read_line(time.monotonic_ns() + SOON) == b"'mine\\n'"
    fresh.close()
    other.close()


@pytest.mark.skipif(shutil.which("yes") is None, reason="needs one that writes faster than Python")
@pytest.mark.parametrize("kind", PIPES)
def test_an_engine_that_never_stops_writing_has_a_deadline_too(kind: type[Pipe]) -> None:
    process = EngineProcess("yes")
    pipe = kind(process)
    deadline = time.monotonic_ns() + SOON // 50
    lines = (pipe.read_line(deadline) for _ in range(20_000_000))
    assert any(line is None for line in lines)
    process.close(0.1)
    pipe.close()


def waiting(pipe: int) -> int:
    """Bytes that can be read from a pipe."""
    import fcntl
    import termios

    number = array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, number)
    return number[0]


@pytest.mark.skipif(os.name != "posix", reason="asks the system how full a pipe is")
def test_what_came_in_time_is_read_after_the_deadline() -> None:
    code = """
sys.stdin.readline(); print("id\\n" * 20_000 + "uciok", flush=True); sys.stdin.readline()
"""
    process, pipe = talk(code)
    pipe.send(b"uci\n")
    until = time.monotonic() + 60
    while waiting(process.stdout) < 3 * 20_000 + len("uciok\n"):
        assert time.monotonic() < until
        time.sleep(0.01)
    deadline = time.monotonic_ns() - SOON
    for _ in range(20_000):
        assert pipe.read_line(deadline) == b"id"
    assert pipe.read_line(deadline) == b"uciok"
    assert pipe.read_line(deadline) is None
    process.close()
    pipe.close()


@pytest.mark.parametrize("silence", [SOON // 50, 10 * SOON])
@pytest.mark.parametrize("kind", PIPES)
def test_an_answer_without_the_end_of_its_line_is_read(kind: type[Pipe], silence: int) -> None:
    code = r"""
w = sys.stdout.write
for line in sys.stdin:
    w("readyok\n" if line == "isready\n" else "info depth 1 score cp 7 nodes 1\nbestmove d6")
    sys.stdout.flush()
"""
    process, pipe = talk(code, kind)
    pipe.send(b"isready\n")
    assert pipe.read_line(time.monotonic_ns() + SOON) == b"readyok"
    pipe.silence = silence
    for _ in range(2):
        answer = pipe.ask(b"go\n", SOON // 10)
        assert answer is not None
        assert answer[:2] == (b"d6", b"info depth 1 score cp 7 nodes 1")
        # Its clock ran until it answered, not until the end of the wait for more.
        assert answer.elapsed < SOON // 10
    process.close(0.1)
    pipe.close()


@pytest.mark.parametrize("kind", PIPES)
def test_half_a_bestmove_is_no_answer(kind: type[Pipe]) -> None:
    code = r"""
print("here", flush=True)
sys.stdout.write("bestmove"); sys.stdout.flush(); sys.stdin.readline(); print(" d6", flush=True)
"""
    process, pipe = talk(code, kind)
    assert pipe.read_line(time.monotonic_ns() + SOON) == b"here"
    assert pipe.wait_answer(time.monotonic_ns(), SOON // 50) is None
    answer = pipe.stop(5.0)
    assert answer is not None and answer.text == b"d6"
    process.close()
    pipe.close()


@pytest.mark.parametrize("kind", PIPES)
def test_no_time_left_is_no_wait_without_end(kind: type[Pipe]) -> None:
    process, pipe = talk("time.sleep(5)", kind)
    assert pipe.ask(b"go\n", -2_000_000) is None
    assert pipe.ask(b"go\n", -1) is None
    process.close(0.1)
    pipe.close()


@pytest.mark.parametrize("kind", PIPES)
def test_a_wait_may_be_longer_than_the_system_knows(kind: type[Pipe]) -> None:
    process, pipe = talk("time.sleep(0.1); print('here')", kind)
    assert pipe.read_line(1 << 66) == b"here"
    process.close()
    pipe.close()
