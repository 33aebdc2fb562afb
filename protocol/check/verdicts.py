"""What a step is, and what may come of one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from merels.protocol.check.subject import Subject

PROTOCOLS = ("uci", "ugi")
"""The dialects that there are steps for."""
LONGEST_QUOTE = 160
"""Characters of an engine's line that are shown."""

Check = Callable[["Subject"], None]
"""A step's work: returns when all is well, otherwise raises `Fault` or `Skip`."""


class Verdict(Enum):
    """How a step ended: ``warn`` is what is allowed but unusual."""

    PASS = "pass"
    FAIL = "fail"
    WARN = "warn"
    SKIP = "skip"


class Fault(Exception):
    """The engine broke the protocol; ``line`` is what it said, where it said something."""

    def __init__(self, reason: str, line: bytes | None = None) -> None:
        self.reason = reason
        self.line = line
        super().__init__(reason)


class Skip(Exception):
    """The engine does not offer what the step is about."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step; ``needs`` names others without which it says nothing."""

    name: str
    group: str
    expected: str
    check: Check
    needs: tuple[str, ...]
    protocols: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of a step, with the engine's line (as it was sent) where one was to blame."""

    step: Step
    verdict: Verdict
    reason: str = ""
    line: bytes | None = None
    seconds: float = 0.0
    others: tuple[str, ...] = ()
    """Further warnings of the same step."""


@dataclass(slots=True)
class Group:
    """Steps that belong together, in the order in which they run."""

    name: str
    title: str
    needs: tuple[str, ...] = ("greeting", "ready")
    steps: list[Step] = field(default_factory=list)

    def step(
        self, *, needs: tuple[str, ...] = (), protocols: tuple[str, ...] = PROTOCOLS
    ) -> Callable[[Check], Check]:
        """Makes a function a step: its name is the step's, its docstring what is expected."""

        def add(check: Check) -> Check:
            name = check.__name__.replace("_", "-")
            expected = " ".join((check.__doc__ or "").split())
            all_needs = tuple(need for need in (*self.needs, *needs) if need != name)
            self.steps.append(Step(name, self.name, expected, check, all_needs, protocols))
            return check

        return add


def quoted(line: bytes, limit: int = LONGEST_QUOTE) -> str:
    """An engine's line between quotes, with blanks at its ends and control characters visible."""
    text = line[: 4 * limit].decode("utf-8", "backslashreplace")
    shown = "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text
    )
    return f"'{shown}'" if len(shown) <= limit else f"'{shown[:limit]}…'"
