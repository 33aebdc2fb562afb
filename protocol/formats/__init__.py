"""Game records and positions in every form that is read and written."""

from __future__ import annotations

from merels.engine.game.errors import InputError
from merels.engine.game.notation import format_position, format_seventeen, parse_position
from merels.engine.game.position import Position
from merels.engine.game.record import RESULTS, Record, parse_record
from merels.engine.game.rules import DEFAULT_RULES, Rules
from merels.protocol.formats.playok import format_playok, is_playok, parse_playok


def read_game(text: str, rules: Rules = DEFAULT_RULES) -> Record:
    """A game from the text of a position, a PGN record or a PlayOK record.

    ``rules`` apply where the text names none. `InputError` names the place of a fault.
    """
    stripped = text.strip().removeprefix("\ufeff")
    if not stripped:
        raise InputError(text, "expected a position or a game record")
    if _looks_like_position(stripped):
        return Record(parse_position(stripped, rules))
    if is_playok(stripped):
        return parse_playok(stripped, rules)
    return parse_record(stripped, rules)


def write_game(record: Record, shown: Position) -> dict[str, str]:
    """The game in other formats: ``position``, ``seventeen`` and ``playok``.

    ``playok`` is missing for a game that does not begin at the starting position.
    """
    forms = {"position": format_position(shown), "seventeen": format_seventeen(shown)}
    try:
        forms["playok"] = format_playok(record)
    except InputError:
        pass
    return forms


def _looks_like_position(text: str) -> bool:
    """Whether a text is meant as a position: one line whose first word contains a slash.

    A record begins with a tag, a comment, a number, a move or a result.
    """
    first = text.split(None, 1)[0]
    return (
        "\n" not in text and "/" in first and first not in RESULTS and first[0] not in "[{;"
    )
