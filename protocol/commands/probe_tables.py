"""``merels tables probe`` and ``solve``: what tables and proofs say of a position."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from merels.engine.game.errors import InputError
from merels.engine.game.position import Position
from merels.engine.game.rules import Rules
from merels.engine.tablebase.files import TableError
from merels.engine.tablebase.probe import Known, Tables, build_command, default_root
from merels.engine.tablebase.sectors import MAX_MEN, PlacingSector
from merels.engine.tablebase.solve import Prover, Solution, keep, kept, solve
from merels.protocol.commands.arguments import open_named, setup_of
from merels.protocol.terminal.progress import ProgressLine

_WORDS = {1: "win", 0: "draw", -1: "loss"}


def root_of(arguments: argparse.Namespace) -> Path:
    """The folder in which the tables' folders are."""
    return arguments.dir or default_root()


def open_folder(arguments: argparse.Namespace, rules: Rules, check: bool = False) -> Tables:
    """The tables of the rules; reports those that cannot be used."""
    men = getattr(arguments, "men", None) or MAX_MEN
    return open_named("tables", root_of(arguments), rules, men, check)


def _say(known: Known | None) -> str:
    """A value and its depth in words."""
    if known is None:
        return "unknown"
    return _WORDS[known.value] + ("" if known.depth is None else f" {known.depth}")


def probe(arguments: argparse.Namespace, rules: Rules) -> int:
    """Show a position's value, and of each move its value and how many replies hold that."""
    position = setup_of([arguments.position], rules).position
    tables = open_folder(arguments, rules)
    told = len(tables.problems)
    outcome = position.outcome()
    if outcome is not None:
        raise InputError(arguments.position, f"the game is over: {outcome}")
    known = tables.probe(position)
    if known is None and position.hands != (0, 0) and (prover := _kept(arguments, tables)):
        _say_solution(solve(tables, position, prover=prover, threads=arguments.threads))
        return 0
    if known is None:
        # A packed table may turn out to be damaged when it is read.
        damaged = "; ".join(tables.problems[told:])
        raise InputError(
            arguments.position, damaged or _missing(position, root_of(arguments))
        )
    print(f"{'value':<12}{_say(known)}")
    bounds = tables.bounds(position) if position.plies and position.hands == (0, 0) else None
    if bounds is not None:
        text = " to ".join(_WORDS[value] for value in sorted(set(bounds)))
        print(f"{'now':<12}{text} (after {position.plies} plies without a removal)")
    for move, after in sorted(tables.moves(position), key=_worth):
        replies = tables.holding(position.play(move))
        held = "" if replies is None else f"{replies[0]:>5} of {replies[1]} replies hold it"
        print(f"{move!s:<12}{_say(after):<10}{held}".rstrip())
    for problem in tables.problems[told:]:
        print(f"merels tables: {problem}", file=sys.stderr)
    return 0


def _missing(position: Position, root: Path) -> str:
    """Why no table has a position, and what to do about it."""
    own, opponent = position.side, 1 - position.side
    men = position.men[own].bit_count(), position.men[opponent].bit_count()
    hand = sum(position.hands)
    command = build_command(position.rules, root)
    if not hand:
        return "no table {}-{} here; make it with {}".format(*men, command)
    sector = PlacingSector(*men, hand)
    if sector.hands != (position.hands[own], position.hands[opponent]):
        return "no table has these men in hand: White and Black place in turn"
    if not sector.occurs(position.rules.double_mill == "each"):
        return "no table has it: no game from the start leads to so few men"
    what = f"no table {sector}" if hand % 2 == 0 else f"not all tables that {sector} leads to are"
    return f"{what} here; make all with {command}"


def _worth(move: tuple[object, Known | None]) -> tuple[int, int, str]:
    """A sort key of moves: the shortest win first, the longest loss before shorter ones."""
    known = move[1]
    if known is None:
        return 2, 0, str(move[0])
    depth = known.depth or 0
    return -known.value, depth if known.value > 0 else -depth, str(move[0])


def _kept(arguments: argparse.Namespace, tables: Tables) -> Prover | None:
    """A prover with what an earlier one kept; reports a file that cannot be used."""
    try:
        return kept(tables, root_of(arguments))
    except TableError as error:
        print(f"merels tables: {error}", file=sys.stderr)
        return None


def _say_solution(solution: Solution) -> None:
    """Print a proven value, then every move's, the best first."""
    print(f"{'value':<12}{_WORDS[solution.value]}")
    for move, value in sorted(solution.moves.items(), key=lambda item: (-item[1], str(item[0]))):
        print(f"{move!s:<12}{_WORDS[value]}")


def solve_start(arguments: argparse.Namespace, rules: Rules) -> int:
    """Prove the value of a position with men in hand, and those of its moves."""
    position = setup_of([arguments.position], rules).position
    tables = open_folder(arguments, rules)
    prover = _kept(arguments, tables) or Prover(tables, arguments.hash)
    bar = ProgressLine()
    started = time.monotonic()
    try:
        solution = solve(
            tables, position, threads=arguments.threads, prover=prover,
            report=lambda done, total: bar.show(done / total, "first moves"),
        )
    finally:
        bar.clear()
        if arguments.store and prover.core.nodes:
            # An interrupted proof also keeps what it has found.
            print(f"kept in {keep(prover, root_of(arguments))}", file=sys.stderr)
    _say_solution(solution)
    print(
        f"{solution.nodes:,} nodes, {solution.probes:,} probes, "
        f"{time.monotonic() - started:.1f} s"
    )
    return 0
