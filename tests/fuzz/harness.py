"""What all fuzzers share: numbered cases from a seed, a tally, minimised failures.

A case is a list of texts (lines, words, edits), so that every fuzzer's cases are kept, made smaller
and replayed in the same way. Case ``n`` of seed ``s`` follows from these two numbers alone.
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

MOST_FAILURES = 10
"""Failures after which a run ends: more of them say little."""
MOST_TRIALS = 300
"""Smaller cases that are tried for each failure."""
MOST_HANGS = 20
"""The same for each hang."""


class Defect(AssertionError):
    """What the product did wrong with a case."""


class Hang(Defect):
    """No answer in time; every smaller case costs as much to try."""


class Tally(NamedTuple):
    """How many inputs were accepted, and how many properly refused."""

    accepted: int = 0
    rejected: int = 0


class Fuzzer:
    """Makes cases and tries them, as a context manager; ``unit`` names what is counted."""

    name = ""
    unit = "texts"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def make(self, chance: random.Random) -> Case:
        """A case."""
        raise NotImplementedError

    def check(self, case: Case) -> Tally:
        """Try a case; raises `Defect`, or anything else, where the product fails."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Forget what earlier cases may have left."""


class FolderFuzzer(Fuzzer):
    """A fuzzer with a folder of its own, which is removed afterwards."""

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory()
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()


@dataclass
class Report:
    """What a run found."""

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
        while report.count < count and len(report.failures) < MOST_FAILURES:
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
    """A failure on one line: what went wrong, and the command that reproduces it."""
    small = case
    what = describe(error)
    if trial(fuzzer, case) is None:
        what += " (not alone: it needs the cases before it)"
    else:
        trials = MOST_HANGS if isinstance(error, Hang) else MOST_TRIALS
        small = minimise(case, lambda smaller: alike(trial(fuzzer, smaller), what), trials)
    fuzzer.refresh()
    return f"{fuzzer.name}: {what}; python -m tests.fuzz {fuzzer.name} -replay {quote(small)}"


def describe(error: Exception) -> str:
    """An exception on one line: a `Defect` by its words, any other by its kind and its place."""
    if isinstance(error, Defect):
        return " ".join(str(error).split())
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} at {place.filename.rpartition('/')[2]}:{place.lineno}"


def alike(one: str | None, other: str) -> bool:
    """Whether two failures are of one kind: their first words agree."""
    return one is not None and re.split(r"[\d:{'\"]", one)[0] == re.split(r"[\d:{'\"]", other)[0]


def trial(fuzzer: Fuzzer, case: Case) -> str | None:
    """What goes wrong with a case tried afresh; None: nothing."""
    fuzzer.refresh()
    try:
        fuzzer.check(case)
    except Exception as error:
        return describe(error)
    return None


def minimise(case: Case, fails: Callable[[Case], bool], trials: int = MOST_TRIALS) -> Case:
    """A case with as many pieces, then characters, taken out as the failure allows."""
    left = [trials]

    def counted(smaller: Case) -> bool:
        left[0] -= 1
        return left[0] >= 0 and fails(smaller)

    case = _without(case, counted)
    for index, piece in enumerate(case):
        before, after = case[:index], case[index + 1 :]
        letters = _without(list(piece), lambda few: counted([*before, "".join(few), *after]))
        case = [*before, "".join(letters), *after]
    return case


def _without(pieces: Sequence[str], fails: Callable[[Case], bool]) -> Case:
    """The pieces that a failure needs, found by leaving out ever shorter stretches."""
    kept = list(pieces)
    length = len(kept)
    while length := length // 2 or (1 if length > 1 else 0):
        at = 0
        while at < len(kept):
            fewer = kept[:at] + kept[at + length :]
            if fewer and fails(fewer):
                kept = fewer
            else:
                at += length
        if length == 1:
            break
    return kept


def quote(case: Case) -> str:
    """A case as one word of a shell."""
    return "'" + json.dumps(case).replace("'", "\\u0027") + "'"
