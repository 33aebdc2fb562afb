"""Resource limits of an engine's processes, enforced by the operating system."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from merels.engine.common.errors import InputError
from merels.engine.common.numbers import read_whole
from merels.protocol.process.errors import EngineError

LIMITER = os.path.join(os.path.dirname(__file__), "limiter.py")
MIB = 1 << 20
KEYS = ("cpu", "memory", "core")
"""The words for the limits in the description of an engine."""
_LEAST = {"cpu": 1, "memory": 1, "core": 0}
_MOST = 10**7
"""Seconds, or MiB: more than any machine has."""


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """Limits of each process of an engine; None: as the system has them.

    ``cpu`` is processor time in seconds, over all threads; ``memory`` the address space, ``core``
    the size of a core dump, both in MiB.
    """

    cpu: int | None = None
    memory: int | None = None
    core: int | None = None

    def __str__(self) -> str:
        """The limits as they are written on a command line."""
        given = [(key, value) for key, value in asdict(self).items() if value is not None]
        return " ".join(f"{key}={value}" for key, value in given)

    def command(self, words: list[str]) -> list[str]:
        """The command that runs ``words`` under these limits, in the same process.

        `EngineError` where the system cannot limit so.
        """
        wanted: dict[str, tuple[int, int]] = {}
        if self.cpu is not None:
            # The first number ends the process by a signal that it may catch, the second for sure.
            wanted["RLIMIT_CPU"] = self.cpu, self.cpu + 1
        if self.memory is not None:
            wanted["RLIMIT_AS"] = self.memory * MIB, self.memory * MIB
        if self.core is not None:
            wanted["RLIMIT_CORE"] = self.core * MIB, self.core * MIB
        if not wanted:
            return words
        try:
            import resource  # noqa: F401
        except ImportError:
            message = f"this system cannot limit an engine's resources; leave out {self}"
            raise EngineError(message) from None
        limits = [f"{name}={soft}:{hard}" for name, (soft, hard) in wanted.items()]
        return [sys.executable, "-I", "-S", LIMITER, *limits, "--", *words]

    def explain(self, status: int) -> str:
        """A note on an engine's exit status (minus the signal that ended it), or ''."""
        if status == -getattr(signal, "SIGXCPU", 0):
            return f"over its limit of cpu={self.cpu}"
        return f"limited to {self}"


def read_limits(values: Mapping[str, str], where: str = "") -> ResourceLimits | None:
    """The limits among an engine's ``key=value`` words, None without any.

    `InputError` for one that makes no sense or that the system does not have; ``where`` says
    whose it is.
    """
    given = {
        key: read_whole(
            values[key], _LEAST[key], _MOST, f"{key}= {where}".strip(),
            what="whole seconds" if key == "cpu" else "whole MiB",
        )
        for key in KEYS if key in values
    }  # fmt: skip
    if not given:
        return None
    limits = ResourceLimits(**given)
    try:
        limits.command([])
    except EngineError as error:
        raise InputError(str(limits), str(error)) from None
    return limits
