"""All steps, the choice among them, and their run, whatever the engine does."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from merels.engine.common.errors import InputError, quoted, suggestion
from merels.protocol.check.conversation import Fault, Skip
from merels.protocol.check.step import Finding, Group, Step, Verdict
from merels.protocol.check.steps import inputs, lifetime, output, position, searches
from merels.protocol.check.subject import Subject
from merels.protocol.process.errors import EngineError

GROUPS: tuple[Group, ...] = (
    lifetime.HANDSHAKE, lifetime.READY, searches.STOPPING, searches.SEARCH, position.GROUP,
    inputs.OPTIONS, inputs.INPUT, output.MOVES, position.QUERIES, output.OUTPUT, lifetime.ENDING,
)
"""In the order in which they run."""
STEPS: tuple[Step, ...] = tuple(step for group in GROUPS for step in group.steps)
MOST_START_FAILURES = 3
"""Failed starts in a row, after which the engine is not started again."""
MOST_SECONDS = 300.0
"""After this time no further step begins."""


def choose(names: Sequence[str]) -> list[Step]:
    """The steps with these names, or in groups with these names; all of them for no names."""
    if not names:
        return list(STEPS)
    groups = {group.name for group in GROUPS}
    known = [step.name for step in STEPS]
    wanted = {name.lower() for name in names}
    for name in sorted(wanted):
        if name not in groups and name not in known:
            hint = suggestion(name, [*known, *groups]) or "; -list prints them all"
            raise InputError(name, f"no step or group has that name{hint}")
    return [step for step in STEPS if step.name in wanted or step.group in wanted]


def run(
    steps: Sequence[Step],
    subject: Subject,
    on_finding: Callable[[Finding], None],
    most_seconds: float = MOST_SECONDS,
) -> list[Finding]:
    """The finding of each step; each is also passed to ``on_finding`` at once."""
    findings: list[Finding] = []
    unfit: set[str] = set()
    deadline = time.monotonic() + most_seconds
    for step in steps:
        missing = [need for need in step.needs if need in unfit]
        if subject.candidate.protocol not in step.protocols:
            reason = f"only for {step.protocols[0]}"
        elif subject.start_failures >= MOST_START_FAILURES:
            reason = f"the engine failed to start {subject.start_failures} times in a row"
        elif missing:
            reason = f"needs {missing[0]}, which did not pass"
        elif time.monotonic() > deadline:
            reason = f"the time limit of {most_seconds:g} s has passed"
        else:
            reason = ""
        finding = Finding(step, Verdict.SKIP, reason) if reason else run_step(step, subject)
        if finding.verdict is Verdict.FAIL or missing:
            unfit.add(step.name)
        findings.append(finding)
        on_finding(finding)
    return findings


def run_step(step: Step, subject: Subject) -> Finding:
    """The finding of one step."""
    subject.warnings.clear()
    searches, strays = len(subject.searches), len(subject.strays)
    started = time.monotonic()
    verdict, reason, line = Verdict.PASS, "", None
    try:
        step.check(subject)
    except Fault as fault:
        verdict, reason, line = Verdict.FAIL, fault.reason, fault.line
    except Skip as skip:
        verdict, reason = Verdict.SKIP, str(skip)
    except EngineError as error:
        verdict, reason = Verdict.FAIL, f"{error}; last sent: {quoted(subject.sent.encode())}"
    warnings = list(subject.warnings)
    if verdict is Verdict.PASS and warnings:
        verdict, reason, line = Verdict.WARN, warnings[0].reason, warnings[0].line
        del warnings[0]
    if verdict is Verdict.FAIL:
        # One fault, one failure: the steps that judge every search leave this one's out.
        del subject.searches[searches:], subject.strays[strays:]
    subject.tidy(verdict is Verdict.FAIL)
    seconds = time.monotonic() - started
    others = tuple(dict.fromkeys(w.reason for w in warnings if w.reason != reason))
    return Finding(step, verdict, reason, line, seconds, others)
