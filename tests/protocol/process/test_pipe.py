"""Engine pipes of both kinds, connected to real processes."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic, monotonic_ns, sleep
from types import SimpleNamespace

import pytest

from merels.protocol.process.errors import EngineTerminated, EngineTimeout
from merels.protocol.process.pipe import LONGEST_LINE, Pipe
from merels.protocol.process.process import EngineProcess
from merels.protocol.process.windows import ThreadPipe

pytestmark = pytest.mark.usefixtures("no_engine_is_left")

PIPES = [Pipe, ThreadPipe] if os.name == "posix" else [ThreadPipe]
SCRIPT = "import sys, time\nexec(sys.argv[1])\n"
SECOND = 10**9
HANGS = "print('here', flush=True); time.sleep(1000)"
each_kind = pytest.mark.parametrize("kind", PIPES)


def deadline_in(seconds: float = 20.0) -> int:
    """Return the deadline ``seconds`` from now, in nanoseconds of `monotonic_ns`."""
    return monotonic_ns() + int(seconds * SECOND)


@contextmanager
def pipe_to(
    code: str, kind: Callable[[EngineProcess], Pipe], patience: float = 2.0
) -> Iterator[Pipe]:
    """Yield a pipe to a Python process that runs ``code``."""
    process = EngineProcess([sys.executable, "-c", SCRIPT, code])
    pipe = kind(process)
    try:
        yield pipe
    finally:
        process.close(patience)
        pipe.close()


@each_kind
def test_an_overlong_line_is_cut_and_the_rest_dropped(kind: type[Pipe]) -> None:
    code = "sys.stdin.readline(); sys.stdout.write('x' * 30_000_000 + '\\nnext\\n')"
    with pipe_to(code, kind) as pipe:
        pipe.send(b"go\n", deadline_in())
        assert pipe.read_line(deadline_in()) == b"x" * LONGEST_LINE
        assert len(pipe.tail) <= LONGEST_LINE
        assert pipe.read_line(deadline_in()) == b"next"


@each_kind
def test_sending_to_a_process_that_reads_nothing_times_out(kind: type[Pipe]) -> None:
    with pipe_to(HANGS, kind, 0.1) as pipe:
        assert pipe.read_line(deadline_in()) == b"here"
        with pytest.raises(EngineTimeout, match="does not read its input"):
            for _ in range(3):
                pipe.send(b"position startpos\n" * 100_000, deadline_in(0.2))


@each_kind
def test_both_sides_may_write_more_than_a_pipe_holds(kind: type[Pipe]) -> None:
    code = "print('x\\n' * 500_000, flush=True); n = len(sys.stdin.readline()); print(n)"
    with pipe_to(code, kind) as pipe:
        pipe.send(b"y" * 300_000 + b"\n", deadline_in())
        while (line := pipe.read_line(deadline_in())) in (b"x", b""):
            pass
        assert line == b"300001"


@each_kind
def test_interject_into_a_full_input_takes_no_output_from_the_reading_thread(
    kind: type[Pipe],
) -> None:
    code = """
print("here", flush=True)
for number in range(300):
    print(number, flush=True); time.sleep(0.002)
