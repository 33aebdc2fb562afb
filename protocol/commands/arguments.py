"""What the shell commands share: their common flags, tables, a search that Ctrl-C ends."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event, Thread
from typing import Any, NoReturn

from merels.engine.game.errors import InputError, printable, shorten
from merels.engine.game.numbers import read_whole
from merels.engine.game.position import Position
from merels.engine.game.rules import DEFAULT_VARIANT, FIELDS, PRESETS, Rules, make_rules
from merels.engine.search.levels import Level
from merels.engine.search.limits import LONGEST, MOST_SECONDS, Info, Limit, Result
from merels.engine.search.searcher import Searcher
from merels.engine.tablebase.files import rules_folder
from merels.engine.tablebase.probe import Tables, open_tables
from merels.engine.tablebase.sectors import MAX_MEN
from merels.protocol.commands.exit_status import USAGE_ERROR
from merels.protocol.uci.options import TABLE
from merels.protocol.uci.position_command import Setup, read_setup

MOST = LONGEST * 1000
"""The greatest number that a flag takes unless it says otherwise."""
_LOOK_UP = 0.1
"""Seconds between checks for Ctrl-C, which does not wake a waiting thread on Windows."""

_FIELDS_HELP = ", ".join(f"{field.name}={'|'.join(field.choices) or 'N'}" for field in FIELDS)


class Parser(argparse.ArgumentParser):
    """A parser that reports a mistake in one line, and a full disk when it prints its help."""

    def print_help(self, file: Any = None) -> None:
        """Write the help; argparse's own method ignores a write that fails."""
        print(self.format_help(), end="", file=file)

    def error(self, message: str) -> NoReturn:
        """Exit with one line and the status of a usage error."""
        self.exit(USAGE_ERROR, f"{self.prog}: {printable(message)}; see {self.prog} --help\n")


def make_parser(command: str, description: str, epilog: str = "") -> Parser:
    """A parser for ``merels COMMAND``."""
    return Parser(
        prog=f"merels {command}",
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def add_flag(parser: argparse._ActionsContainer, name: str, **settings: Any) -> None:
    """Add ``-name``, also accepted with two dashes; ``settings`` are those of argparse."""
    parser.add_argument(f"-{name}", f"--{name}", **settings)


def add_rules_flags(parser: argparse.ArgumentParser, variant: str = DEFAULT_VARIANT) -> None:
    """Add the flags that choose the rules; ``variant`` is the default rule set."""
    add_flag(
        parser,
        "variant",
        metavar="R",
        default=variant,
        help=f"the rule set: {', '.join(PRESETS)} (default: {variant})",
    )
    add_flag(
        parser,
        "set",
        metavar="Field=value",
        nargs="+",
        type=_field_setting,
        action="extend",
        default=[],
        help=f"rule fields to change in it: {_FIELDS_HELP} (N plies or times, 0: off)",
    )


def rules_of(arguments: argparse.Namespace) -> Rules:
    """The rules that the flags choose."""
    return make_rules(arguments.variant, arguments.set)


def setup_of(words: Sequence[str], rules: Rules) -> Setup:
    """The position that words on a command line name: ``startpos`` or its text, quoted or not.

    ``moves`` and moves may follow.
    """
    words = " ".join(words).split()
    if not words:
        return Setup().under(rules)
    if words[0].lower() not in ("startpos", "fen"):
        words = ["fen", *words]
    return read_setup(words, rules)


def _field_setting(text: str) -> str:
    """A word after ``-set``, which would otherwise swallow the command's own arguments."""
    if "=" in text:
        return text
    raise argparse.ArgumentTypeError(
        f"expected Field=value, found '{shorten(text)}'; put other words before -set"
    )


def whole_from(low: int, high: int = MOST) -> Callable[[str], int]:
    """A reader of a flag's number from ``low`` to ``high``."""

    def read(text: str) -> int:
        try:
            return read_whole(text, low, high)
        except InputError as error:
            raise argparse.ArgumentTypeError(f"{error.expected}, found '{shorten(text)}'") from None

    return read


def read_seconds(text: str) -> float:
    """A thinking time, from a millisecond to a day."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if 0.001 <= seconds <= MOST_SECONDS:
        return seconds
    raise InputError(text, "expected seconds above 0, for example 0.5")


def like_option(name: str) -> Callable[[str], int]:
    """A reader of a flag's number within the bounds of the engine option of that name."""
    option = TABLE[name]
    return whole_from(option.minimum or 0, option.maximum or 0)


def open_named(
    command: str, root: Path, rules: Rules, men: int = MAX_MEN, check: bool = False
) -> Tables:
    """The tables in a folder that a user named; reports those that cannot be used.

    An `InputError` where there is no usable one.
    """
    tables = open_tables(root, rules, men, check)
    for problem in tables.problems:
        print(f"merels {command}: {problem}", file=sys.stderr)
    if not tables.headers:
        raise InputError(
            str(root / rules_folder(rules)),
            "no usable table here; make them with merels tables build",
        )
    return tables


def search(
    searcher: Searcher,
    position: Position,
    limit: Limit,
    on_info: Callable[[Info], None] | None = None,
    *,
    multipv: int = 1,
    level: Level | None = None,
) -> tuple[Result, bool]:
    """A search's result, and whether Ctrl-C ended it."""
    results: list[Result] = []
    errors: list[Exception] = []
    done = Event()  # In Python 3.11 a thread that Ctrl-C ceases to wait for counts as ended.

    def job() -> None:
        try:
            results.append(
                searcher.search(position, limit, on_info, multipv=multipv, level=level)
            )
        except Exception as error:
            errors.append(error)
        finally:
            done.set()

    searcher.prepare()
    searcher.arm()
    Thread(target=job).start()
    interrupted = False
    while True:
        try:
            if done.wait(_LOOK_UP):
                break
        except KeyboardInterrupt:
            interrupted = True
            searcher.stop()
    if errors:
        raise errors[0]
    if results[0].missing:
        had = searcher.threads - results[0].missing
        print(f"merels: the system allows {had} of {searcher.threads} threads", file=sys.stderr)
    return results[0], interrupted
