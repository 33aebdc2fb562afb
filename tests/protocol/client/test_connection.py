"""Requests to real processes that answer like engines, over both kinds of pipe."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from time import monotonic_ns, sleep

import pytest

from merels.engine.game.position import Position
from merels.protocol.client import connection
from merels.protocol.client.answers import Answer
from merels.protocol.client.connection import Connection
from merels.protocol.client.engine_spec import EngineSpec
from merels.protocol.process.errors import EngineTerminated
from merels.protocol.process.windows import ThreadPipe
from tests.protocol.process.test_pipe import PIPES, SCRIPT

pytestmark = pytest.mark.usefixtures("no_engine_is_left", "each_pipe")
TIMEOUT = 20 * 10**9
"""Timeout of an answer, in nanoseconds."""


@pytest.fixture(params=PIPES)
def each_pipe(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Open each connection over a pipe of this kind."""
    monkeypatch.setattr(connection, "open_pipe", request.param)


def connect(code: str) -> Connection:
    """Return a connection to a Python process that answers the greeting, then runs ``code``."""
    code = f"sys.stdin.readline(); print('uciok', flush=True)\n{code}"
    engine = Connection(EngineSpec((sys.executable, "-c", SCRIPT, code)))
    engine.greet()
    return engine


def ask(engine: Connection, timeout: int = TIMEOUT) -> Answer | None:
    """Send a ``position`` line and a ``go`` line; return the answer or None."""
    return engine.ask(Position(), b"position startpos", b"go\n", timeout)


READ_REQUEST = "sys.stdin.readline(); sys.stdin.readline()\n"
"""Code that reads what `ask` sends."""


def test_the_last_score_of_the_best_variation_is_kept() -> None:
    engine = connect(READ_REQUEST + r"""
for line in ("info depth 1 score cp 1 nodes 1", "info string nothing",
             "info depth 2 score cp 2 nodes 2", "info depth 2 score cp 3 nodes 3 multipv 1",
             "info depth 2 score cp -9 nodes 3 multipv 2", "info depth 2 multipv 10 score cp -99",
             "info string the score is 9 ",
             "info currmove d6",
             " \tBestMove d6 ponder f4"):
    print(line, flush=True); time.sleep(0.01)
""")
    answer = ask(engine)
    assert answer is not None
    assert answer.text == b"d6 ponder f4"
    assert answer.info == b"info depth 2 score cp 3 nodes 3 multipv 1"
    engine.close()


def test_a_request_of_any_length_arrives_completely() -> None:
    engine = connect(r"""
for line in sys.stdin:
    if line.startswith("position"):
        length = len(line)
    if line == "go\n":
        print("bestmove", length, flush=True)
""")
    # On Linux, a pipe accepts up to 4096 bytes atomically, and holds 65536.
    for length in (100, 4090, 4091, 4092, 4093, 4096, 4097, 65536, 300_000, 100):
        answer = engine.ask(Position(), b"position".ljust(length - 1, b"."), b"go\n", TIMEOUT)
        assert answer is not None and answer.text == str(length).encode()
    engine.close()


def test_after_a_stray_bestmove_was_dropped_each_search_begins_with_isready() -> None:
    engine = connect(READ_REQUEST + r"""
print("bestmove a1\nbestmove d1", flush=True)
asked = False
for line in sys.stdin:
    if line == "isready\n":
        print("readyok", flush=True); asked = True
    if line == "go\n":
        print("bestmove", "b2" if asked else "g1", flush=True); asked = False
    if line == "quit\n":
        break
""")
    first = ask(engine)
    assert first is not None and first.text == b"a1"
    sleep(0.2)
    answers = [ask(engine) for _ in range(2)]
    assert [answer and answer.text for answer in answers] == [b"g1", b"b2"]
    engine.close()


def test_lines_after_an_answer_are_read_in_order_by_the_next_wait() -> None:
    engine = connect(READ_REQUEST + r"""
w = sys.stdout.write
w("bestmove a1\ninfo depth 5 score cp 5 nodes 5\nbestmo"); sys.stdout.flush(); time.sleep(0.2)
w("ve d1\n"); sys.stdout.flush()
""")
    first = ask(engine)
    second = engine.wait_answer(monotonic_ns(), TIMEOUT)
    assert first is not None and (first.text, first.info) == (b"a1", b"")
    assert second is not None and second.text == b"d1"
    assert second.info == b"info depth 5 score cp 5 nodes 5"
    engine.close()


