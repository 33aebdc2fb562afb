"""The forms in which positions, games and rules are written, and the parts that a form omits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress

from merels.engine.common.errors import InputError
from merels.engine.common.numbers import counted
from merels.engine.game.notation import START, format_position, format_seventeen
from merels.engine.game.position import Position
from merels.engine.game.rules import Rules
from merels.protocol.formats.mfen import format_mfen
from merels.protocol.formats.playok import format_playok
from merels.protocol.games.record import Record
from merels.protocol.games.writer import format_record


def format_wmd(record: Record) -> str:
    """Return a game as the WMD, the world association of mill players, writes it: without tags.

    Numbered lines have a move of each side; the last line is the result. `InputError` if the game
    does not begin at the starting position.
    """
    first = format_position(record.start)
    if first != START:
        raise InputError(first, "a list of moves begins at the starting position")
    moves = list(map(str, record.moves))
    pairs = [" ".join(moves[ply : ply + 2]) for ply in range(0, len(moves), 2)]
    lines = [f"{number}. {pair}" for number, pair in enumerate(pairs, 1)]
    return "\n".join([*lines, record.result]) + "\n"


POSITIONS: Mapping[str, Callable[[Position], str]] = {
    "six": format_position, "seventeen": format_seventeen, "mfen": format_mfen
}
GAMES: Mapping[str, Callable[[Record], str]] = {
    "pgn": format_record, "playok": format_playok, "wmd": format_wmd
}
RULES = "rules"
FORMS = (*POSITIONS, *GAMES, RULES)

_DERIVED_TAGS = ("Result", "Variant", "FEN", "SetUp", "PlyCount", "Termination")
"""Tags that are derived from the moves and the end of a game."""


def write(item: Record | Rules, form: str, last: bool) -> str:
    """Return a position, a game or a rule set as text in ``form``, one of `FORMS`.

    If ``form`` is a form of positions, ``last`` writes the last position of a game with moves.
    `InputError` if the form cannot express the item.
    """
    _check_kind(item, form)
    if isinstance(item, Rules):
        return f"{item}\n"
    if form in POSITIONS:
        if item.moves and not last:
            count = counted(len(item.moves), "move")
            expected = f"a position has no place for {count}; add -last for the position after them"
            raise InputError(f"-to {form}", expected)
        return POSITIONS[form](item.final()) + "\n"
    text = GAMES[form](item)
    return text if text.endswith("\n\n") else text + "\n"


def write_game(record: Record, shown: Position) -> dict[str, str]:
    """Return texts by form: ``shown`` as ``position`` and ``seventeen``, the game as ``playok``.

    ``playok`` is missing if the game does not begin at the starting position.
    """
    forms = {"position": format_position(shown), "seventeen": format_seventeen(shown)}
    with suppress(InputError):
        forms["playok"] = format_playok(record)
    return forms


def _check_kind(item: Record | Rules, form: str) -> None:
    """Raise `InputError` if only one of ``item`` and ``form`` is a rule set."""
    if isinstance(item, Rules) == (form == RULES):
        return
    if isinstance(item, Rules):
        raise InputError(f"-to {form}", f"{item} is a rule set: expected {RULES}")
    kind = "a game" if item.moves else "a position"
    others = [name for name in FORMS if name != RULES]
    raise InputError(f"-to {form}", f"this is {kind}: expected {', '.join(others)}")


def omissions(record: Record, form: str, rules: Rules) -> set[str]:
    """Return the parts of a game that are lost in ``form``, in words for a message.

    ``rules`` are the rules that a reader assumes if the form states no rules.
    """
    if form == "pgn":
        return set()
    lost = set()
    has_no_rules = form in POSITIONS or form == "wmd"
    if has_no_rules and record.start.rules != rules:
        lost.add("rules")
    if form in POSITIONS and record.result != "*" and not record.moves:
        lost.add("results")
    if form != "playok" and any(
        value.strip("?. ") for name, value in record.tags.items() if name not in _DERIVED_TAGS
    ):
        lost.add("tags")
    nodes = list(record)
    if any(node.comment for node in nodes):
        lost.add("comments")
    if any(node.marks for node in nodes):
        lost.add("marks such as [%clk]")
    if any(node.glyphs for node in nodes):
        lost.add("annotation glyphs")
    if len(nodes) > record.end().ply + 1:
        lost.add("variations")
    return lost
