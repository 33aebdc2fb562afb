"""The engine's small commands in a shell: perft, bench, analyse, eval and d."""

from __future__ import annotations

import argparse
import time

from merels.engine.game.notation import format_moves
from merels.engine.game.numbers import read_whole
from merels.engine.game.position import COLOURS
from merels.engine.search.limits import Info, Limit
from merels.engine.search.searcher import DEFAULT_HASH, Searcher
from merels.engine.tools.perft import count, divide
from merels.engine.tools.show import bench_lines, board_lines, evaluation_lines, men
from merels.protocol.commands.arguments import (
    add_flag,
    add_rules_flags,
    like_option,
    make_parser,
    rules_of,
    search,
    setup_of,
    whole_from,
)
from merels.protocol.uci.table_cache import TableCache, find_tables

_DEEPEST_COUNT = 100
_DEFAULT_TIME = 5000

_POSITION_HELP = """\
A position is 'startpos' or its text, for example
  '********/********/******** w 9 9 0 1'
and may be followed by 'moves' and moves: startpos moves d6 f4. Quote it: shells expand '*'.
"""


def perft(argv: list[str]) -> int:
    """Counts the move sequences of some plies; the total is the last line."""
    parser = make_parser(
        "perft",
        "Counts the move sequences of DEPTH plies from a position, draws aside: the number that\n"
        "shows whether two programs agree on the rules, and how fast moves are generated.",
        _POSITION_HELP,
    )
    parser.add_argument("depth", metavar="DEPTH", help="plies; from the start 7 takes seconds")
    add_rules_flags(parser)
    add_flag(parser, "position", metavar="P", default="startpos", help="where to count from")
    add_flag(parser, "divide", action="store_true", help="the count below each first move, too")
    arguments = parser.parse_args(argv)
    return _perft(arguments)


def _perft(arguments: argparse.Namespace) -> int:
    depth = read_whole(arguments.depth, 0, _DEEPEST_COUNT, what="a depth")
    position = setup_of([arguments.position], rules_of(arguments)).position
    started = time.perf_counter()
    if arguments.divide and depth:
        total = 0
        for move, leaves in divide(position, depth, _never):
            total += leaves
            print(f"{move}: {leaves}", flush=True)
        print()
    else:
        total = count(position, depth, _never)
    seconds = time.perf_counter() - started
    print(f"{seconds:.3f} s, {total / max(seconds, 1e-9):,.0f} leaves a second")
    print(total)
    return 0


def bench(argv: list[str]) -> int:
    """Searches fixed positions; the last two lines are nodes and nodes per second."""
    parser = make_parser(
        "bench",
        "Searches fixed positions to a fixed depth on one thread. The number of nodes is the same\n"
        "on every machine, and changes when the search does; the speed is this machine's.",
    )
    parser.parse_args(argv)
    from merels.engine.tools.bench import run

    print(*bench_lines(*run()), sep="\n")
    return 0


def analyse(argv: list[str]) -> int:
    """Searches a position and prints what it finds as it finds it."""
    parser = make_parser(
        "analyse",
        "Searches a position and shows the best line after each iteration. Scores are in men, for\n"
        "the side to move. Ctrl-C ends the search and shows the best move so far.",
        _POSITION_HELP,
    )
    parser.add_argument(
        "position", metavar="POSITION", nargs="*", help="what to search (default: startpos)"
    )
    add_rules_flags(parser)
    for flag, unit, kind, text in (
        ("depth", "PLIES", whole_from(1), "stop at this depth"),
        ("nodes", "N", whole_from(1), "stop after so many positions"),
        (
            "movetime", "MS", whole_from(1),
            f"stop after so many milliseconds (without a limit: {_DEFAULT_TIME})",
        ),
        ("multipv", "N", like_option("MultiPV"), "show the best N moves (default: 1)"),
        ("hash", "MIB", like_option("Hash"), f"memory of the search (default: {DEFAULT_HASH})"),
        ("threads", "N", like_option("Threads"), "search on so many threads (default: 1)"),
    ):
        add_flag(parser, flag, metavar=unit, type=kind, help=text)
    arguments = parser.parse_args(argv)
    return _analyse(arguments)


def _analyse(arguments: argparse.Namespace) -> int:
    position = setup_of(arguments.position, rules_of(arguments)).position
    print("\n".join(board_lines(position)), end="\n\n", flush=True)
    if position.outcome() is not None:
        print(f"The game is over: {position.outcome()}")
        return 0
    depth, nodes, movetime = arguments.depth, arguments.nodes, arguments.movetime
    if depth is None and nodes is None and movetime is None:
        movetime = _DEFAULT_TIME
    searcher = Searcher(hash_mb=arguments.hash or DEFAULT_HASH, threads=arguments.threads or 1)
    limit = Limit(depth=depth, nodes=nodes, time=movetime and movetime / 1000)
    lines = arguments.multipv or 1
    searcher.tables = find_tables(TableCache(), position.rules, limit)
    result, _ = search(searcher, position, limit, _print_info, multipv=lines)
    print(f"{COLOURS[position.side]}'s best move: {result.move} ({men(result.score)})")
    return 0


def _print_info(info: Info) -> None:
    """One line of a search for a person."""
    assert info.score is not None
    depth, score = f"{info.depth}/{info.seldepth}", men(info.score.relative)
    print(
        f"{depth:>7} {score:>13} {info.nodes:>13,} nodes {info.time:>8.2f} s  "
        f"{format_moves(info.pv)}",
        flush=True,
    )


def evaluate(argv: list[str]) -> int:
    """Prints the terms of a position's static evaluation."""
    return _show("eval", "Explains the static evaluation of a position, term by term.", argv)


def display(argv: list[str]) -> int:
    """Draws a position."""
    return _show("d", "Draws a position and prints its text, key, rules and outcome.", argv)


def _show(command: str, description: str, argv: list[str]) -> int:
    """Reads a position from the command line and prints lines about it."""
    parser = make_parser(command, description, _POSITION_HELP)
    parser.add_argument(
        "position", metavar="POSITION", nargs="*", help="what to show (default: startpos)"
    )
    add_rules_flags(parser)
    arguments = parser.parse_args(argv)
    lines = evaluation_lines if command == "eval" else board_lines
    print(*lines(setup_of(arguments.position, rules_of(arguments)).position), sep="\n")
    return 0


def _never() -> bool:
    return False
