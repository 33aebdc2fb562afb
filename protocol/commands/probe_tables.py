"""``merels tables probe``: the value of a position and of its moves."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from merels.engine.common.errors import InputError
from merels.engine.game.position import Position
from merels.engine.game.rules import Rules
from merels.engine.tablebase.probe import TableValue, Tables, build_command, default_root
from merels.engine.tablebase.sectors import MAX_MEN, PlacingSector
from merels.protocol.commands.arguments import open_named, setup_of

_WORDS = {1: "win", 0: "draw", -1: "loss"}
UNIT = "plies to the next removal or the end"
"""The unit of depths."""


def root_of(arguments: argparse.Namespace) -> Path:
    """The folder in which the tables' folders are."""
    return arguments.dir or default_root()


def open_folder(arguments: argparse.Namespace, rules: Rules, check: bool = False) -> Tables:
    """The tables of the rules; reports those that cannot be used."""
    men = getattr(arguments, "men", None) or MAX_MEN
    return open_named("tables", root_of(arguments), rules, men, check)


def _say(known: TableValue | None) -> str:
    """A value and its depth in words."""
    if known is None:
        return "unknown"
    return _WORDS[known.value] + ("" if known.depth is None else f" {known.depth}")


def probe(arguments: argparse.Namespace, rules: Rules) -> int:
    """Show a position's value, and of each move its value and how many replies hold that."""
    position = setup_of([arguments.position], rules).position
    tables = open_folder(arguments, rules)
    reported = len(tables.problems)
    outcome = position.outcome()
    if outcome is not None:
        raise InputError(arguments.position, f"the game is over: {outcome}")
    known = tables.probe(position)
    if known is None:
        # A packed table may turn out to be damaged when it is read.
        damaged = "; ".join(tables.problems[reported:])
        raise InputError(
            arguments.position, damaged or _missing(position, root_of(arguments))
        )
    moves = sorted(tables.moves(position), key=_worth)
    deep = any(found is not None and found.depth is not None for _, found in moves)
    unit = f"(numbers: {UNIT})" if deep else ""
    print(f"{'value':<12}{_say(known):<14}{unit}".rstrip())
    bounds = tables.bounds(position) if position.plies and position.hands == (0, 0) else None
    if bounds is not None:
        text = " to ".join(_WORDS[value] for value in sorted(set(bounds)))
        print(f"{'now':<12}{text} (after {position.plies} plies without a removal)")
    for move, after in moves:
        replies = tables.holding(position.play(move))
        held = "" if replies is None else f"{replies[0]:>5} of {replies[1]} replies hold it"
        print(f"{move!s:<12}{_say(after):<10}{held}".rstrip())
    for problem in tables.problems[reported:]:
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


def _worth(move: tuple[object, TableValue | None]) -> tuple[int, int, str]:
    """A sort key of moves: the shortest win first, the longest loss before shorter ones."""
    known = move[1]
    if known is None:
        return 2, 0, str(move[0])
    depth = known.depth or 0
    return -known.value, depth if known.value > 0 else -depth, str(move[0])
