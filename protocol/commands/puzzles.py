"""``merels puzzles``: puzzles made from tables of perfect play."""

from __future__ import annotations

import argparse
from itertools import islice
from pathlib import Path

from merels.engine.common.errors import InputError
from merels.engine.common.numbers import counted
from merels.engine.common.saving import write_named
from merels.engine.common.shell import shell_text
from merels.engine.game.rules import Rules
from merels.engine.tablebase.files import rules_folder
from merels.engine.tablebase.probe import build_command, default_root, open_tables
from merels.protocol.commands.arguments import (
    add_flag,
    add_rules_flags,
    make_parser,
    rules_of,
    whole_from,
)
from merels.protocol.commands.exit_status import FAILED, OK
from merels.protocol.common.notices import notify
from merels.protocol.puzzles.puzzle import Puzzle, pack
from merels.protocol.puzzles.search import find_puzzles
from merels.protocol.puzzles.selection import CANDIDATES, select
from merels.protocol.puzzles.themes import themes_of
from merels.protocol.terminal.progress import ProgressLine

DESCRIPTION = """\
Makes puzzles from tables of perfect play: positions in which only one move wins, or only one holds
the draw. The tables prove every move of the solutions.

  merels puzzles -count 50 -out puzzles.jsonl
  merels board -puzzles puzzles.jsonl"""
_EPILOG = """\
Each line of the file is a puzzle, a JSON object with position, rules, goal, solution and rating;
protocol/puzzles/FORMAT.md describes it. The same tables, rules and seed make the same puzzles. A
file whose name ends in .gz is packed.

Small tables give endgames. The tables of 'merels tables build -all -placing' give puzzles of every
phase.
"""


def main(argv: list[str]) -> int:
    """Make puzzles and write them to a file or standard output."""
    parser = make_parser("puzzles", DESCRIPTION, _EPILOG)
    add_flag(
        parser, "count", metavar="N", type=whole_from(1), default=10,
        help="number of puzzles (default: 10)",
    )
    add_flag(
        parser, "srand", metavar="N", type=whole_from(0, 2**63 - 1), default=1,
        help="random seed (default: 1)",
    )
    add_flag(
        parser, "out", metavar="FILE", type=Path,
        help="file to write when all puzzles are made (default: standard output)",
    )
    add_flag(
        parser, "balanced", action="store_true",
        help=f"select the puzzles from {CANDIDATES} times as many, with equal shares of the phases "
        "and goals, and with rare themes",
    )
    add_flag(
        parser, "tables", metavar="DIR", type=Path,
        help="folder of the tables (default: MERELS_TABLES, or the user's cache folder)",
    )
    add_rules_flags(parser)
    arguments = parser.parse_args(argv)
    return _make(arguments, rules_of(arguments))


def _make(arguments: argparse.Namespace, rules: Rules) -> int:
    """Make the puzzles that the flags describe."""
    out: Path | None = arguments.out
    if out is not None and (out.is_dir() or not out.parent.is_dir()):
        raise InputError(str(out), "expected the name of a file in a folder that exists")
    root = arguments.tables or default_root()
    tables = open_tables(root, rules)
    for problem in tables.problems:
        notify(problem)
    if not tables.headers:
        small = build_command(rules, root, ["-men", "8", "-depths"])
        raise InputError(
            str(root / rules_folder(rules)),
            f"no tables here to make puzzles from; build small ones in seconds with {small}",
        )
    balanced: bool = arguments.balanced
    wanted = arguments.count * (CANDIDATES if balanced else 1)
    puzzles = []
    with ProgressLine() as bar:
        for puzzle in islice(find_puzzles(tables, arguments.srand, balanced), wanted):
            puzzles.append(puzzle)
            if out is None and not balanced:
                print(puzzle.to_json(themes_of(puzzle)), flush=True)
            elif out is not None:
                bar.show(len(puzzles) / wanted, counted(len(puzzles), "puzzle"))
    if balanced:
        puzzles = select(puzzles, arguments.count)
    text = "".join(puzzle.to_json(themes_of(puzzle)) + "\n" for puzzle in puzzles)
    if out is None and balanced:
        print(text, end="")
    elif out is not None:
        try:
            write_named(out, [pack(text, out)])
        except OSError as error:
            raise InputError(str(out), f"cannot write this file: {error.strerror}") from None
        print(f"{_summary(puzzles)} in {shell_text([str(out)])}")
    if len(puzzles) == arguments.count:
        return OK
    notify(
        f"only {counted(len(puzzles), 'puzzle')} found in these tables with this seed; build more "
        f"tables with {build_command(rules, root)}"
    )
    return FAILED


def _summary(puzzles: list[Puzzle]) -> str:
    """Return the counts of puzzles by goal, and the range of their ratings."""
    if not puzzles:
        return "no puzzles"
    wins = sum(puzzle.value > 0 for puzzle in puzzles)
    ratings = [puzzle.rating for puzzle in puzzles]
    return (
        f"{counted(len(puzzles), 'puzzle')}, {wins} to win and {len(puzzles) - wins} to hold "
        f"the draw, rated {min(ratings)} to {max(ratings)},"
    )