print(sys.stdin.read().split()[-1])
"""
    with pipe_to(code, kind) as pipe:
        assert pipe.read_line(deadline_in()) == b"here"
        # Fill the pipe completely; the process reads its input only after all its output.
        pipe.send(b" " * (1 << 15), deadline_in())
        for _ in range(1 << 12):
            try:
                pipe.send(b" " * 4095 + b"\n", deadline_in(0.0))
            except EngineTimeout:
                break
        interrupter = threading.Thread(
            target=pipe.interject, args=(b"stop\n", deadline_in(), lambda: True)
        )
        interrupter.start()
        lines = [pipe.read_line(deadline_in()) for _ in range(300)]
        assert lines == [b"%d" % number for number in range(300)]
        interrupter.join()
        pipe.close_input()
        assert pipe.read_line(deadline_in()) == b"stop"


@each_kind
def test_interject_times_out_while_a_send_is_blocked_and_kill_ends_it(kind: type[Pipe]) -> None:
    def send() -> None:
        with suppress(EngineTerminated, EngineTimeout):
            while True:
                pipe.send(b"position startpos\n" * 100_000, deadline_in())

    with pipe_to(HANGS, kind, 0.1) as pipe:
        sender = threading.Thread(target=send)
        sender.start()
        with pytest.raises(EngineTimeout, match="does not read its input"):
            while sender.is_alive():  # The sender may not have filled the pipe yet.
                pipe.interject(b"stop\n", deadline_in(0.1), lambda: True)
        pipe.close_input(0.1)
        assert sender.is_alive()
        pipe.process.kill()
        sender.join(10.0)
        assert not sender.is_alive()


def test_a_writing_thread_of_a_closed_pipe_does_not_write_to_a_new_pipe() -> None:
    with pipe_to(HANGS, ThreadPipe, 0.1) as blocked:
        assert blocked.read_line(deadline_in()) == b"here"
        for _ in range(2):
            blocked.send(b"position startpos\n" * 100_000, deadline_in(0.2))
    with pipe_to("print(repr(sys.stdin.read()))", PIPES[0]) as other:
        sleep(0.1)
        other.send(b"mine\n", deadline_in())
        other.close_input()
        assert other.read_line(deadline_in()) == b"'mine\\n'"


@pytest.mark.skipif(shutil.which("yes") is None, reason="needs the program yes")
@each_kind
def test_reading_from_an_engine_that_never_stops_writing_ends_after_the_deadline(
    kind: type[Pipe],
) -> None:
    process = EngineProcess("yes")
    pipe = kind(process)
    deadline = deadline_in(0.1)
    lines = (pipe.read_line(deadline) for _ in range(20_000_000))
    assert any(line is None for line in lines)
    process.close(0.1)
    pipe.close()


def readable_bytes(descriptor: int) -> int:
    """Return the number of bytes that can be read from a pipe."""
    import fcntl
    import termios

    number = array("i", [0])
    fcntl.ioctl(descriptor, termios.FIONREAD, number)
    return number[0]


@pytest.mark.skipif(os.name != "posix", reason="needs FIONREAD")
def test_lines_that_arrived_before_the_deadline_are_read_after_it() -> None:
    code = """
sys.stdin.readline(); print("id\\n" * 20_000 + "uciok", flush=True); sys.stdin.readline()
"""
    with pipe_to(code, Pipe) as pipe:
        pipe.send(b"uci\n", deadline_in())
        until = monotonic() + 60
        while readable_bytes(pipe.process.stdout) < 3 * 20_000 + len("uciok\n"):
            assert monotonic() < until
            sleep(0.01)
        deadline = monotonic_ns() - SECOND
        for _ in range(20_000):
            assert pipe.read_line(deadline) == b"id"
        assert pipe.read_line(deadline) == b"uciok"
        assert pipe.read_line(deadline) is None


@each_kind
def test_a_deadline_may_exceed_the_longest_wait_of_the_system(kind: type[Pipe]) -> None:
    with pipe_to("time.sleep(0.1); print('here')", kind) as pipe:
        assert pipe.read_line(1 << 66) == b"here"


@each_kind
def test_a_trace_gets_whole_lines(kind: Callable[..., Pipe]) -> None:
    traced: list[tuple[str, bytes]] = []
    code = """
sys.stdin.readline()
for piece in ("a", "b\\nc", "\\nd\\n", "e"):
    sys.stdout.write(piece); sys.stdout.flush(); time.sleep(0.05)
"""
    with pipe_to(code, lambda process: kind(process, lambda *lines: traced.append(lines))) as pipe:
        pipe.send(b"go\n", deadline_in())
        assert [pipe.read_line(deadline_in()) for _ in range(4)] == [b"ab", b"c", b"d", b"e"]
        with pytest.raises(EngineTerminated, match="exit code 0"):
            pipe.read_line(deadline_in())
    assert traced.pop(0) == (">", b"go\n")
    assert b"".join(data for _, data in traced) == b"ab\nc\nd\ne\n"
    assert all(direction == "<" and data.endswith(b"\n") for direction, data in traced)


TRACEBACK = """Traceback (most recent call last):
  File "mini.py", line 1, in <module>
