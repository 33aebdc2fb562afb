"""``merels tables``: build, verify, count and use tables of perfect play."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from merels.engine.game.errors import InputError
from merels.engine.game.notation import format_position
from merels.engine.game.rules import Rules
from merels.engine.tablebase.build import Builder, Progress
from merels.engine.tablebase.files import Header, TableError
from merels.engine.tablebase.probe import Known, Tables, default_root
from merels.engine.tablebase.proven import MOST_MB, keep, kept
from merels.engine.tablebase.sectors import MAX_MEN, MIN_MEN, Sector, sectors
from merels.engine.tablebase.solve import Prover, Solution, solve
from merels.protocol.commands.arguments import (
    Parser,
    add_flag,
    add_rules_flags,
    like_option,
    make_parser,
    open_named,
    rules_of,
    setup_of,
    whole_from,
)
from merels.protocol.commands.exit_status import FAILED, OK

_LINES = 20
_BAR = 24
_WORDS = {1: "win", 0: "draw", -1: "loss"}
_POSITION = "quoted six fields, or startpos, with 'moves' and moves after it if you like"

Action = Callable[[argparse.Namespace, Rules], int]
Commands = argparse._SubParsersAction  # no public name


def main(argv: list[str]) -> int:
    """Run ``merels tables COMMAND``; returns the exit status."""
    arguments = _parser().parse_args(argv)
    action: Action = arguments.action
    return action(arguments, rules_of(arguments))


def _parser() -> Parser:
    """The flags of all commands."""
    parser = make_parser("tables", "Tables of perfect play for the moving phase.")
    commands = parser.add_subparsers(
        required=True, metavar="COMMAND", parser_class=Parser,
        help="each explains itself with --help",
    )  # fmt: skip
    build = _command(commands, "build", "solve sectors (men on each side) and keep them", _build)
    men = build.add_mutually_exclusive_group(required=True)
    add_flag(
        men, "men", type=whole_from(MIN_MEN, MAX_MEN), metavar="N",
        help="all sectors of up to N men, 6 to 18",
    )  # fmt: skip
    add_flag(men, "all", action="store_true", help="the whole moving phase: -men 18")
    add_flag(build, "memory", type=float, metavar="GiB", help="refuse to take more than this")
    add_flag(build, "depths", action="store_true", help="keep depths besides, a byte a state")
    verify = _command(commands, "verify", "recompute every value from its successors", _verify)
    add_flag(
        verify, "men", type=whole_from(MIN_MEN, MAX_MEN), metavar="N",
        help="all sectors of up to N men; a missing one is an error (default: those there are)",
    )  # fmt: skip
    stats = _command(commands, "stats", "a line for each sector and side to move", _stats)
    add_flag(stats, "json", action="store_true", help="the same as JSON")
    probe = _command(commands, "probe", "value and depth of a position and of its moves", _probe)
    probe.add_argument("position", metavar="POSITION", help=_POSITION)
    solve = _command(commands, "solve", "prove the start's value and each first move's", _solve)
    add_flag(
        solve, "position", metavar="P", default="startpos",
        help=f"another position with men in hand: {_POSITION}",
    )  # fmt: skip
    add_flag(
        solve, "hash", type=whole_from(1, MOST_MB), default=512, metavar="MiB",
        help="memory of the search (default: 512)",
    )  # fmt: skip
    add_flag(
        solve, "store", action="store_true",
        help="keep what is proven beside the tables (as many MiB), for later proofs and for probe",
    )  # fmt: skip
    return parser


def _command(commands: Commands[Parser], name: str, text: str, action: Action) -> Parser:
    """A command with the flags that all share, so that one line of flags serves them all."""
    parser = commands.add_parser(
        name, help=text, description=f"{text[0].upper()}{text[1:]}."
    )
    parser.set_defaults(action=action)
    add_rules_flags(parser)
    add_flag(
        parser, "dir", type=Path, metavar="D",
        help="where tables are kept (default: MERELS_TABLES, or the user's cache folder)",
    )  # fmt: skip
    add_flag(
        parser, "threads", type=like_option("Threads"), default=os.cpu_count() or 1, metavar="N",
        help="threads to build, verify or solve with (default: one a processor)",
    )  # fmt: skip
    return parser


def _root(arguments: argparse.Namespace) -> Path:
    """The folder that tables are kept below."""
    return arguments.dir or default_root()


def _open(arguments: argparse.Namespace, rules: Rules, check: bool = False) -> Tables:
    """The tables that are there; those that cannot be used are named on the way."""
    men = getattr(arguments, "men", None) or MAX_MEN
    return open_named("tables", _root(arguments), rules, men, check)


def _build(arguments: argparse.Namespace, rules: Rules) -> int:
    men = MAX_MEN if arguments.all else arguments.men
    if arguments.memory is not None and not 0 < arguments.memory < 2**20:
        raise InputError(str(arguments.memory), "expected a memory bound in GiB, above 0")
    memory = None if arguments.memory is None else int(arguments.memory * 2**30)
    bar = _Bar()
    builder = Builder(
        _root(arguments), rules, threads=arguments.threads, memory=memory,
        depths=arguments.depths, report=bar.show,
    )  # fmt: skip
    started = time.monotonic()
    try:
        tables = builder.build(men)
    except KeyboardInterrupt:
        bar.clear()
        print("merels tables: interrupted; all finished tables are kept", file=sys.stderr)
        raise
    finally:
        bar.clear()
    for problem in builder.mended:
        print(f"merels tables: built again: {problem}", file=sys.stderr)
    for problem in tables.problems:
        print(f"merels tables: {problem}; left as it is without -depths", file=sys.stderr)
    files = [builder.folder / name for name in os.listdir(builder.folder)]
    size = sum(file.stat().st_size for file in files)
    states = sum(tally.states for header in tables.headers.values() for tally in header.tallies)
    print(
        f"{len(tables.headers)} sectors, {states:,} states, {size:,} bytes in {builder.folder}, "
        f"{time.monotonic() - started:.1f} s"
    )
    return 0


class _Bar:
    """A line on a terminal that is written over and over; elsewhere a line each twentieth part."""

    def __init__(self) -> None:
        self.width = 0
        self.told = 0

    def show(self, progress: Progress) -> None:
        """Show how far a build is."""
        share = progress.done / progress.total if progress.total else 1.0
        self.line(
            share,
            f"{progress.sector} ply {progress.level:<3} "
            f"{progress.done / 1e6:,.0f} of {progress.total / 1e6:,.0f} million places, "
            f"{progress.rate / 1e6:.1f} million/s, {_duration(progress.left)} left",
        )

    def line(self, share: float, text: str) -> None:
        """Show a share as a bar, and a text."""
        if sys.stderr.isatty():
            filled = int(share * _BAR)
            line = f"[{'#' * filled}{'.' * (_BAR - filled)}] {100 * share:3.0f}% {text}"
            self._write(f"\r{line:<{self.width}}")
            self.width = len(line)
        elif int(share * _LINES) > self.told:
            self.told = int(share * _LINES)
            self._write(f"{100 * share:3.0f}% {text}\n")

    def clear(self) -> None:
        """Leave the line as if nothing had been there."""
        if self.width:
            self._write(f"\r{' ' * self.width}\r")
            self.width = 0

    def _write(self, text: str) -> None:
        """Write as far as that can be done: no build ends for its bar."""
        with contextlib.suppress(OSError):
            print(text, end="", file=sys.stderr, flush=True)


def _duration(seconds: float) -> str:
    """Seconds as a person says them."""
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def _verify(arguments: argparse.Namespace, rules: Rules) -> int:
    from merels.engine.tablebase.verify import verify

    tables = _open(arguments, rules, check=True)
    wrong = len(tables.problems)
    for sector in sectors(arguments.men) if arguments.men else ():
        if sector not in tables.headers:
            print(f"{sector}: no usable table there")
            wrong += 1
    bar = _Bar()
    for sector in tables.headers:
        report = partial(bar.line, text=str(sector))
        try:
            results = verify(tables, sector, threads=arguments.threads, report=report)
        except ValueError as error:
            bar.clear()
            print(f"{sector}: not verified, {error}")
            wrong += 1
            continue
        bar.clear()
        for found in results:
            what = "values and depths" if tables.has_depths(found.own, found.opponent) else "values"
            line = f"{found.own}-{found.opponent}: {found.places:,} {what}, {found.errors:,} wrong"
            if not found.whole:
                line += " (as far as values without depths tell)"
            if found.example is not None:
                line += f", for example {format_position(found.example)}"
            print(line, flush=True)
            wrong += found.errors
    return FAILED if wrong else OK


def _rows(headers: dict[Sector, Header]) -> list[dict[str, int | str | None]]:
    """A record for each table of each sector, the men of the side to move first."""
    rows: list[dict[str, int | str | None]] = []
    for sector, header in headers.items():
        for (own, opponent), tally in zip(sector.sides, header.tallies):
            depths = [d for d in (tally.longest_win, tally.longest_loss) if d is not None]
            rows.append({
                "sector": f"{own}-{opponent}", "states": tally.states, "wins": tally.won,
                "draws": tally.drawn, "losses": tally.lost,
                "longest": max(depths, default=None),
                "longest_win": tally.longest_win, "longest_loss": tally.longest_loss,
                "checksum": f"{header.checksum:08x}",
            })  # fmt: skip
    return rows


def _stats(arguments: argparse.Namespace, rules: Rules) -> int:
    rows = _rows(_open(arguments, rules).headers)
    if arguments.json:
        print(json.dumps(rows, indent=1))
        return 0
    names = ("states", "wins", "draws", "losses", "longest")
    print("own-opponent" + "".join(f"{name:>14}" for name in names))
    for row in rows:
        cells = (f"{'-' if row[name] is None else row[name]:>14}" for name in names)
        print(f"{row['sector']:<12}" + "".join(cells))
    return 0


def _say(known: Known | None) -> str:
    """A value and its depth in words."""
    if known is None:
        return "unknown"
    return _WORDS[known.value] + ("" if known.depth is None else f" {known.depth}")


def _probe(arguments: argparse.Namespace, rules: Rules) -> int:
    position = setup_of([arguments.position], rules).position
    tables = _open(arguments, rules)
    if position.hands != (0, 0):
        prover = _kept(arguments, tables)
        if prover is None:
            raise InputError(
                arguments.position,
                "men in hand, and no proofs are kept: merels tables solve -store keeps them",
            )
        _say_solution(solve(tables, position, prover=prover, threads=arguments.threads))
        return 0
    outcome = position.outcome()
    if outcome is not None:
        raise InputError(arguments.position, f"the game is over there: {outcome}")
    known = tables.probe(position)
    if known is None:
        counts = "-".join(str(position.total(side)) for side in (position.side, 1 - position.side))
        raise InputError(arguments.position, f"no table {counts} there: merels tables build")
    print(f"{'value':<12}{_say(known)}")
    if position.plies:
        bounds = tables.bounds(position)
        if bounds is not None:
            least, greatest = bounds
            text = _WORDS[least] if least == greatest else f"{_WORDS[least]} to {_WORDS[greatest]}"
            print(f"{'now':<12}{text} (after {position.plies} plies without a removal)")
    for move, after in sorted(tables.moves(position), key=_worth):
        print(f"{move!s:<12}{_say(after)}")
    return 0


def _worth(move: tuple[object, Known | None]) -> tuple[int, int, str]:
    """Moves in order: the shortest win first, the longest loss before shorter ones."""
    known = move[1]
    if known is None:
        return 2, 0, str(move[0])
    depth = known.depth or 0
    return -known.value, depth if known.value > 0 else -depth, str(move[0])


def _kept(arguments: argparse.Namespace, tables: Tables) -> Prover | None:
    """A prover that knows what an earlier one kept; a file that cannot be used is named."""
    try:
        return kept(tables, _root(arguments))
    except TableError as error:
        print(f"merels tables: {error}", file=sys.stderr)
        return None


def _say_solution(solution: Solution) -> None:
    """Print a proven value, then every move's, the best first."""
    print(f"{'value':<12}{_WORDS[solution.value]}")
    for move, value in sorted(solution.moves.items(), key=lambda item: (-item[1], str(item[0]))):
        print(f"{move!s:<12}{_WORDS[value]}")


def _solve(arguments: argparse.Namespace, rules: Rules) -> int:
    position = setup_of([arguments.position], rules).position
    tables = _open(arguments, rules)
    prover = _kept(arguments, tables) or Prover(tables, arguments.hash)
    bar = _Bar()
    started = time.monotonic()
    try:
        solution = solve(
            tables, position, threads=arguments.threads, prover=prover,
            report=lambda done, all_of_them: bar.line(done / all_of_them, "first moves"),
        )  # fmt: skip
    finally:
        bar.clear()
        if arguments.store and prover.core.nodes:
            # An interrupted proof keeps what it has found, too.
            print(f"kept in {keep(prover, _root(arguments))}", file=sys.stderr)
    _say_solution(solution)
    print(
        f"{solution.nodes:,} nodes, {solution.probes:,} probes, "
        f"{time.monotonic() - started:.1f} s"
    )
    return 0
