"""Resource limits of an engine's processes, enforced by the operating system."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass

from merels.engine.common.errors import InputError
from merels.engine.common.numbers import read_whole, whole_number
from merels.protocol.process.errors import EngineError

LIMITER = os.path.join(os.path.dirname(__file__), "limiter.py")
MIB = 1 << 20
KEYS = ("cpu", "memory", "core")
"""Keys of the limits in an engine's ``key=value`` description."""
# The soft limit of RLIMIT_CPU sends SIGXCPU, which an engine may catch; the hard limit kills.
_RESOURCES = (("RLIMIT_CPU", 1, 1), ("RLIMIT_AS", MIB, 0), ("RLIMIT_CORE", MIB, 0))
"""By key, the system's name, its unit, and the difference between the hard and the soft limit."""
_MINIMA = {"cpu": 1, "memory": 1, "core": 0}
_MAXIMUM = 10**7
"""Bounds of the limits, in seconds or MiB."""


@dataclass(frozen=True)  # Without slots, as a part of `EngineSpec`, which is pickled often.
class ResourceLimits:
    """Limits of each process of an engine; None keeps the limit that merels itself has.

    ``cpu`` is the processor time of all threads in seconds, ``memory`` the address space in MiB,
    and ``core`` the size of a core dump in MiB. `InputError` for any other value than a whole
    number in the bounds.
    """

    cpu: int | None = None
    memory: int | None = None
    core: int | None = None

    def __post_init__(self) -> None:
        for key in KEYS:
            value = getattr(self, key)
            if value is not None:
                number = whole_number(value, _MINIMA[key], _MAXIMUM, key)
                object.__setattr__(self, key, number)

    def __str__(self) -> str:
        """Return the limits as ``key=value`` words of a command line."""
        limits = [(key, value) for key, value in asdict(self).items() if value is not None]
        return " ".join(f"{key}={value}" for key, value in limits)

    def command(self, words: list[str]) -> list[str]:
        """Return the command that runs the command ``words`` under these limits.

        `EngineError` if the system has no such limits.
        """
        limits = [
            f"{name}={value * unit}:{value * unit + grace}"
            for (name, unit, grace), value in zip(_RESOURCES, astuple(self)) if value is not None
        ]
        if not limits:
            return words
        try:
            import resource  # noqa: F401
        except ImportError:
            message = f"this system cannot limit an engine's resources; leave out {self}"
            raise EngineError(message) from None
        return [sys.executable, "-I", "-S", LIMITER, *limits, "--", *words]

    def explain(self, status: int) -> str:
        """Return a note on how these limits may have caused ``status`` (`describe_status`)."""
        if self.cpu is not None and status == -getattr(signal, "SIGXCPU", 0):
            return f"over its limit of cpu={self.cpu}"
        return f"limited to {self}"


def read_limits(values: Mapping[str, str], where: str = "") -> ResourceLimits | None:
    """Return the limits among an engine's ``key=value`` settings, or None if there are none.

    `InputError` for a limit that is out of range or that the system does not have; its text
    contains ``where``, such as ``of NAME``.
    """
    limits_by_key = {
        key: read_whole(
            values[key], _MINIMA[key], _MAXIMUM, f"{key}= {where}".strip(),
            what="whole seconds" if key == "cpu" else "whole MiB",
        )
        for key in KEYS if key in values
    }  # fmt: skip
    if not limits_by_key:
        return None
    limits = ResourceLimits(**limits_by_key)
    try:
        limits.command([])
    except EngineError as error:
        raise InputError(str(limits), str(error)) from None
    return limits
