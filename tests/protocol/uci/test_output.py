"""The engine's output: whether it has a reader, and how errors are written."""

from __future__ import annotations

import os
import select
from collections.abc import Iterator

import pytest

from merels.engine.common.errors import InputError
from merels.protocol.uci.streams import Output


@pytest.fixture
def pipe() -> Iterator[list[int]]:
    """Yield both ends of a pipe; close the ends that the test leaves in the list."""
    ends = [*os.pipe()]
    yield ends
    for end in ends:
        os.close(end)


@pytest.mark.skipif(not hasattr(select, "poll"), reason="needs a system that can poll a pipe")
def test_an_output_is_read_until_its_reader_closes_the_pipe(pipe: list[int]) -> None:
    output = Output(pipe[1])
    assert output.has_reader()
    output.write("readyok")
    assert output.has_reader(), "an unread line was taken for a closed pipe"
    os.close(pipe.pop(0))
    assert not output.has_reader()


MEMORY_ADVICE = "close other programs, or raise the limit of memory (ulimit -v)"


@pytest.mark.parametrize(
    ("error", "line"),
    [
        ("no table", "no table"),
        (InputError("x", "expected a move"), "'x': expected a move"),
        (MemoryError("no memory for 4 MiB"), f"no memory for 4 MiB; {MEMORY_ADVICE}"),
        (MemoryError(), f"not enough memory; {MEMORY_ADVICE}"),
        (RuntimeError("can't start new thread"), "can't start new thread; use fewer threads, or "
         "raise the limit of memory or processes (ulimit -v, ulimit -u)"),
        (RuntimeError("odd"), "internal, RuntimeError: odd"),
        (KeyError("side"), "internal, KeyError: 'side'"),
    ],
)
def test_an_error_is_one_line_and_an_unexpected_exception_is_internal(
    pipe: list[int], error: Exception | str, line: str
) -> None:
    Output(pipe[1]).error(error)
    assert os.read(pipe[0], 1000) == f"info string error {line}\n".encode()
