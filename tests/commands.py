"""Functions that run a command of merels, in this process or in a new process."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from merels.tournament.commands.main import main

MERELS = (sys.executable, "-m", "merels.tournament.commands.main")


def command(name: str) -> Callable[[Sequence[str]], int]:
    """Return a function that runs ``merels NAME`` with given words and returns the exit status."""
    return lambda words: main([name, *words])


def run(capsys: pytest.CaptureFixture[str], words: Sequence[str]) -> tuple[int, str, str]:
    """Run ``merels`` in this process; return its exit status, standard output and error output."""
    capsys.readouterr()
    status = main(list(words))
    return status, *capsys.readouterr()


def run_process(
    *words: str, typed: str = "", tables: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run ``merels`` in a new process; ``typed`` is its input, ``tables`` its folder of tables."""
    environment = {} if tables is None else {"MERELS_TABLES": str(tables)}
    return subprocess.run(
        [*MERELS, *words], input=typed, capture_output=True, encoding="utf-8", timeout=300,
        env=os.environ | environment,
    )  # fmt: skip


def call(
    *words: str, typed: str = "", tables: Path | None = None, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run ``merels`` in this process, in ``folder``, with ``typed`` as input and its ``tables``.

    The streams of this process are replaced, so that fixtures of all scopes may call this function.
    """
    streams = [io.TextIOWrapper(io.BytesIO(data), "utf-8") for data in (typed.encode(), b"", b"")]
    saved = sys.stdin, sys.stdout, sys.stderr
    sys.stdin, sys.stdout, sys.stderr = streams
    try:
        with contextlib.chdir(folder or "."), pytest.MonkeyPatch.context() as patch:
            if tables is not None:
                patch.setenv("MERELS_TABLES", str(tables))
            status = main(list(words))
    finally:
        sys.stdin, sys.stdout, sys.stderr = saved
    texts = []
    for stream in streams[1:]:
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())  # type: ignore[attr-defined]
    return subprocess.CompletedProcess(words, status, *texts)


def output(*words: str, **options: Any) -> str:
    """Call a command that must succeed without error output; return its standard output."""
    done = call(*words, **options)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def refusal(*words: str, **options: Any) -> str:
    """Call a command that must refuse its arguments; return its error output."""
    done = call(*words, **options)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    return done.stderr
