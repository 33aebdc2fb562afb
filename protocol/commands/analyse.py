"""``merels analyse``, ``eval``, ``d``, ``perft`` and ``bench``."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from merels.engine.common.numbers import read_whole
from merels.engine.game.notation import format_moves
from merels.engine.game.position import COLOURS, Position
from merels.engine.search.limits import Info, Limit
from merels.engine.tools.perft import count, write_divide
from merels.engine.tools.show import bench_lines, board_lines, evaluation_lines, men
from merels.protocol.commands.arguments import (
    Parser,
    add_flag,
    add_limit_flags,
    add_rules_flags,
    add_search_flags,
    limit_of,
    make_parser,
    rules_of,
    setup_of,
    whole_for_option,
)
from merels.protocol.terminal.search import TerminalEngine

_MAX_PERFT_DEPTH = 100
_DEFAULT_TIME = 5000
"""Time limit of ``merels analyse``, in milliseconds."""

_POSITION_HELP = """\
A position is 'startpos' or six fields, for example
  '********/********/******** w 9 9 0 1'
Moves may follow it: startpos moves d6 f4. Quote a position, because shells expand '*'.
"""


def perft(argv: list[str]) -> int:
    """Count the move sequences of a number of plies; the last line is the total."""
    parser = make_parser(
        "perft",
        "Counts the move sequences of DEPTH plies from a position, ignoring draws. Two programs\n"
        "with the same rules print the same number; the time is a benchmark of move generation.",
        _POSITION_HELP,
    )
    parser.add_argument("depth", metavar="DEPTH", help="plies (7 from startpos takes seconds)")
    add_rules_flags(parser)
    add_flag(
        parser, "position", metavar="P", default="startpos",
        help="position to count from (default: startpos)"
    )
    add_flag(parser, "divide", action="store_true", help="also print the count of each first move")
    arguments = parser.parse_args(argv)
    depth = read_whole(arguments.depth, 0, _MAX_PERFT_DEPTH, what="a depth")
    position = setup_of([arguments.position], rules_of(arguments)).position
    started = time.perf_counter()
    if arguments.divide:
        total = write_divide(position, depth, partial(print, flush=True), _never_cancelled)
        print()
    else:
        total = count(position, depth, _never_cancelled)
    seconds = time.perf_counter() - started
    print(f"{seconds:.3f} s, {total / max(seconds, 1e-9):,.0f} leaves a second")
    print(total)
    return 0


def _never_cancelled() -> bool:
    """Return False: Ctrl-C ends the command instead."""
    return False


def bench(argv: list[str]) -> int:
    """Search fixed positions; the last two lines are the nodes and the nodes per second."""
    parser = make_parser(
        "bench",
        "Searches fixed positions on one thread, each to a fixed depth. The number of nodes is\n"
        "the signature of the search, the same on every machine; the speed is not.",
    )
    parser.parse_args(argv)
    # Imported here, because no other command needs it.
    from merels.engine.tools.bench import run

    print(*bench_lines(*run()), sep="\n")
    return 0


def analyse(argv: list[str]) -> int:
    """Search a position and print the best line after each iteration."""
    parser = _position_parser(
        "analyse",
        "Draws a position, searches it and prints the best line after each iteration. Scores are\n"
        "in men, for the side to move. Ctrl-C ends the search and prints the best move so far.",
    )
    add_limit_flags(parser, f"-movetime {_DEFAULT_TIME}")
    add_flag(
        parser, "multipv", metavar="N", type=whole_for_option("MultiPV"), default=1,
        help="print the best N moves (default: 1)",
    )
    add_search_flags(parser)
    arguments = parser.parse_args(argv)
    position = setup_of(arguments.position, rules_of(arguments)).position
    print("\n".join(board_lines(position)), end="\n\n", flush=True)
    if position.outcome() is not None:
        print(f"The game is over: {position.outcome()}")
        return 0
    limit = limit_of(arguments, Limit(time=_DEFAULT_TIME / 1000))
    engine = TerminalEngine(arguments.hash, arguments.threads)
    result, _ = engine.search(position, limit, _print_info, multipv=arguments.multipv)
    print(f"{COLOURS[position.side]}'s best move: {result.move} ({men(result.score)})")
    return 0


def _print_info(info: Info) -> None:
    """Print an iteration's result on one line."""
    assert info.score is not None
    depth, score = f"{info.depth}/{info.seldepth}", men(info.score.relative)
    if info.bound == "lower":  # The search reports no upper bounds.
        score = f">= {score}"
    print(
        f"{depth:>7} {score:>13} {info.nodes:>13,} nodes {info.time:>8.2f} s  "
        f"{format_moves(info.pv)}",
        flush=True,
    )


def evaluate(argv: list[str]) -> int:
    """Print the terms of a position's static evaluation."""
    description = "Prints the static evaluation of a position, term by term."
    return _show(_position_parser("eval", description), evaluation_lines, argv)


def display(argv: list[str]) -> int:
    """Draw a position."""
    description = "Draws a position and prints its text, hash key, rules and outcome."
    return _show(_position_parser("d", description), board_lines, argv)


def _position_parser(command: str, description: str) -> Parser:
    """Return a parser for a command with one position."""
    parser = make_parser(command, description, _POSITION_HELP)
    parser.add_argument(
        "position", metavar="POSITION", nargs="*", help="the position (default: startpos)"
    )
    add_rules_flags(parser)
    return parser


def _show(parser: Parser, lines: Callable[[Position], list[str]], argv: list[str]) -> int:
    """Parse the arguments and print what ``lines`` returns for their position."""
    arguments = parser.parse_args(argv)
    print(*lines(setup_of(arguments.position, rules_of(arguments)).position), sep="\n")
    return 0
