"""``merels suite``: the engine's blunders in positions with proven values."""

from __future__ import annotations

import sys
from pathlib import Path

from merels.engine.common.errors import InputError, placed, printable
from merels.engine.game.notation import format_position
from merels.engine.game.rules import Rules
from merels.engine.search.limits import Limit
from merels.engine.search.searcher import Searcher
from merels.engine.tools.suite import BlunderCount, Problem, load, play
from merels.protocol.commands.arguments import (
    add_flag,
    add_limit_flags,
    add_rules_flags,
    add_search_flags,
    limit_of,
    make_parser,
    open_usable_tables,
    rules_of,
    whole_from,
)
from merels.protocol.common.files import system_error
from merels.protocol.terminal.progress import ProgressLine

_DEFAULT_NODES = 100_000


def _load(path: Path, rules: Rules) -> list[Problem]:
    """Load a file's positions; `InputError` names the file and, if one is invalid, the position."""
    try:
        return load(path, rules)
    except OSError as error:
        raise system_error(str(path), "read", error) from None
    except InputError as error:
        if error.index is None:
            raise
        raise placed(error, f"position {error.index + 1} of {printable(str(path))}") from None


def main(argv: list[str]) -> int:
    """Search every position of a file and count the moves that lose the proven value."""
    parser = make_parser(
        "suite",
        "Searches every position of a file of proven positions, and counts the moves that turn a\n"
        "win into a draw or loss, or a draw into a loss, by phase and value.",
    )
    parser.add_argument(
        "file", metavar="FILE", type=Path, help="JSON list of {position, value, moves, best}"
    )
    limit_flags = parser.add_mutually_exclusive_group()
    add_limit_flags(limit_flags, f"-nodes {_DEFAULT_NODES}")
    add_rules_flags(parser, "morris")
    add_search_flags(parser)
    add_flag(
        parser, "every", metavar="N", type=whole_from(1), default=1,
        help="search only every Nth position (default: 1)",
    )
    add_flag(
        parser, "tables", metavar="DIR", type=Path,
        help="use the tables of perfect play in this folder",
    )
    add_flag(
        parser, "known", action="store_true", help="search only positions that are in the tables"
    )
    add_flag(parser, "show", action="store_true", help="print each blunder")
    arguments = parser.parse_args(argv)
    if arguments.known and arguments.tables is None:
        raise InputError("-known", "expected -tables DIR as well")
    rules = rules_of(arguments)
    problems = _load(arguments.file, rules)[:: arguments.every]
    searcher = Searcher(arguments.hash, arguments.threads)
    if arguments.tables is not None:
        tables = searcher.tables = open_usable_tables(arguments.tables, rules)
        if arguments.known:
            problems = [
                problem for problem in problems if tables.probe(problem.position) is not None
            ]
    if not problems:
        raise InputError(str(arguments.file), "expected positions to search, found none")
    tally, limit = BlunderCount(), limit_of(arguments, Limit(nodes=_DEFAULT_NODES))
    with ProgressLine() as bar:
        for number, (problem, move, held) in enumerate(play(problems, limit, searcher), 1):
            tally.add(problem, held)
            if sys.stderr.isatty():
                bar.show(number / len(problems), f"{number} of {len(problems)} positions")
            if arguments.show and not held:
                bar.clear()
                best = " ".join(sorted(map(str, problem.best)))
                text = f"{format_position(problem.position)} ({problem.position.rules})"
                print(f"{text}: played {move}, holding: {best}")
    print("\n".join(tally.lines()))
    return 0
