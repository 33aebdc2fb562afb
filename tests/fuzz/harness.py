"""The common part of all fuzzers: seeded cases, counts, and minimised failures.

A case is a list of texts (lines, words or edits), so that the cases of all fuzzers are minimised
and replayed in the same way. A case depends only on the seed and its number.
"""

from __future__ import annotations

import json
import random
import re
import tempfile
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Self

Case = list[str]

MAX_FAILURES = 10
"""Number of failures after which a run ends."""
MAX_TRIALS = 300
"""Maximum number of smaller cases that are tried for a failure."""
MAX_HANGS = 20
"""Maximum number of smaller cases that are tried for a hang."""


class Defect(AssertionError):
    """A fault of the product in a case."""


class Hang(Defect):
    """No answer in time; trying a smaller case takes as long."""


class Tally(NamedTuple):
    """Numbers of inputs that were accepted and that were refused with a proper error."""

    accepted: int = 0
    rejected: int = 0


class Fuzzer:
    """Makes cases and tries them, as a context manager; ``unit`` is the noun for its inputs."""

    name = ""
    unit = "texts"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def make(self, chance: random.Random) -> Case:
        """Return a random case."""
        raise NotImplementedError

    def check(self, case: Case) -> Tally:
        """Try a case; raise `Defect`, or any other exception, if the product fails."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Discard all state of earlier cases."""


class FolderFuzzer(Fuzzer):
    """A fuzzer with a temporary folder."""

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory()
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()


@dataclass
class Report:
    """Result of a run."""

    name: str
    unit: str
    seed: int
    count: int = 0
    accepted: int = 0
    rejected: int = 0
    failures: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"fuzz {self.name}: seed {self.seed}, {self.count:,} {self.unit}, "
            f"{self.accepted:,} accepted, {self.rejected:,} rejected, "
            f"{len(self.failures)} failures"
        )


def run(
    fuzzer: Fuzzer, count: int, seed: int, progress: Callable[[Report], None] | None = None
) -> Report:
    """Try cases until ``count`` inputs have been tried."""
    report = Report(fuzzer.name, fuzzer.unit, seed)
    number = 0
    with fuzzer:
        while report.count < count and len(report.failures) < MAX_FAILURES:
            number += 1
            case = fuzzer.make(random.Random(f"merels fuzz {fuzzer.name} {seed} {number}"))
            try:
                tally = fuzzer.check(case)
            except Exception as error:
                tally = Tally(rejected=1)
                report.failures.append(explain(fuzzer, case, error))
            report.count += sum(tally)
            report.accepted += tally.accepted
            report.rejected += tally.rejected
            if progress is not None:
                progress(report)
    return report


def explain(fuzzer: Fuzzer, case: Case, error: Exception) -> str:
    """Return a failure on one line: the fault, and the command that replays it."""
    small = case
    fault = describe(error)
    if trial(fuzzer, case) is None:
        fault += " (only after earlier cases)"
    else:
        trials = MAX_HANGS if isinstance(error, Hang) else MAX_TRIALS
        small = minimise(case, lambda smaller: alike(trial(fuzzer, smaller), fault), trials)
    fuzzer.refresh()
    return f"{fuzzer.name}: {fault}; python -m tests.fuzz {fuzzer.name} -replay {quote(small)}"


def describe(error: Exception) -> str:
    """Return an exception on one line.

    The line has the message of a `Defect`; for other exceptions, it has the type and the place.
    """
    if isinstance(error, Defect):
        return " ".join(str(error).split())
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} at {place.filename.rpartition('/')[2]}:{place.lineno}"


def alike(first: str | None, second: str) -> bool:
    """Return whether the messages of two failures begin with the same words."""
    kind = re.compile(r"[\d:{'\"]")
    return first is not None and kind.split(first)[0] == kind.split(second)[0]


def trial(fuzzer: Fuzzer, case: Case) -> str | None:
    """Try a case without state of earlier cases; return its failure, or None."""
    fuzzer.refresh()
    try:
        fuzzer.check(case)
    except Exception as error:
        return describe(error)
    return None


def minimise(case: Case, fails: Callable[[Case], bool], trials: int = MAX_TRIALS) -> Case:
    """Return a smaller case that still fails, after removing pieces and then characters."""
    trials_left = [trials]

    def counted(smaller: Case) -> bool:
        trials_left[0] -= 1
        return trials_left[0] >= 0 and fails(smaller)

    case = _without(case, counted)
    for index, piece in enumerate(case):
        before, after = case[:index], case[index + 1 :]
        letters = _without(list(piece), lambda kept: counted([*before, "".join(kept), *after]))
        case = [*before, "".join(letters), *after]
    return case


def _without(pieces: Sequence[str], fails: Callable[[Case], bool]) -> Case:
    """Return the pieces that a failure needs, by removing ever shorter runs of pieces."""
    needed = list(pieces)
    length = len(needed)
    while length := length // 2 or (1 if length > 1 else 0):
        at = 0
        while at < len(needed):
            fewer = needed[:at] + needed[at + length :]
            if fewer and fails(fewer):
                needed = fewer
            else:
                at += length
        if length == 1:
            break
    return needed


def quote(case: Case) -> str:
    """Return a case as one quoted word for a shell."""
    return "'" + json.dumps(case).replace("'", "\\u0027") + "'"
