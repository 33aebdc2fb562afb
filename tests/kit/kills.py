"""One harness: kill a run at chosen steps, resume it, and compare it with an undisturbed run.

A *step* is the call of a function of the packages that store games, see `kill_at`. A run is killed
at a step after some games, not at a time, so that kills fall into each part of the work on every
machine.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from tests.processes import marked, wait_until_gone

ROOT = Path(__file__).parents[2]
MARK = "MERELS_TEST_MARK"
STEPS = 300
"""Largest number of a step; a game has about 100."""
SECONDS = 300
"""Seconds that a run may take."""


class Kill(NamedTuple):
    """The end of a run: a signal at a step after its first ``games`` games."""

    games: int
    step: int
    signal: int = signal.SIGKILL


def random_kills(
    seed: int, count: int, games: int = 3, signals: Sequence[int] = (signal.SIGKILL,)
) -> list[Kill]:
    """Return ``count`` kills, each after up to ``games`` games."""
    chance = random.Random(seed)
    return [
        Kill(chance.randint(0, games), chance.randint(1, STEPS), chance.choice(signals))
        for _ in range(count)
    ]


def run(folder: Path, *words: str, kill: Kill | None = None) -> subprocess.CompletedProcess[str]:
    """Run ``merels`` in ``folder`` to its end, or to the kill; check that no process is left."""
    mark = uuid.uuid4().hex
    done = subprocess.run(
        [sys.executable, "-m", "tests.kit.kill_at", *map(_digits, kill or (0, 0, 0)), *words],
        cwd=folder, capture_output=True, text=True, timeout=SECONDS,
        env={**os.environ, MARK: mark, "PYTHONPATH": str(ROOT)},
    )
    if os.path.exists("/proc/self/environ") and (left := wait_until_gone(mark)):
        for pid in marked(mark):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        raise AssertionError(f"processes {left} are left")
    return done


def _digits(number: int) -> str:
    return str(int(number))


def kill_and_resume(
    folder: Path, words: Sequence[str], kills: Sequence[Kill], check: Callable[[], object]
) -> str:
    """Run a command until each of ``kills``, and then to its end; return its last output.

    ``check`` is called after each kill.
    """
    for kill in kills:
        done = run(folder, *words, kill=kill)
        expected = (-kill.signal, 130) if kill.signal == signal.SIGINT else (-kill.signal,)
        assert done.returncode in expected, f"no {kill}:\n{done.stderr}"
        check()
    done = run(folder, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def compare(
    folder: Path, words: Sequence[str], kills: Sequence[Kill], read: Callable[[Path], set[Any]]
) -> tuple[str, str]:
    """Run a command undisturbed, and killed and resumed, each in a copy of ``folder``.

    ``read`` returns the parts of the stored games that no kill may change. Return the outputs of
    the undisturbed run and of the last resumed run.
    """
    undisturbed, killed = folder.with_name("undisturbed"), folder.with_name("killed")
    for copy in (undisturbed, killed):
        shutil.copytree(folder, copy)
    expected = run(undisturbed, *words)
    assert expected.returncode == 0, expected.stderr
    stored: set[Any] = set()

    def check() -> None:
        nonlocal stored
        earlier, stored = stored, read(killed)
        assert earlier <= stored, "a stored game is lost"

    out = kill_and_resume(killed, words, kills, check)
    assert read(killed) == read(undisturbed)
    return expected.stdout, out
