"""The forms that positions, games and rules are written in, and what each has no place for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress

from merels.engine.common.errors import InputError
from merels.engine.common.numbers import counted
from merels.engine.game.notation import format_position, format_seventeen
from merels.engine.game.position import Position
from merels.engine.game.rules import Rules
from merels.protocol.formats.mif_1_0.manifest import format_manifest
from merels.protocol.formats.mif_1_0.mfen import format_mfen
from merels.protocol.formats.pgn.writer import format_record
from merels.protocol.formats.playok import format_playok
from merels.protocol.formats.wmd import format_wmd
from merels.protocol.games.record import Record

POSITIONS: Mapping[str, Callable[[Position], str]] = {
    "six": format_position, "seventeen": format_seventeen, "mfen": format_mfen
}
GAMES: Mapping[str, Callable[[Record], str]] = {
    "pgn": format_record, "playok": format_playok, "wmd": format_wmd
}
JOURNAL = "journal"
RULES: Mapping[str, Callable[[Rules], str]] = {"rules": str, "manifest": format_manifest}
FORMS = (*POSITIONS, *GAMES, JOURNAL, *RULES)

_OF_THE_FORM = ("Result", "Variant", "FEN", "SetUp", "PlyCount", "Termination")
"""Tags derived from the game itself or its end."""
IN_A_JOURNAL = ("White", "Black", "Round", "Event", "Site", "GameStartTime", "PairId", "GameId")
"""Tags that have a place in a journal."""


def write(item: Record | Rules, form: str, last: bool) -> str:
    """A position, a game or a rule set as text in a form, to be followed by others.

    ``last``: a game with moves becomes its last position. `InputError` where the form cannot say
    it.
    """
    check_kind(item, form)
    if isinstance(item, Rules):
        return RULES[form](item) + "\n"
    if form in POSITIONS:
        if item.moves and not last:
            count = counted(len(item.moves), "move")
            expected = f"a position has no place for {count}; add -last for the position after them"
            raise InputError(f"-to {form}", expected)
        return POSITIONS[form](item.final()) + "\n"
    text = GAMES[form](item)
    return text if text.endswith("\n\n") else text + "\n"


def write_game(record: Record, shown: Position) -> dict[str, str]:
    """The game in other formats: ``position``, ``seventeen`` and ``playok``.

    ``playok`` is missing for a game that does not begin at the starting position.
    """
    forms = {"position": format_position(shown), "seventeen": format_seventeen(shown)}
    with suppress(InputError):
        forms["playok"] = format_playok(record)
    return forms


def check_kind(item: Record | Rules, form: str) -> None:
    """Raise an `InputError` where rules are to become a game, or a game rules."""
    if isinstance(item, Rules) == (form in RULES):
        return
    if isinstance(item, Rules):
        raise InputError(f"-to {form}", f"{item} is a rule set: expected {' or '.join(RULES)}")
    found = "a game" if item.moves else "a position"
    others = [name for name in FORMS if name not in RULES]
    raise InputError(f"-to {form}", f"this is {found}: expected {', '.join(others)}")


def left_out(record: Record, form: str, rules: Rules) -> set[str]:
    """Parts of a game that a form cannot hold; the reader is expected to know ``rules``."""
    if form == "pgn":
        return set()
    missing = set()
    bare = form in POSITIONS or form == "wmd"
    known = _OF_THE_FORM + (IN_A_JOURNAL if form == JOURNAL else ())
    if bare and record.start.rules != rules:
        missing.add("rules")
    if form in POSITIONS and record.result != "*" and not record.moves:
        missing.add("results")
    if form != "playok" and any(
        value.strip("?. ") for name, value in record.tags.items() if name not in known
    ):
        missing.add("tags")
    nodes, end = list(record), record.end()
    if any(node.comment for node in nodes if node is not end or form != JOURNAL):
        missing.add("comments")
    if any(node.marks for node in nodes):
        missing.add("marks such as [%clk]")
    if any(node.glyphs for node in nodes):
        missing.add("annotation glyphs")
    if len(nodes) > end.ply + 1:
        missing.add("variations")
    return missing
