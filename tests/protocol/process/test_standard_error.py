"""Reading an engine's standard error from a pipe."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import IO

import pytest

from merels.protocol.process.standard_error import LONGEST_LINE, StandardError

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs pipes that do not block")


@pytest.fixture
def pipe() -> Iterator[tuple[IO[bytes], int]]:
    """Yield the read end of a pipe, and the descriptor of its write end."""
    read, write = os.pipe()
    with os.fdopen(read, "rb") as file:
        yield file, write
        with suppress(OSError):
            os.close(write)


def test_an_empty_pipe_has_not_ended(pipe: tuple[IO[bytes], int]) -> None:
    errors = StandardError(pipe[0], -1)
    assert errors.drain() and errors.descriptor >= 0
    os.write(pipe[1], b"one\ntwo")
    assert errors.drain() and errors.last_line() == "two"
    os.close(pipe[1])
    assert not errors.drain() and errors.descriptor == -1
    assert not errors.drain() and errors.last_line() == "two"


NODE = """/engine/search.js:205
      move = bestResult.move;
                        ^

TypeError: Cannot read properties of null (reading 'move')
    at Agent.getNextMove (/engine/search.js:205:25)

Node.js v20.20.2
"""
RUST = """
thread 'main' panicked at src/main.rs:2:5:
no move
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
"""
JAVA = """Exception in thread "main" java.lang.IllegalStateException: no move
\tat Engine.go(Engine.java:12)
\t... 3 more
"""


@pytest.mark.parametrize(("text", "cause"), [
    (NODE, "TypeError: Cannot read properties of null (reading 'move')"),
    (RUST, "no move"),
    (JAVA, 'Exception in thread "main" java.lang.IllegalStateException: no move'),
    (JAVA + "\tat Engine.search(Engine.java:12)\n" * 1000, "at Engine.search(Engine.java:12)"),
    ("  two\n  three\n\n", "three"),
], ids=["node", "rust", "java", "long", "indented"])
def test_the_last_line_states_the_cause(
    pipe: tuple[IO[bytes], int], text: str, cause: str
) -> None:
    errors = StandardError(pipe[0], -1)
    os.write(pipe[1], text.encode())
    errors.drain()
    assert errors.last_line() == cause


def test_a_function_gets_whole_lines_and_at_the_end_an_unfinished_line(
    pipe: tuple[IO[bytes], int]
) -> None:
    received: list[bytes] = []
    errors = StandardError(pipe[0], received.append)
    for data in (b"one\ntw", b"o\nthr"):
        os.write(pipe[1], data)
        errors.drain()
    assert received == [b"one\n", b"two\n"]
    errors.close()
    assert received[2:] == [b"thr"]


def test_an_unfinished_line_longer_than_the_limit_is_passed_on(
    pipe: tuple[IO[bytes], int]
) -> None:
    received: list[bytes] = []
    errors = StandardError(pipe[0], received.append)
    for size in (LONGEST_LINE, 1):
        assert not received
        unwritten = size
        while unwritten:
            unwritten -= os.write(pipe[1], b"e" * min(unwritten, 4096))
            errors.drain()
    assert b"".join(received) == b"e" * (LONGEST_LINE + 1)


def test_a_copy_descriptor_gets_all_bytes(pipe: tuple[IO[bytes], int]) -> None:
    read, copy = os.pipe()
    errors = StandardError(pipe[0], copy)
    os.write(pipe[1], b"one\ntwo")
    errors.close()
    with os.fdopen(read, "rb") as copied:
        assert copied.read() == b"one\ntwo"
