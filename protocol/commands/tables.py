"""``merels tables``: build, verify, count, probe and pack tables of perfect play."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from merels.engine.common.numbers import counted
from merels.engine.game.notation import format_position
from merels.engine.game.rules import Rules
from merels.engine.tablebase.build import Builder
from merels.engine.tablebase.files import Header
from merels.engine.tablebase.pack import Packer
from merels.engine.tablebase.sectors import MAX_MEN, MIN_MEN, Sector, sectors, table_name
from merels.protocol.commands.arguments import (
    Parser,
    add_flag,
    add_rules_flags,
    make_parser,
    real_from,
    rules_of,
    whole_for_option,
    whole_from,
)
from merels.protocol.commands.exit_status import FAILED, OK
from merels.protocol.commands.probe_tables import UNIT, open_folder, probe, root_of
from merels.protocol.common.notices import notify
from merels.protocol.terminal.progress import ProgressLine, show_progress

MAX_SAMPLE = 1_000_000_000
"""Maximum of ``-sample``."""
_COUNTS = ("states", "wins", "draws", "losses")
_POSITION_HELP = "a position, quoted, or startpos; 'moves d6 f4 …' may follow"

Action = Callable[[argparse.Namespace, Rules], int]
Commands = argparse._SubParsersAction  # argparse has no public name for this type.


def main(argv: list[str]) -> int:
    """Run ``merels tables COMMAND``; return the exit status."""
    arguments = _parser().parse_args(argv)
    action: Action = arguments.action
    return action(arguments, rules_of(arguments))


def _parser() -> Parser:
    """Return the parser of all commands."""
    parser = make_parser(
        "tables",
        "Builds, verifies and reads tables of perfect play.\n\n"
        "  merels tables build -men 8 -variant morris",
    )
    commands = parser.add_subparsers(
        required=True, metavar="COMMAND", parser_class=Parser,
        help="(merels tables COMMAND --help lists the flags)",
    )
    build = _command(commands, "build", "solve sectors (men on each side) and save them", _build)
    men = build.add_mutually_exclusive_group(required=True)
    add_flag(
        men, "men", type=whole_from(MIN_MEN, MAX_MEN), metavar="N",
        help="sectors of up to N men, 6 to 18",
    )
    add_flag(men, "all", action="store_true", help="the whole moving phase: -men 18")
    add_flag(
        build, "placing", action="store_true",
        help="also the placing phase; with -all every position of the game",
    )
    add_flag(
        build, "memory", type=real_from(0.001, 100_000, "GiB"), metavar="GiB",
        help="limit of memory; a build that needs more is refused",
    )
    add_flag(
        build, "depths", action="store_true",
        help="also save depths, for the shortest wins: a third more disk space",
    )
    verify = _command(commands, "verify", "recompute every value from its successors", _verify)
    add_flag(
        verify, "men", type=whole_from(MIN_MEN, MAX_MEN), metavar="N",
        help="sectors of up to N men; a missing sector is an error (default: all that exist)",
    )
    add_flag(
        verify, "sample", type=whole_from(1, MAX_SAMPLE), default=0, metavar="N",
        help="check only N random entries of each table, and no checksums",
    )
    add_flag(
        verify, "srand", type=whole_from(0, 2**63 - 1), default=1, metavar="N",
        help="random seed of -sample (default: 1)",
    )
    stats = _command(commands, "stats", "print a line for each sector and side to move", _stats)
    stats.epilog = f"The last column is the longest win or loss, in {UNIT}."
    add_flag(stats, "json", action="store_true", help="print JSON")
    probing = _command(commands, "probe", "print the values of a position and its moves", probe)
    probing.epilog = (
        "A move's value is for the side that plays it; a reply that leaves this value holds it.\n"
        f"If depths were saved, the number after win or loss counts {UNIT}."
    )
    probing.add_argument("position", metavar="POSITION", help=_POSITION_HELP)
    pack = _command(commands, "pack", "make packed tables, a third as large", _pack)
    add_flag(
        pack, "out", type=Path, metavar="D",
        help="folder of the packed tables (default: the folder of -dir)",
    )
    return parser


def _command(commands: Commands[Parser], name: str, text: str, action: Action) -> Parser:
    """Add a command with the flags that all commands share."""
    parser = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
    parser.set_defaults(action=action)
    add_rules_flags(parser)
    add_flag(
        parser, "dir", type=Path, metavar="D",
        help="folder of the tables (default: MERELS_TABLES, or the user's cache folder)",
    )
    add_flag(
        parser, "threads", metavar="N", type=whole_for_option("Threads"),
        default=os.cpu_count() or 1,
        help="number of threads (default: one for each processor)",
    )
    return parser


@contextmanager
def _progress(results: str) -> Iterator[ProgressLine]:
    """Provide a progress bar; after Ctrl-C, print that all ``results`` are kept."""
    try:
        with ProgressLine() as bar:
            yield bar
    except KeyboardInterrupt:
        notify(f"interrupted; all {results} are kept")
        raise


def _build(arguments: argparse.Namespace, rules: Rules) -> int:
    men = MAX_MEN if arguments.all else arguments.men
    memory = None if arguments.memory is None else int(arguments.memory * 2**30)
    started = time.monotonic()
    with _progress("finished tables") as bar:
        builder = Builder(
            root_of(arguments), rules, threads=arguments.threads, memory=memory,
            depths=arguments.depths, report=partial(show_progress, bar),
        )
        tables = builder.build(men, arguments.placing)
    for problem in builder.rebuilt:
        notify(f"built again: {problem}")
    for problem in tables.problems:
        notify(f"{problem}; add -depths to replace this file")
    files = [builder.folder / name for name in os.listdir(builder.folder)]
    size = sum(file.stat().st_size for file in files)
    states = sum(tally.states for header in tables.headers.values() for tally in header.tallies)
    print(
        f"{counted(len(tables.headers), 'sector')}, {states:,} states, {size:,} bytes in "
        f"{builder.folder}, {time.monotonic() - started:.1f} s"
    )
    return OK


def _pack(arguments: argparse.Namespace, rules: Rules) -> int:
    root = root_of(arguments)
    started = time.monotonic()
    with _progress("packed sectors") as bar:
        packer = Packer(
            root, arguments.out or root, rules, threads=arguments.threads,
            report=partial(show_progress, bar),
        )
        files = packer.pack()
    for problem in packer.rebuilt:
        notify(f"packed again: {problem}")
    for problem in packer.problems:
        notify(f"not packed: {problem}")
    size = sum(file.stat().st_size for file in files)
    print(
        f"{counted(len(files), 'sector')}, {size:,} bytes in {packer.folder}, "
        f"{time.monotonic() - started:.1f} s"
    )
    return FAILED if packer.problems else OK


def _verify(arguments: argparse.Namespace, rules: Rules) -> int:
    from merels.engine.tablebase.verify import Verifier

    tables = open_folder(arguments, rules, check=not arguments.sample)
    wrong = len(tables.problems)
    for required in sectors(arguments.men) if arguments.men else ():
        if required not in tables.headers:
            print(f"{required}: no usable table")
            wrong += 1
    verifier = Verifier(tables, arguments.threads, arguments.sample, arguments.srand)
    for sector in tables.headers:
        try:
            with ProgressLine() as bar:
                verifier.report = partial(bar.show, text=str(sector))
                results = verifier.check(sector)
        except ValueError as error:
            print(f"{sector}: not verified, {error}")
            wrong += 1
            continue
        for result in results:
            line = (
                f"{table_name(*result.table)}: {result.places:,} "
                f"values, {result.errors:,} wrong"
            )
            if not result.complete:
                line += " (without depths, wins that come too late are not found)"
            if result.example is not None:
                line += f", for example {format_position(result.example)}"
            print(line, flush=True)
            wrong += result.errors
    return FAILED if wrong else OK


def _rows(headers: dict[Sector, Header]) -> list[dict[str, int | str | None]]:
    """Return a row for each sector and side to move; its name begins with the mover's men."""
    rows: list[dict[str, int | str | None]] = []
    for sector, header in headers.items():
        for table, tally in zip(sector.tables, header.tallies):
            depths = [d for d in (tally.longest_win, tally.longest_loss) if d is not None]
            rows.append({
                "sector": table_name(*table), "states": tally.states,
                "wins": tally.won, "draws": tally.drawn, "losses": tally.lost,
                "longest": max(depths, default=None),
                "longest_win": tally.longest_win, "longest_loss": tally.longest_loss,
                "checksum": f"{header.values_checksum:08x}",
            })  # fmt: skip
    return rows


def _stats(arguments: argparse.Namespace, rules: Rules) -> int:
    headers = open_folder(arguments, rules).headers
    rows = _rows(headers)
    if arguments.json:
        print(json.dumps(rows, indent=1))
        return OK
    print("own-opponent" + "".join(f"{name:>14}" for name in (*_COUNTS, "longest")))
    for row in rows:
        cells = (f"{'-' if row[name] is None else row[name]:>14}" for name in (*_COUNTS, "longest"))
        print(f"{row['sector']:<12}" + "".join(cells))
    if any(sector.hand for sector in headers):
        print("in hand     " + "".join(f"{name:>14}" for name in _COUNTS))
        for hand in sorted({sector.hand for sector in headers}):
            tallies = (
                (tally.states, tally.won, tally.drawn, tally.lost)
                for sector, header in headers.items() if sector.hand == hand
                for tally in header.tallies
            )
            print(f"{hand:<12}" + "".join(f"{sum(counts):>14}" for counts in zip(*tallies)))
    return OK
