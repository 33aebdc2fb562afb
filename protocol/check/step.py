"""Steps of the check, and their findings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from merels.protocol.check.subject import Subject

PROTOCOLS = ("uci", "ugi")
"""Dialects that can be checked."""
GROUPS = {
    "handshake": "Handshake", "readiness": "Ready", "stopping": "Stopping", "search": "Searches",
    "position": "Positions", "options": "Options", "input": "Strange input", "moves": "Moves",
    "queries": "UGI's queries", "output": "Output", "ending": "Ending",
}
"""Titles of the groups of steps, by name, in the order in which they run."""

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
    check: Check
    expected: str
    """The expected behaviour and, usually, the reason for it."""
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


def step(
    group: str, *needs: str, protocols: tuple[str, ...] = PROTOCOLS
) -> Callable[[Check], Step]:
    """Return a decorator that makes a function a step with the function's name.

    The function's docstring is the step's `Step.expected`. Besides ``needs``, a step needs the
    steps greeting, ready and answers, unless it precedes them or belongs to the group ending.
    """
    gates = ("greeting",) if group in ("handshake", "ending") else ("greeting", "ready", "answers")

    def make(check: Check) -> Step:
        name = check.__name__.replace("_", "-")
        gates_before = gates[: gates.index(name)] if name in gates else gates
        expected = " ".join((check.__doc__ or "").split())
        return Step(name, group, check, expected, (*gates_before, *needs), protocols)

    return make
