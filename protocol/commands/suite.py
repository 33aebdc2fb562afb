"""``merels suite``: how many moves throw away a proven value."""

from __future__ import annotations

import argparse
from pathlib import Path

from merels.engine.game.errors import InputError, printable
from merels.engine.game.notation import format_position
from merels.engine.game.rules import Rules
from merels.engine.search.limits import Limit
from merels.engine.search.searcher import DEFAULT_HASH, Searcher
from merels.engine.tools.suite import Problem, Tally, load, play
from merels.protocol.commands.arguments import (
    add_flag,
    add_rules_flags,
    like_option,
    make_parser,
    open_named,
    rules_of,
    whole_from,
)

_DEFAULT_NODES = 100_000


def _is_known(searcher: Searcher, problem: Problem) -> bool:
    """Whether the searcher's tables know a position."""
    return searcher.tables is not None and searcher.tables.probe(problem.position) is not None


def _load(path: Path, rules: Rules) -> list[Problem]:
    """The file's problems; errors name it, and which problem they are of."""
    try:
        return load(path, rules)
    except InputError as error:
        if error.index is None:
            raise
        place = f"position {error.index + 1} of {printable(str(path))}"
        raise InputError(error.token, f"{error.expected}, in {place}") from None


def main(argv: list[str]) -> int:
    """Play every position of a file and print the moves that threw the value away."""
    parser = make_parser(
        "suite",
        "Plays every position of a file of proven positions and counts the moves that throw the\n"
        "value away, by phase and value.",
    )
    parser.add_argument(
        "file", metavar="FILE", type=Path, help="JSON list of {position, value, moves, best}"
    )
    limit = parser.add_mutually_exclusive_group()
    for flag, metavar, text in (
        ("movetime", "MS", "milliseconds a move"),
        ("nodes", "N", f"nodes a move (default: {_DEFAULT_NODES})"),
        ("depth", "N", "plies a move"),
    ):
        add_flag(limit, flag, metavar=metavar, type=whole_from(1), help=text)
    add_rules_flags(parser, "morris")
    for flag, metavar, kind, default, text in (
        ("threads", "N", like_option("Threads"), 1, "search on so many threads (default: 1)"),
        (
            "hash", "MIB", like_option("Hash"), DEFAULT_HASH,
            f"memory of the search (default: {DEFAULT_HASH})",
        ),
        ("every", "N", whole_from(1), 1, "play only each Nth position"),
    ):
        add_flag(parser, flag, metavar=metavar, type=kind, default=default, help=text)
    add_flag(
        parser, "tables", metavar="DIR", type=Path,
        help="play with the tables of perfect play kept there",
    )  # fmt: skip
    add_flag(
        parser, "known", action="store_true",
        help="play only positions that these tables know",
    )  # fmt: skip
    add_flag(parser, "show", action="store_true", help="print each move that failed")
    arguments = parser.parse_args(argv)
    return _suite(arguments)


def _suite(arguments: argparse.Namespace) -> int:
    movetime = arguments.movetime and arguments.movetime / 1000
    limit = Limit(time=movetime, nodes=arguments.nodes, depth=arguments.depth)
    if limit == Limit():
        limit = Limit(nodes=_DEFAULT_NODES)
    if arguments.known and arguments.tables is None:
        raise InputError("-known", "expected -tables DIR besides, which say what is known")
    rules = rules_of(arguments)
    problems = _load(arguments.file, rules)[:: arguments.every]
    searcher = Searcher(arguments.hash, arguments.threads)
    if arguments.tables is not None:
        searcher.tables = open_named("suite", arguments.tables, rules)
    if arguments.known:
        problems = [one for one in problems if _is_known(searcher, one)]
    if not problems:
        raise InputError(str(arguments.file), "expected positions to play, found none")
    tally = Tally()
    for problem, move, held in play(problems, limit, searcher):
        tally.add(problem, held)
        if arguments.show and not held:
            best = " ".join(sorted(map(str, problem.best)))
            text = f"{format_position(problem.position)} ({problem.position.rules})"
            print(f"{text}: played {move}, holding: {best}")
    print("\n".join(tally.lines()))
    return 0
