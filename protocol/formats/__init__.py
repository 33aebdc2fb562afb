"""Game records and positions in every form that is read and written."""

from __future__ import annotations

from contextlib import suppress

from merels.engine.game.errors import InputError
from merels.engine.game.notation import format_position, format_seventeen, parse_position
from merels.engine.game.position import Position
from merels.engine.game.record import RESULTS, Record
from merels.engine.game.record_reader import parse_record, parse_records
from merels.engine.game.rules import DEFAULT_RULES, Rules
from merels.protocol.formats.playok import format_playok, is_playok, parse_playok


def read_game(text: str, rules: Rules = DEFAULT_RULES) -> Record:
    """A game from the text of a position, a PGN record or a PlayOK record.

    ``rules`` apply where the text names none. `InputError` names the place of a fault.
    """
    stripped = text.strip().removeprefix("\ufeff")
    if not stripped:
        raise InputError(text, "expected a position or a game record")
    if "\n" not in stripped and is_position(stripped):
        return Record(parse_position(stripped, rules))
    return read_record(stripped, rules)


def is_position(text: str) -> bool:
    """Whether a text that is not blank begins like a position rather than a game record."""
    # The slash of a record stands further on, or in a result, a tag or a comment.
    first = text.split(None, 1)[0]
    return "/" in first and first not in RESULTS and first[0] not in "[{;"


def read_games(text: str, rules: Rules = DEFAULT_RULES) -> list[Record]:
    """The games of a text: one in any form that `read_game` knows, or several PGN records."""
    try:
        records = list(parse_records(text, rules))
    except InputError:
        records = []
    return records if len(records) > 1 else [read_game(text, rules)]


def read_record(text: str, rules: Rules = DEFAULT_RULES, line: int = 1) -> Record:
    """The one game of a text in PGN or as PlayOK writes it; ``line`` is the text's first."""
    parse = parse_playok if is_playok(text) else parse_record
    return parse(text, rules, line)


def write_game(record: Record, shown: Position) -> dict[str, str]:
    """The game in other formats: ``position``, ``seventeen`` and ``playok``.

    ``playok`` is missing for a game that does not begin at the starting position.
    """
    forms = {"position": format_position(shown), "seventeen": format_seventeen(shown)}
    with suppress(InputError):
        forms["playok"] = format_playok(record)
    return forms
