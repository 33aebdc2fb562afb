"""``merels check``: its command line."""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace

from merels.engine.common.errors import InputError
from merels.protocol.check.conversation import FAST, Fault, Pace
from merels.protocol.check.report import Printer, as_json, heading, listing, summary
from merels.protocol.check.step import PROTOCOLS, Verdict
from merels.protocol.check.subject import Subject
from merels.protocol.check.suite import choose, run
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
from merels.protocol.process.errors import EngineError

DESCRIPTION = """\
Checks whether an engine keeps to the protocol, in about a hundred steps: the greeting, options,
positions, searches and their limits, stopping, strange input, the end of the process, and the
legality of every move that the engine plays or expects.

  merels check -engine cmd=./myengine
  merels check -engine cmd=python args="my engine.py" proto=ugi option.Hash=64
  merels check -engine cmd=./myengine -only ponder-hit,stop -timeout 20
  merels check -engine cmd=./myengine -variant morris -set NoRemovalPlies=100
"""
EPILOG = """\
A step passes (ok), fails, is skipped if the engine does not offer what it tests, or warns of output
that is allowed but a problem with some clients. A failure shows the engine's output, the expected
output and the reason. An engine that dies or hangs is restarted for the next step. After three
failed starts the remaining steps are skipped, and no step begins after five minutes.

Moves are judged by the rules that the defaults of the engine's options name (UCI_Variant and the
rule fields). -variant and -set set those without an option.

Exit status: 0 if nothing failed, 1 if something did, 2 if the engine cannot be started or the
command line is wrong.
"""


def main(argv: list[str]) -> int:
    """Check the engine that the arguments name; returns the exit status."""
    parser = make_parser("check", DESCRIPTION, EPILOG)
    add_engine_flag(parser, "the engine to check", action="append", default=[])
    add_flag(
        parser, "fast", action="store_true",
        help="the same steps with shorter searches and waits, for every build",
    )
    add_flag(parser, "only", metavar="NAME,…", default="", help="only these steps or groups")
    add_flag(
        parser, "list", action="store_true",
        help="print the steps and what each expects, and run none",
    )
    add_flag(parser, "json", action="store_true", help="print the report as one JSON object")
    add_flag(
        parser, "timeout", metavar="S", type=real_from(0.001, 3600, "seconds"),
        help="seconds to wait for an answer (default 5, with -fast 3; at least 10 for a start and "
        "15 for the first readyok)",
    )
    add_rules_flags(parser)
    return _check(parser.parse_args(argv))


def _check(arguments: argparse.Namespace) -> int:
    """Run the steps that the flags choose and print the report."""
    steps = choose([name.strip() for name in arguments.only.split(",") if name.strip()])
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
    candidate = read_engine_flag(arguments.engine[0], PROTOCOLS, [rules])
    subject = Subject(candidate, pace, rules)
    try:
        started = time.monotonic()
        _try_start(subject)
        printer = Printer()
        if not arguments.json:
            print(heading(subject), flush=True)
        findings = run(steps, subject, (lambda _: None) if arguments.json else printer.show)
        seconds = time.monotonic() - started
        if arguments.json:
            print(json.dumps(as_json(subject, findings, seconds), indent=2))
        else:
            printer.end()
            print(summary(findings, seconds))
    finally:
        subject.discard()
    failed = any(finding.verdict is Verdict.FAIL for finding in findings)
    return FAILED if failed else OK


def _try_start(subject: Subject) -> None:
    """Start the engine once to learn its name and options.

    The first step reports one that does not greet.
    """
    try:
        subject.spawn()
    except EngineError as error:
        raise InputError(subject.candidate.command[0], str(error)) from None
    try:
        subject.ensure_started()
    except (EngineError, Fault) as failure:
        subject.discard()
        subject.failure = failure
    options = subject.greeting.options
    for name, value in subject.candidate.options:
        try:
            # An engine that declares no options at all is sent everything.
            if options:
                options.find(name).check(value)
        except InputError as error:
            raise InputError(f"{OPTION}{name}={value}", error.expected) from None
