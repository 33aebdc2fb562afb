"""Game records and positions in every form that is read and written."""

from __future__ import annotations

from contextlib import suppress

from merels.engine.common.errors import InputError
from merels.engine.game.notation import format_position, format_seventeen
from merels.engine.game.position import Position
from merels.engine.game.record import Record
from merels.protocol.formats.game_file import read_game
from merels.protocol.formats.playok import format_playok

__all__ = ["read_game", "write_game"]


def write_game(record: Record, shown: Position) -> dict[str, str]:
    """The game in other formats: ``position``, ``seventeen`` and ``playok``.

    ``playok`` is missing for a game that does not begin at the starting position.
    """
    forms = {"position": format_position(shown), "seventeen": format_seventeen(shown)}
    with suppress(InputError):
        forms["playok"] = format_playok(record)
    return forms
