"""The output of ``merels check``."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import Any

from merels.engine.common.errors import printable, quoted
from merels.engine.common.numbers import counted
from merels.protocol.check.run import STEPS
from merels.protocol.check.step import GROUPS, Finding, Step, Verdict
from merels.protocol.check.subject import Subject

WIDTH = 98
"""Maximum length of wrapped lines, in characters."""
NAME_WIDTH = max(len(step.name) for step in STEPS)
INDENT = " " * 8
_MARKS = {Verdict.PASS: "ok   ", Verdict.FAIL: "FAIL ", Verdict.WARN: "warn "}
"""Marks before the names of steps, of equal length."""


class Printer:
    """Prints findings as their steps end, under the titles of their groups."""

    def __init__(self) -> None:
        self._group = ""

    def show(self, finding: Finding) -> None:
        """Print a finding; `summary` names the skipped steps."""
        if finding.verdict is Verdict.SKIP:
            return
        if finding.step.group != self._group:
            self._group = finding.step.group
            print(f"\n{GROUPS[self._group]}")
        print("\n".join(lines_of(finding)), flush=True)


def lines_of(finding: Finding) -> list[str]:
    """Return a finding's lines; for a failure they include the expected behaviour."""
    mark = _MARKS[finding.verdict]
    reason = printable(finding.reason)
    if finding.verdict is Verdict.PASS:
        return [f"  {mark} {finding.step.name}"]
    lines = [f"  {mark} {finding.step.name:<{NAME_WIDTH}}  {reason}"]
    if finding.line is not None:
        lines.append(f"{INDENT}wrote: {quoted(finding.line)}")
    lines += [f"{INDENT}also: {printable(other)}" for other in finding.others]
    if finding.verdict is Verdict.FAIL:
        lines += textwrap.wrap(
            f"expected: {finding.step.expected}", WIDTH, initial_indent=INDENT,
            subsequent_indent=INDENT + "  ",
        )
    return lines


def _identity(subject: Subject) -> dict[str, str]:
    """Return the engine's name and author, from the ``id`` lines of its greeting."""
    return {line.words[1]: " ".join(line.words[2:]) for line in subject.greeting
            if line.first == "id" and len(line.words) > 2}


def heading(subject: Subject) -> str:
    """Return a line with the engine's name, its dialect, and the rules that judge its moves."""
    own_name = printable(_identity(subject).get("name", "unnamed engine"))
    name = printable(subject.spec.name) or own_name
    alias = f" ({own_name})" if name != own_name else ""
    return f"{name}{alias}, {subject.dialect.name}, judged by the rules of {subject.rules}"


def summary(findings: Sequence[Finding], seconds: float, missing: Sequence[str] = ()) -> str:
    """Return the closing lines: skipped steps, counts, failed steps, readiness for tournaments.

    ``missing`` lists rule fields for which the engine has no option, see `Subject.missing_rules`.
    """
    counts = Counter(finding.verdict for finding in findings)
    parts = [f"{counts[Verdict.PASS]} passed", f"{counts[Verdict.FAIL]} failed"]
    for verdict, text in (
        (Verdict.WARN, counted(counts[Verdict.WARN], "warning")),
        (Verdict.SKIP, f"{counts[Verdict.SKIP]} skipped"),
    ):
        if counts[verdict]:
            parts.append(text)
    failed = [finding.step.name for finding in findings if finding.verdict is Verdict.FAIL]
    text = _skipped(findings) + f"\n{', '.join(parts)} of {len(findings)} steps in {seconds:.1f} s"
    if failed:
        text += f"\nto repeat the failed steps: -only {','.join(failed)}"
        text += f"\nready for tournaments: no, because of {', '.join(failed)}"
    elif len(findings) == len(STEPS):  # With -only, a run proves nothing about the other steps.
        late = sum(finding.too_late for finding in findings)
        unknown = f"unknown, because the time limit skipped {counted(late, 'step')}"
        text += f"\nready for tournaments: {unknown if late else 'yes, nothing failed'}"
        if missing and not late:
            text += f", but it has no option for {', '.join(missing)}: add rules=known to -engine"
    return text


def _skipped(findings: Sequence[Finding]) -> str:
    """Return lines with the skipped steps by reason, or ''."""
    by_reason: dict[str, list[str]] = {}
    for finding in findings:
        if finding.verdict is Verdict.SKIP:
            by_reason.setdefault(printable(finding.reason), []).append(finding.step.name)
    paragraphs = (
        textwrap.fill(
            f"{', '.join(names)} ({reason})", WIDTH, initial_indent="  ",
            subsequent_indent=INDENT, break_on_hyphens=False,
        )
        for reason, names in by_reason.items()
    )
    text = "\n".join(paragraphs)
    return f"\nSkipped\n{text}\n" if text else ""


def as_json(subject: Subject, findings: Sequence[Finding], seconds: float) -> dict[str, Any]:
    """Return the whole report as a JSON object; ``seconds`` is the duration of the run."""
    counts = Counter(finding.verdict for finding in findings)
    identity = _identity(subject)
    return {
        "engine": {
            "name": subject.spec.name or identity.get("name", ""),
            "author": identity.get("author", ""),
            "protocol": subject.dialect.name,
            "rules": str(subject.rules),
            "missing_rules": subject.missing_rules(),
        },
        "steps": [
            {
                "group": finding.step.group,
                "name": finding.step.name,
                "verdict": finding.verdict.value,
                "reason": finding.reason,
                # Escaped as in the text, but without the quotes.
                "line": None if finding.line is None else quoted(finding.line)[1:-1],
                "also": list(finding.others),
                "expected": finding.step.expected,
                "seconds": round(finding.seconds, 3),
            }
            for finding in findings
        ],
        "summary": {
            **{verdict.value: counts[verdict] for verdict in Verdict},
            "seconds": round(seconds, 3),
        },
    }


def listing(steps: Sequence[Step]) -> str:
    """Return a list of the steps with their expected behaviour, by group."""
    lines: list[str] = []
    group = ""
    for step in steps:
        if step.group != group:
            group = step.group
            lines += ["", f"{GROUPS[group]} ({group})"]
        only = "" if len(step.protocols) > 1 else f" [{step.protocols[0]} only]"
        lines.append(f"  {step.name}{only}")
        lines += textwrap.wrap(
            step.expected, WIDTH, initial_indent=INDENT, subsequent_indent=INDENT
        )
    return "\n".join(lines[1:])