@pytest.mark.parametrize("silence", [0.1, None])
def test_an_answer_without_a_line_feed_is_read(silence: float | None) -> None:
    engine = connect(r"""
w = sys.stdout.write
for line in sys.stdin:
    if line == "go\n":
        w("info depth 1 score cp 7 nodes 1\nbestmove d6"); sys.stdout.flush()
""")
    engine.watch_silence(silence)
    for _ in range(2):
        start = monotonic_ns()
        answer = ask(engine, 10**9 // 2)
        assert answer is not None
        assert (answer.text, answer.info) == (b"d6", b"info depth 1 score cp 7 nodes 1")
        if silence is not None:
            # The wait for the line feed is not part of the elapsed time.
            assert answer.elapsed < monotonic_ns() - start - silence * 1e9 / 2
    engine.close(0.1)


def test_bestmove_without_a_move_yet_is_no_answer() -> None:
    engine = connect(READ_REQUEST + r"""
sys.stdout.write("bestmove"); sys.stdout.flush(); sys.stdin.readline(); print(" d6", flush=True)
""")
    assert ask(engine, 10**9 // 10) is None and engine.owing
    answer = engine.stop(5.0)
    assert answer is not None and answer.text == b"d6" and not engine.owing
    engine.close()


def test_a_negative_timeout_does_not_wait() -> None:
    engine = connect("time.sleep(1000)")
    assert ask(engine, -2_000_000) is None
    engine.close(0.1)


def test_a_stop_for_an_earlier_search_is_not_sent() -> None:
    engine = connect(r"""
for line in sys.stdin:
    print("bestmove d6" if line == "go\n" else f"info string {line}", flush=True)
""")
    ask(engine)
    first = engine.searches
    ask(engine)
    engine.stop_search(first)
    assert engine.read_line(monotonic_ns() + TIMEOUT // 100) is None
    engine.stop_search(engine.searches)
    assert engine.read_line(monotonic_ns() + TIMEOUT) == b"info string stop"
    engine.close()


def test_nothing_is_written_to_a_file_that_reuses_a_closed_descriptor(tmp_path: Path) -> None:
    """The system gives the number of a closed descriptor to the next file that is opened."""
    highest = max(map(int, os.listdir("/proc/self/fd"))) if os.path.exists("/proc/self/fd") else 64
    engine = connect("while line := sys.stdin.readline():\n    pass")
    engine.send_quit()
    path = str(tmp_path / "other")
    opened = [os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND) for _ in range(highest + 8)]
    with suppress(EngineTerminated):
        engine.stop_search(engine.searches)
    engine.close()
    for descriptor in opened:
        os.close(descriptor)
    assert os.path.getsize(path) == 0


def test_a_search_without_an_answer_waits_in_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = connect(READ_REQUEST + "sys.stdin.read()\n")
    waits: list[int] = []
    receive = engine._pipe.receive

    def counted(milliseconds: int) -> bytes | None:
        waits.append(milliseconds)
        return receive(milliseconds)

    monkeypatch.setattr(engine._pipe, "receive", counted)
    assert ask(engine, 50_000_000) is None
    # A `Pipe` waits inside `exchange`, without calling `receive`.
    engine.close()
    assert sum(wait > 0 for wait in waits) == isinstance(engine._pipe, ThreadPipe)
    assert max(waits, default=0) <= 50


@pytest.mark.parametrize(
    ("printed", "quote"),
    [
        ("info string fake error: no legal action\n",
         "; last output: 'info string fake error: no legal action'"),
        ("info depth 1 score cp 3\ninfo string error\r\n\n",
         r"; last output: 'info string error\r'"),
        ("info string error\nbestmo", "; last output, without a line feed: 'bestmo'"),
        ("id name CR\ruciok\r", r"; last output, without a line feed: 'id name CR\ruciok\r'"),
        ("\0\0", r"; last output, without a line feed: '\x00\x00'"),
        ("\r\r", r"; last output, without a line feed: '\r\r'"),
        ("\n\n", r"; last output: '\n'"),
        ("info string \x1b[2J\n", r"; last output: 'info string \x1b[2J'"),
    ],
)
def test_a_timeout_quotes_the_engine_s_last_output(printed: str, quote: str) -> None:
    code = f"sys.stdout.write({printed!r}); sys.stdout.flush(); time.sleep(1000)"
    engine = connect(READ_REQUEST + code)
    assert ask(engine, 0) is None
    deadline = monotonic_ns() + TIMEOUT
    while not engine.last_output() and monotonic_ns() < deadline:
        assert engine.wait_answer(monotonic_ns(), 10_000_000) is None
    assert str(engine.timeout_error("plays no move")) == f"the engine plays no move{quote}"
    engine.close(0.0)


def test_a_timeout_quotes_the_engine_s_last_error_output() -> None:
    engine = connect("sys.stderr.write('old\\nno net\\n'); sys.stderr.flush(); time.sleep(1000)")
    deadline = monotonic_ns() + TIMEOUT
    while not engine.last_output() and monotonic_ns() < deadline:
        assert ask(engine, 10_000_000) is None
        engine.owing = False
    assert str(engine.timeout_error("is mute")) == "the engine is mute; last error output: 'no net'"
    engine.close(0.0)


def test_output_from_before_the_request_is_not_quoted() -> None:
    engine = connect(r"""
for line in sys.stdin:
    if line == "isready\n":
        print("info string ready\nreadyok", flush=True)
""")
    engine.ping()
    assert ask(engine, 10_000_000) is None
    assert engine.last_output() == ""
    engine.close(0.0)
