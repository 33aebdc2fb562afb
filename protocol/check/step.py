"""Steps of the check, their groups, and their findings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from merels.protocol.check.subject import Subject

PROTOCOLS = ("uci", "ugi")
"""Dialects that can be checked."""

Check = Callable[[Subject], None]
"""A step's function: returns if the step passes, or raises `Fault`, `Skip` or `EngineError`."""


class Verdict(Enum):
    """The result of a step; ``WARN`` is output that some clients cannot handle."""

    PASS = "pass"
    FAIL = "fail"
    WARN = "warn"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the check."""

    name: str
    group: str
    expected: str
    """The expected behaviour and, usually, the reason for it."""
    check: Check
    needs: tuple[str, ...]
    """Steps: if any of them failed, or was skipped for its own needs, this step is skipped."""
    protocols: tuple[str, ...]
    """Dialects to which the step applies."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The verdict of a step, with the reason unless it passed."""

    step: Step
    verdict: Verdict
    reason: str = ""
    line: bytes | None = None
    """The engine's line at fault, or None."""
    seconds: float = 0.0
    """Duration of the step, in seconds."""
    others: tuple[str, ...] = ()
    """Reasons of the step's further warnings."""
    too_late: bool = False
    """Whether the step was skipped because the time limit of the run had passed."""


@dataclass(slots=True)
class Group:
    """Steps about one part of the protocol."""

    name: str
    title: str
    needs: tuple[str, ...] = ("greeting", "ready", "answers")
    """Names of steps that every step of the group needs."""
    steps: list[Step] = field(default_factory=list)
    """The group's steps in the order in which they run."""

    def add(
        self, name: str, expected: str, check: Callable[..., None], *values: Any,
        needs: tuple[str, ...] = (), protocols: tuple[str, ...] = PROTOCOLS, **settings: Any,
    ) -> None:  # fmt: skip
        """Add a step that calls ``check`` with the engine, ``values`` and ``settings``."""
        all_needs = tuple(need for need in (*self.needs, *needs) if need != name)
        self.steps.append(Step(
            name, self.name, expected, lambda engine: check(engine, *values, **settings),
            all_needs, protocols,
        ))  # fmt: skip

    def step(
        self, *, needs: tuple[str, ...] = (), protocols: tuple[str, ...] = PROTOCOLS
    ) -> Callable[[Check], Check]:
        """Return a decorator that adds a function as a step, named after the function.

        The function's docstring is the step's `Step.expected`.
        """

        def add(check: Check) -> Check:
            expected = " ".join((check.__doc__ or "").split())
            name = check.__name__.replace("_", "-")
            self.add(name, expected, check, needs=needs, protocols=protocols)
            return check

        return add