ModuleNotFoundError: No module named 'nosuch'

"""


@each_kind
@pytest.mark.parametrize(
    ("code", "end"),
    [
        (f"sys.stderr.write({TRACEBACK!r}); sys.exit(1)",
         "exit code 1: ModuleNotFoundError: No module named 'nosuch'"),
        ("sys.stderr.write('one\\r\\ntwo\\x1b[2J'); sys.exit(3)", "exit code 3: two?[2J"),
        ("sys.stderr.write('e' * 3_000_000 + ' full\\n'); sys.exit(4)", "exit code 4: ee"),
        ("sys.stderr.write('gone'); sys.stderr.close(); sys.exit(5)", "exit code 5: gone"),
        ("sys.exit(6)", "exit code 6"),
    ],
    ids=["traceback", "control", "long", "closed", "silent"],
)
def test_the_error_about_an_ended_process_quotes_its_last_line_of_standard_error(
    kind: type[Pipe], code: str, end: str
) -> None:
    with pipe_to(code, kind) as pipe:
        with pytest.raises(EngineTerminated) as error:
            pipe.read_line(deadline_in())
    assert error.value.how.startswith(end) and len(error.value.how) < 200
    assert end.endswith("ee") or error.value.how == end


@each_kind
def test_megabytes_of_standard_error_do_not_block_an_engine(kind: type[Pipe]) -> None:
    """An engine may write errors before it answers, before it reads its input, or as it ends."""
    code = """
sys.stderr.write("e" * 5_000_000); print("ready", flush=True)
sys.stderr.write("e" * 5_000_000); print(len(sys.stdin.readline()), flush=True)
sys.stdin.read(); sys.stderr.write("e" * 5_000_000); sys.exit(7)
"""
    with pipe_to(code, kind, 20.0) as pipe:
        assert pipe.read_line(deadline_in()) == b"ready"
        pipe.send(b"y" * 1_000_000 + b"\n", deadline_in())
        assert pipe.read_line(deadline_in()) == b"1000001"
        pipe.close_input()
        assert pipe.process.wait(20.0) and pipe.process.exit_status() == 7


@pytest.mark.skipif(os.name != "posix", reason="needs poll")
def test_a_closed_standard_error_does_not_end_each_poll_at_once() -> None:
    code = "import os; os.close(2); print('here', flush=True); time.sleep(0.5); print('there')"
    with pipe_to(code, PIPES[0]) as pipe:
        assert pipe.read_line(deadline_in()) == b"here"
        polls = 0
        poll = pipe._poll  # type: ignore[attr-defined]

        def counted(milliseconds: int) -> list[tuple[int, int]]:
            nonlocal polls
            polls += 1
            return list(poll.poll(milliseconds))

        pipe._poll = SimpleNamespace(  # type: ignore[attr-defined]
            poll=counted, unregister=poll.unregister
        )
        assert pipe.read_line(deadline_in()) == b"there"
        assert polls < 10


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_an_interrupted_close_leaves_no_process_and_can_be_repeated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ctrl-C may interrupt the wait for an engine to end."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    code = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + HANGS
    process = EngineProcess([sys.executable, "-c", SCRIPT, code])
    wait = process.wait

    def wait_with_timer(seconds: float) -> bool:
        # Before `close`, the interruption would end the run of the tests.
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        return wait(seconds)

    monkeypatch.setattr(process, "wait", wait_with_timer)
    old_handler = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            process.close(60.0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, old_handler)
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)
    # The system may have given the process's number to another process.
    monkeypatch.setattr(os, "killpg", lambda *_: pytest.fail("a signal was sent"))
    process.close()
    process.kill()
    process.terminate()
