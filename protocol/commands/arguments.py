"""The parser and the flags that commands share, and the opening of tables."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from merels.engine.common.errors import InputError, printable, shorten
from merels.engine.common.numbers import read_real, read_whole
from merels.engine.game.rules import DEFAULT_VARIANT, FIELDS, PRESETS, Rules, make_rules
from merels.engine.search.limits import LONGEST, Limit
from merels.engine.search.searcher import DEFAULT_HASH
from merels.engine.tablebase.files import rules_folder
from merels.engine.tablebase.probe import Tables, build_command, open_tables
from merels.engine.tablebase.sectors import MAX_MEN
from merels.protocol.commands.exit_status import USAGE_ERROR
from merels.protocol.common.notices import notify
from merels.protocol.formats.pgn.variants import RecordRules
from merels.protocol.uci.position_command import Setup, read_setup
from merels.protocol.uci.settings import OPTIONS

if TYPE_CHECKING:
    from merels.protocol.client.engine_spec import EngineSpec

Number = TypeVar("Number", int, float)
MAX_NUMBER = LONGEST * 1000
"""Default maximum of a flag's number."""

_FIELDS_HELP = ", ".join(f"{field.name}={'|'.join(field.choices) or 'N'}" for field in FIELDS)


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Help that lists each flag with one dash only; the parser also accepts two dashes."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog)
        self._action_max_length = len("  -h, --help")  # Room for subcommands, such as verify.

    def _format_action_invocation(self, action: argparse.Action) -> str:
        flags, action.option_strings = action.option_strings, action.option_strings[:1]
        text = super()._format_action_invocation(action)
        action.option_strings = flags
        return text


class Parser(argparse.ArgumentParser):
    """An argument parser that prints a mistake on one line and does not hide write errors."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, formatter_class=_HelpFormatter, allow_abbrev=False)
        self.add_argument("-help", action="help", help=argparse.SUPPRESS)

    def _get_option_tuples(self, option_string: str) -> list[Any]:
        """Return no abbreviations, so that -html is not read as -h."""
        return []

    def print_help(self, file: Any = None) -> None:
        """Print the help and raise write errors, which argparse ignores."""
        print(self.format_help(), end="", file=file)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments; an unknown one is an error of this command, not of its parent."""
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            text = f"unrecognized arguments: {' '.join(unknown)}"
            if "-engine" in self._option_string_actions and not unknown[0].startswith("-"):
                from merels.protocol.client.engine_spec import engine_hint

                text += engine_hint(unknown[0])
            self.error(text)
        return options, unknown

    def error(self, message: str) -> NoReturn:
        """Print one line and exit with `USAGE_ERROR`."""
        for action in self._actions:  # argparse names each flag as -to/--to.
            if action.option_strings:
                names = "/".join(action.option_strings)
                message = message.replace(names, action.option_strings[0])
        self.exit(USAGE_ERROR, f"{self.prog}: {printable(message)}; see {self.prog} --help\n")


def make_parser(command: str, description: str, epilog: str = "") -> Parser:
    """Return a parser for ``merels COMMAND``."""
    return Parser(prog=f"merels {command}", description=description, epilog=epilog)


def add_flag(parser: argparse._ActionsContainer, name: str, **settings: Any) -> None:
    """Add the flag ``-name``, also as ``--name``; ``settings`` go to argparse."""
    parser.add_argument(f"-{name}", f"--{name}", **settings)


def add_rules_flags(parser: argparse.ArgumentParser, variant: str = DEFAULT_VARIANT) -> None:
    """Add ``-variant`` and ``-set``; ``variant`` is the default rule set."""
    add_flag(
        parser, "variant", metavar="R", default=variant,
        help=f"rule set: {', '.join(PRESETS)} (default: {variant})",
    )
    add_flag(
        parser, "set", metavar="Field=value", nargs="+", type=_field_setting, action="extend",
        default=[],
        help=f"fields that differ from the rule set: {_FIELDS_HELP} "
        "(N: plies or occurrences, 0: off)",
    )


def add_search_flags(parser: argparse.ArgumentParser) -> None:
    """Add ``-hash`` and ``-threads`` of merels' own search."""
    add_flag(
        parser, "hash", metavar="MIB", type=whole_for_option("Hash"), default=DEFAULT_HASH,
        help=f"size of the transposition table in MiB (default: {DEFAULT_HASH})",
    )
    add_flag(
        parser, "threads", metavar="N", type=whole_for_option("Threads"), default=1,
        help="search threads (default: 1)",
    )


def add_limit_flags(parser: argparse._ActionsContainer, default: str) -> None:
    """Add ``-movetime``, ``-nodes`` and ``-depth``; ``default`` describes their default."""
    for flag, metavar, text in (
        ("movetime", "MS", "limit of each search in milliseconds"),
        ("nodes", "N", "limit of each search in nodes"),
        ("depth", "PLIES", f"limit of each search in plies (without any limit: {default})"),
    ):
        add_flag(parser, flag, metavar=metavar, type=whole_from(1), help=text)


def limit_of(arguments: argparse.Namespace, default: Limit) -> Limit:
    """Return the limit that the flags of `add_limit_flags` set, or ``default`` without any."""
    seconds = arguments.movetime and arguments.movetime / 1000
    limit = Limit(time=seconds, nodes=arguments.nodes, depth=arguments.depth)
    return default if limit == Limit() else limit


