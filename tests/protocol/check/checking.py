"""Functions that run steps of the check against fake engines."""

from __future__ import annotations

import re

from merels.protocol.check.conversation import Pace
from merels.protocol.check.run import MAX_SECONDS, choose, run
from merels.protocol.check.step import Finding, Verdict
from merels.protocol.check.subject import Subject
from merels.protocol.client.engine_spec import EngineSpec
from tests.kit import fakes

QUICK = Pace(answer=1.5, ready=4.0, watch=0.05, listen=0.05, movetime=40, plies=4, games=1)
"""A pace for tests, with short timeouts and games."""


def faulty(script: str = "", protocol: str = "uci") -> EngineSpec:
    """Return merels with the faults of a script."""
    return EngineSpec(fakes.fake(f"start: merels; {script}"), protocol=protocol)


def fake(mode: str) -> EngineSpec:
    """Return a fake engine with a script."""
    return EngineSpec(fakes.fake(mode))


def check(
    engine: EngineSpec | Subject, only: str = "", pace: Pace = QUICK,
    max_seconds: float = MAX_SECONDS,
) -> list[Finding]:
    """Run the steps of ``only``, names separated by commas, or all; return their findings."""
    subject = engine if isinstance(engine, Subject) else Subject(engine, pace)
    steps = choose([name for name in only.split(",") if name])
    try:
        return run(steps, subject, lambda _: None, max_seconds)
    finally:
        subject.discard()


def failed(findings: list[Finding]) -> dict[str, str]:
    """Return the reason of each failed step, by name."""
    return {f.step.name: f.reason for f in findings if f.verdict is Verdict.FAIL}


def verdict(finding: Finding) -> Verdict:
    """Return a finding's verdict; a warning of a delay counts as a pass.

    A busy machine may delay any answer.
    """
    is_delay = finding.verdict is Verdict.WARN and re.search(r"\d\.\d+ s\b", finding.reason)
    return Verdict.PASS if is_delay else finding.verdict
