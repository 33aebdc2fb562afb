"""A step of the check, the group it belongs to, and the finding that it ends in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from merels.protocol.check.subject import Subject

PROTOCOLS = ("uci", "ugi")
"""The dialects that can be checked."""

Check = Callable[[Subject], None]
"""A step's work: returns if all is well, otherwise raises `Fault`, `Skip` or `EngineError`."""


class Verdict(Enum):
    """How a step ended; ``WARN`` means allowed, but a problem with some clients."""

    PASS = "pass"
    FAIL = "fail"
    WARN = "warn"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class Step:
    """One step; it is skipped unless the steps that it ``needs`` passed."""

    name: str
    group: str
    expected: str
    check: Check
    needs: tuple[str, ...]
    protocols: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """How a step ended, why, and the engine's line at fault, if there is one."""

    step: Step
    verdict: Verdict
    reason: str = ""
    line: bytes | None = None
    seconds: float = 0.0
    others: tuple[str, ...] = ()
    """Further warnings of the same step."""


@dataclass(slots=True)
class Group:
    """Steps on one subject, in the order in which they run."""

    name: str
    title: str
    needs: tuple[str, ...] = ("greeting", "ready", "answers")
    steps: list[Step] = field(default_factory=list)

    def add(
        self, name: str, expected: str, check: Callable[..., None], *values: Any,
        needs: tuple[str, ...] = (), protocols: tuple[str, ...] = PROTOCOLS, **settings: Any,
    ) -> None:  # fmt: skip
        """Add a step, which calls ``check`` with the engine, the values and the settings."""
        all_needs = tuple(need for need in (*self.needs, *needs) if need != name)
        self.steps.append(Step(
            name, self.name, expected, lambda engine: check(engine, *values, **settings),
            all_needs, protocols,
        ))  # fmt: skip

    def step(
        self, *, needs: tuple[str, ...] = (), protocols: tuple[str, ...] = PROTOCOLS
    ) -> Callable[[Check], Check]:
        """Make a function a step: its name is the step's, its docstring what is expected."""

        def add(check: Check) -> Check:
            expected = " ".join((check.__doc__ or "").split())
            name = check.__name__.replace("_", "-")
            self.add(name, expected, check, needs=needs, protocols=protocols)
            return check

        return add
