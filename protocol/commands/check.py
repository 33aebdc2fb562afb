"""``merels check``: its command line."""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace

from merels.engine.game.errors import InputError, shorten
from merels.protocol.check.conversation import FAST, Pace
from merels.protocol.check.faults import Fault
from merels.protocol.check.report import Printer, as_json, heading, listing, summary
from merels.protocol.check.runner import run
from merels.protocol.check.step import PROTOCOLS, Verdict
from merels.protocol.check.subject import Subject
from merels.protocol.check.suite import choose
from merels.protocol.client.engine_spec import OPTION, read_engine
from merels.protocol.commands.arguments import add_flag, add_rules_flags, make_parser, rules_of
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
Each step passes (ok), fails, is skipped where the engine does not offer what it is about, or
warns of what is allowed but unusual. A failure shows what the engine said and what was expected,
and why. An engine that dies or hangs is started again for the next step; after three failed
starts the rest is skipped, and after five minutes no further step begins.

Moves are judged by the rules that the engine's defaults name (UCI_Variant and the rule fields).
What it has no option for is said by -variant and -set.

Exit code: 0 when nothing failed, 1 when something did, 2 when the engine cannot be started or
the command line is wrong.
"""


def main(argv: list[str]) -> int:
    """Check the engine that the arguments name; returns the exit code."""
    parser = make_parser("check", DESCRIPTION, EPILOG)
    add_flag(
        parser, "engine", nargs="+", action="append", default=[], metavar="KEY=VALUE",
        help="cmd=PROGRAM, args=\"ARGUMENTS\", proto=uci|ugi, dir=FOLDER to run in, name=NAME, "
        "option.NAME=VALUE to set at every start; cpu=SECONDS, memory=MIB, core=MIB: the most its "
        "processes may use",
    )
    add_flag(
        parser, "fast", action="store_true",
        help="shorter searches and waits, for every build; the same steps",
    )
    add_flag(parser, "only", metavar="NAME,…", default="", help="these steps or groups alone")
    add_flag(
        parser, "list", action="store_true",
        help="print the steps and what each expects, and run none",
    )
    add_flag(parser, "json", action="store_true", help="print the report as one JSON object")
    add_flag(
        parser, "timeout", metavar="S", type=_seconds,
        help="seconds to wait for an answer that is due (default 5, -fast 3; a start gets at "
        "least 10, the first readyok 15)",
    )
    add_rules_flags(parser)
    arguments = parser.parse_args(argv)
    return _check(arguments)


def _seconds(text: str) -> float:
    """A flag's time."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 3600:
        raise argparse.ArgumentTypeError(
            f"expected seconds above 0, 3600 at most, found '{shorten(text)}'"
        )
    return value


def _check(arguments: argparse.Namespace) -> int:
    """The command, once its flags are read."""
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
    candidate = read_engine(arguments.engine[0], PROTOCOLS)
    subject = Subject(candidate, pace, rules_of(arguments))
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
        subject.close()
    failed = any(finding.verdict is Verdict.FAIL for finding in findings)
    return FAILED if failed else OK


def _try_start(subject: Subject) -> None:
    """Starts the engine once for its name and options.

    One that does not greet is the first step's matter.
    """
    try:
        subject.spawn()
    except EngineError as error:
        raise InputError(subject.candidate.command[0], str(error)) from None
    try:
        subject.start()
    except (EngineError, Fault) as failure:
        subject.discard()
        subject.failure = failure
    options = subject.greeting.options
    for name, value in subject.candidate.options:
        try:
            # One that tells of no option at all is sent everything as it is.
            if options:
                options.find(name).check(value)
        except InputError as error:
            raise InputError(f"{OPTION}{name}={value}", error.expected) from None
