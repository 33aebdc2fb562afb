"""The selection of steps, and their run."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from merels.engine.common.errors import InputError, quoted, suggestion
from merels.protocol.check.conversation import Fault, Skip
from merels.protocol.check.step import GROUPS, Finding, Step, Verdict
from merels.protocol.check.steps import output, searches, session
from merels.protocol.check.subject import Subject
from merels.protocol.process.errors import EngineError

STEPS = sorted(
    (each for module in (session, searches, output) for each in vars(module).values()
     if isinstance(each, Step)),
    key=lambda step: list(GROUPS).index(step.group),
)
"""All steps in the order in which they run."""
MAX_START_FAILURES = 3
"""Number of consecutive failed starts after which all remaining steps are skipped."""
MAX_SECONDS = 300.0
"""Time limit of a run, in seconds; later steps are skipped."""


def choose(names: Sequence[str]) -> list[Step]:
    """Return the steps that ``names`` of steps and groups select; no names select all.

    Raise `InputError` for an unknown name.
    """
    wanted = {name.lower() for name in names}
    known = [*(step.name for step in STEPS), *GROUPS]
    for name in sorted(wanted.difference(known)):
        hint = suggestion(name, known) or "; -list prints them all"
        raise InputError(name, f"no step or group has that name{hint}")
    return [step for step in STEPS if not wanted or not wanted.isdisjoint((step.name, step.group))]


def run(
    steps: Sequence[Step],
    subject: Subject,
    on_finding: Callable[[Finding], None],
    max_seconds: float = MAX_SECONDS,
) -> list[Finding]:
    """Run steps in order and return their findings.

    ``on_finding`` is called with each finding when its step ends. No error of the engine ends the
    run.
    """
    findings: list[Finding] = []
    not_passed: set[str] = set()
    deadline = time.monotonic() + max_seconds
    for step in steps:
        missing = [need for need in step.needs if need in not_passed]
        reason, too_late = "", False
        if subject.spec.protocol not in step.protocols:
            reason = f"only for {step.protocols[0]}"
        elif subject.start_failures >= MAX_START_FAILURES:
            reason = f"the engine failed to start {subject.start_failures} times in a row"
        elif missing:
            reason = f"needs {missing[0]}, which did not pass"
        elif time.monotonic() > deadline:
            reason, too_late = f"the time limit of {max_seconds:g} s has passed", True
        if reason:
            finding = Finding(step, Verdict.SKIP, reason, too_late=too_late)
        else:
            finding = _run_step(step, subject)
        if finding.verdict is Verdict.FAIL or missing:
            not_passed.add(step.name)
        findings.append(finding)
        on_finding(finding)
    return findings


def _run_step(step: Step, subject: Subject) -> Finding:
    """Run one step and return its finding."""
    subject.warnings.clear()
    search_count, stray_count = len(subject.searches), len(subject.stray_bestmoves)
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
    if verdict is Verdict.FAIL:
        # One fault causes one failure: later steps do not judge the searches of a failed step.
        del subject.searches[search_count:], subject.stray_bestmoves[stray_count:]
    subject.recover(verdict is Verdict.FAIL)
    seconds = time.monotonic() - started
    others = tuple(dict.fromkeys(w.reason for w in warnings if w.reason != reason))
    return Finding(step, verdict, reason, line, seconds, others)
