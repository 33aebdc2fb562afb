"""``merels check``: command line, start of the engine, and report."""

from __future__ import annotations

import argparse
import json
import os
import time
from dataclasses import replace

from merels.engine.common.errors import InputError
from merels.engine.game.rules import DEFAULT_RULES
from merels.protocol.check.conversation import FAST, Fault, Pace
from merels.protocol.check.report import Printer, as_json, heading, listing, summary
from merels.protocol.check.run import choose, run
from merels.protocol.check.step import PROTOCOLS, Verdict
from merels.protocol.check.subject import Subject
from merels.protocol.client.engine_spec import OPTION
from merels.protocol.commands.arguments import (
    add_engine_flag,
    add_flag,
    add_rules_flags,
    make_parser,
    read_engine_flag,
    real_from,
    rules_of,
)
from merels.protocol.commands.exit_status import FAILED, OK
from merels.protocol.common.notices import notify
from merels.protocol.process.errors import EngineError, EngineTerminated

DESCRIPTION = """\
Tests whether an engine follows the protocol, in about sixty steps.

  merels check -engine cmd=./myengine
  merels check -engine cmd=python args="my engine.py" proto=ugi option.Hash=64
  merels check -engine cmd=./myengine -only ponder-hit,stop -timeout 20
  merels check -engine cmd=./myengine -variant morris -set NoRemovalPlies=100

The steps test the greeting, options, positions, search limits, stop, malformed input, the end of
the process, and the legality of every bestmove and pv.
"""
EPILOG = """\
A step passes (ok), fails (FAIL), warns of output that some clients cannot handle (warn), or is
skipped: it does not apply to the engine, or needs a step that failed. A failure shows the
reason, the engine's output and the expected behaviour. An engine that dies or hangs is restarted
for the next step. After three failed starts in a row, or after five minutes, the remaining steps
are skipped.

Moves are judged by the rules of the engine's options (UCI_Variant and the rule fields): their
defaults, or the values of option.NAME=VALUE. -variant and -set determine the fields for which the
engine has no option. Tournaments by such rules need rules=known; the last line names the fields.

Exit status: 0 if no step failed, 1 if a step failed, 2 if the engine cannot be started or the
command line is wrong.
"""


def main(argv: list[str]) -> int:
    """Check an engine; return the exit status."""
    parser = make_parser("check", DESCRIPTION, EPILOG)
    add_engine_flag(parser, "the engine to check", action="append", default=[])
    add_flag(
        parser, "fast", action="store_true",
        help="shorten searches and timeouts, for use in continuous integration",
    )
    add_flag(parser, "only", metavar="NAME,…", help="run only these steps or groups")
    add_flag(
        parser, "list", action="store_true",
        help="print the steps with their expected behaviour, and run none",
    )
    add_flag(parser, "json", action="store_true", help="print the report as one JSON object")
    add_flag(
        parser, "timeout", metavar="S", type=real_from(0.001, 3600, "seconds"),
        help="timeout of an answer in seconds (default: 5, with -fast 3); the timeout of a start "
        "is at least 10, the timeout of the first readyok at least 15",
    )
    add_rules_flags(parser)
    return _check(parser.parse_args(argv))


def _check(arguments: argparse.Namespace) -> int:
    """Run the steps that the flags select, and print the report."""
    only: str | None = arguments.only
    steps = choose([] if only is None else [name.strip() for name in only.split(",")])
    if arguments.list:
        print(listing(steps))
        return 0
    if len(arguments.engine) != 1:
        raise InputError("-engine", "expected one engine to check, as in -engine cmd=./myengine")
    pace = FAST if arguments.fast else Pace()
    if arguments.timeout is not None:
        seconds = arguments.timeout
        start, ready = max(pace.start, seconds), max(pace.ready, seconds)
        pace = replace(pace, answer=seconds, start=start, ready=ready)
    rules = rules_of(arguments)
    spec = read_engine_flag(arguments.engine[0], PROTOCOLS, [rules])
    subject = Subject(spec, pace, rules)
    # An engine in Python that inherits it passes without flushing its lines.
    os.environ.pop("PYTHONUNBUFFERED", None)
    try:
        started = time.monotonic()
        _try_start(subject)
        printer = Printer()
        if not arguments.json:
            print(heading(subject), flush=True)
        if rules not in (DEFAULT_RULES, subject.rules):
            notify(
                "-variant and -set do not change the rules of an engine with options for them; "
                f"add option.UCI_Variant={rules.variant} to -engine"
            )
        findings = run(steps, subject, (lambda _: None) if arguments.json else printer.show)
        seconds = time.monotonic() - started
        if arguments.json:
            print(json.dumps(as_json(subject, findings, seconds), indent=2))
        else:
            print(summary(findings, seconds, subject.missing_rules()))
    finally:
        subject.discard()
    failed = any(finding.verdict is Verdict.FAIL for finding in findings)
    return FAILED if failed else OK


def _try_start(subject: Subject) -> None:
    """Start the engine to read its name and options.

    Raise `InputError` if the program cannot run, if it ends instead of greeting, or if an option is
    wrong. The first step that needs the engine reports any other failure.
    """
    try:
        subject.spawn()
    except EngineError as error:
        raise InputError(subject.spec.command[0], str(error)) from None
    try:
        subject.ensure_started()
    except EngineTerminated as error:
        raise InputError(subject.spec.command[0], f"does not start ({error.how})") from None
    except (EngineError, Fault):
        subject.discard()
    for name, value in subject.spec.options:
        try:
            subject.options.check(name, value)
        except InputError as error:
            raise InputError(f"{OPTION}{name}={value}", error.expected) from None