def add_engine_flag(parser: argparse.ArgumentParser, text: str, **settings: Any) -> None:
    """Add ``-engine``, the command and settings of an engine; ``text`` begins its help."""
    add_flag(
        parser, "engine", nargs="+", metavar="KEY=VALUE", **settings,
        help=f"{text}: cmd=PROGRAM and, if needed, args=\"ARGUMENTS\", name=NAME, proto=PROTOCOL, "
        "dir=FOLDER to run in, option.NAME=VALUE; or level=LEVEL of merels itself, such as Club, "
        "1200 or perfect; cpu=SECONDS, memory=MIB and core=MIB limit each of its processes; "
        "rules=known if it plays by the chosen rules without options for them",
    )


def read_engine_flag(
    words: Sequence[str], protocols: Sequence[str], rules: Sequence[Rules]
) -> EngineSpec:
    """Parse the words of one ``-engine``; for ``level=perfect``, print what its tables cover.

    ``rules`` are the rules of the games that the engine may play.
    """
    from merels.protocol.client.engine_spec import read_engine  # Few commands start an engine.
    from merels.protocol.client.perfect import table_coverage

    spec = read_engine(words, protocols)
    for text in table_coverage(spec, rules):
        notify(text)
    return spec


def add_report_flags(parser: argparse.ArgumentParser, formats: Sequence[str]) -> None:
    """Add ``-out``, the file of a report, and ``-format``, one of ``formats``."""
    add_flag(parser, "out", metavar="FILE", help="write to this file (default: standard output)")
    add_flag(
        parser, "format", choices=formats,
        help="the report's format (default: by the ending of -out, else text)",
    )


def rules_of(arguments: argparse.Namespace) -> Rules:
    """Return the rules that ``-variant`` and ``-set`` choose."""
    variant = DEFAULT_VARIANT if arguments.variant is None else arguments.variant
    return make_rules(variant, arguments.set)


def record_rules(arguments: argparse.Namespace) -> RecordRules:
    """Return the rules for reading records; ``-variant`` and ``-set`` override a record's rules.

    The parser must have no default for -variant: call `leave_variant_open` on it.
    """
    return RecordRules(
        rules_of(arguments), arguments.variant, tuple(arguments.set), True,
        "-variant overrides the tag",
    )


def leave_variant_open(parser: argparse.ArgumentParser) -> None:
    """Remove the default of -variant, so that `record_rules` sees whether it was given."""
    parser.set_defaults(variant=None)


def setup_of(words: Sequence[str], rules: Rules) -> Setup:
    """Parse a position of a command line: ``startpos`` or six fields, then perhaps ``moves M …``.

    It may be one quoted word or several words; no words mean startpos.
    """
    if not words:
        return Setup().under(rules)
    text = " ".join(words)
    words = text.split()
    if not words:
        raise InputError(text, "expected a position, found an empty text; try startpos")
    if words[0].lower() not in ("startpos", "fen"):
        if len(words) == 1:
            raise InputError(text, "expected startpos or the 6 fields of a position")
        words = ["fen", *words]
    return read_setup(words, rules)


def _field_setting(text: str) -> str:
    """Check a word after ``-set``, which would otherwise also take the command's arguments."""
    if "=" in text:
        return text
    raise argparse.ArgumentTypeError(
        f"expected Field=value, found '{shorten(text)}'; put other words before -set"
    )


def whole_from(low: int, high: int = MAX_NUMBER) -> Callable[[str], int]:
    """Return a parser of whole numbers from ``low`` to ``high``, for argparse's ``type``."""
    return _flag_value(lambda text: read_whole(text, low, high))


def real_from(low: float, high: float, what: str) -> Callable[[str], float]:
    """Return a parser of numbers from ``low`` to ``high``; ``what`` names the unit in errors."""
    return _flag_value(lambda text: read_real(text, low, high, what=what))


def _flag_value(read: Callable[[str], Number]) -> Callable[[str], Number]:
    """Wrap a parser so that argparse prints its errors."""

    def checked(text: str) -> Number:
        try:
            return read(text)
        except InputError as error:
            raise argparse.ArgumentTypeError(f"{error.expected}, found '{shorten(text)}'") from None

    return checked


def whole_for_option(name: str) -> Callable[[str], int]:
    """Return a parser of whole numbers within the bounds of merels' engine option ``name``."""
    option = OPTIONS[name]
    return whole_from(option.minimum or 0, option.maximum or 0)


def open_usable_tables(
    root: Path, rules: Rules, men: int = MAX_MEN, check: bool = False
) -> Tables:
    """Open a rule set's tables in the folder ``root``; print a line for each unusable table.

    Raise `InputError` if no table is usable.
    """
    tables = open_tables(root, rules, men, check)
    for problem in tables.problems:
        notify(problem)
    require_tables(tables, root)
    return tables


def require_tables(tables: Tables, root: Path) -> None:
    """Raise `InputError`, with the command that builds tables, if ``tables`` is empty."""
    if not tables.headers:
        rules = tables.rules
        raise InputError(
            str(root / rules_folder(rules)),
            f"no usable tables here; make them with {build_command(rules, root)}",
        )
