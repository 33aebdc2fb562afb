"""``merels tables probe``: the values of a position and of its moves."""

from __future__ import annotations

import argparse
from pathlib import Path

from merels.engine.common.errors import InputError
from merels.engine.game.position import Position
from merels.engine.game.rules import Rules
from merels.engine.tablebase.opening import opening_tables
from merels.engine.tablebase.probe import TableValue, Tables, build_command, default_root
from merels.engine.tablebase.sectors import MAX_MEN, Sector
from merels.protocol.commands.arguments import open_usable_tables, setup_of
from merels.protocol.common.notices import notify

_RESULTS = {1: "win", 0: "draw", -1: "loss"}
UNIT = "plies to the next removal or the end"
"""Unit of depths, for people."""


def root_of(arguments: argparse.Namespace) -> Path:
    """Return the folder of all tables, from -dir or by default."""
    return arguments.dir or default_root()


def open_folder(arguments: argparse.Namespace, rules: Rules, check: bool = False) -> Tables:
    """Open the tables of a rule set in the folder of -dir; see `open_usable_tables`."""
    men = getattr(arguments, "men", None) or MAX_MEN
    return open_usable_tables(root_of(arguments), rules, men, check)


def _value_text(entry: TableValue | None) -> str:
    """Return a value and its depth as printed, such as 'win 15'."""
    if entry is None:
        return "unknown"
    return _RESULTS[entry.value] + ("" if entry.depth is None else f" {entry.depth}")


def probe(arguments: argparse.Namespace, rules: Rules) -> int:
    """Print a position's value, and each move's value with the number of replies that keep it."""
    position = setup_of([arguments.position], rules).position
    outcome = position.outcome()
    if outcome is not None:
        raise InputError(arguments.position, f"the game is over: {outcome}")
    opening = opening_tables(position)
    try:
        tables = open_folder(arguments, rules)
    except InputError:
        if opening is None:
            raise
        tables = opening
    problem_count = len(tables.problems)
    entry = tables.probe(position)
    if entry is None and opening is not None:
        tables = opening
        entry = tables.probe(position)
    if entry is None:
        # Damage of a packed table is found only when the table is read.
        damaged = "; ".join(tables.problems[problem_count:])
        raise InputError(
            arguments.position, damaged or _missing(position, root_of(arguments))
        )
    moves = sorted(tables.moves(position), key=_best_first)
    has_depths = any(child is not None and child.depth is not None for _, child in moves)
    unit = f"(numbers: {UNIT})" if has_depths else ""
    print(f"{'value':<12}{_value_text(entry):<14}{unit}".rstrip())
    bounds = tables.bounds(position) if position.plies and position.hands == (0, 0) else None
    if bounds is not None:
        text = " to ".join(_RESULTS[value] for value in sorted(set(bounds)))
        print(f"{'now':<12}{text} (after {position.plies} plies without a removal)")
    for move, after in moves:
        replies = tables.holding(position.play(move))
        text = "" if replies is None else f"{replies[0]:>5} of {replies[1]} replies keep this value"
        print(f"{move!s:<12}{_value_text(after):<10}{text}".rstrip())
    for problem in tables.problems[problem_count:]:
        notify(problem)
    return 0


def _missing(position: Position, root: Path) -> str:
    """Return why no table has a position, and how to build such a table if that is possible."""
    own, opponent = position.side, 1 - position.side
    men = position.men[own].bit_count(), position.men[opponent].bit_count()
    hand = sum(position.hands)
    command = build_command(position.rules, root)
    if not hand:
        return "no table {}-{} in {}; build it with {}".format(*men, root, command)
    sector = Sector(*men, hand)
    if sector.hands != (position.hands[own], position.hands[opponent]):
        return "no table has these men in hand, because White and Black place in turn"
    if not sector.occurs(position.rules.double_mill == "each"):
        return "no table has this position, because no game from the start leads to so few men"
    # Positions with an odd number of men in hand are not stored; the values of moves give theirs.
    if hand % 2 == 0:
        missing = f"no table {sector}"
    else:
        missing = f"some of the tables that {sector} leads to are missing"
    return f"{missing} in {root}; build all with {command}"


def _best_first(move_and_value: tuple[object, TableValue | None]) -> tuple[int, int, str]:
    """Return a sort key: wins, short ones first; draws; losses, long ones first; unknown."""
    move, entry = move_and_value
    if entry is None:
        return 2, 0, str(move)
    depth = entry.depth or 0
    return -entry.value, depth if entry.value > 0 else -depth, str(move)
