"""Games of any origin as a journal."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable

from merels.engine.common.errors import InputError
from merels.engine.game.notation import format_moves, format_position
from merels.engine.game.record import Record
from merels.engine.game.rules import DEFAULT_RULES, Rules
from merels.protocol.client.engine_spec import EngineSpec
from merels.tournament.journal.open import new_journal
from merels.tournament.journal.players import UNKNOWN_COMMAND
from merels.tournament.journal.rows import Row
from merels.tournament.records.games import Entrant, TimeControl
from merels.tournament.records.output import IDENTITY, PAIR_TAG
from merels.tournament.records.settings import Settings


def write_journal(path: str, records: Iterable[Record]) -> None:
    """Write a new journal, whole or not at all, of games under one rule set; none of no game.

    Games that carry one PairId are a pair, all others stand alone. What was searched and how long
    it took is unknown. `InputError` where a journal cannot hold a game.
    """
    rows: list[Row] = []
    pairs: dict[str, int] = {}
    rules: Rules | None = None
    first = Record()
    for number, record in enumerate(records, 1):
        if rules is None:
            rules, first = record.start.rules, record
        elif record.start.rules != rules:
            raise InputError(
                str(record.start.rules),
                f"game {number} is played by these rules and the first by {rules}; "
                "a journal is of one rule set",
            )
        pair = record.tags.get(PAIR_TAG, "")
        known = pair if IDENTITY.fullmatch(pair) else f"#{number}"
        rows.append(_row(record, number, pairs.setdefault(known, number)))
    if not rows:
        return
    names = dict.fromkeys(name for row in rows for name in (row.white, row.black))
    settings = Settings(
        tuple(Entrant(EngineSpec(UNKNOWN_COMMAND, name), TimeControl()) for name in names),
        seed=0, rules=str(rules or DEFAULT_RULES), event=first.tags.get("Event", "?"),
        site=first.tags.get("Site", "?"),
    )  # fmt: skip
    meta = {"id": secrets.token_hex(8), "arguments": "[]", "folder": os.getcwd()}
    with new_journal(path) as journal:
        journal.create(settings.as_json(), meta)
        for row in rows:
            journal.append(row)


def _row(record: Record, number: int, pair: int) -> Row:
    """A game as a journal's row."""
    tags = {name: value for name, value in record.tags.items() if value.strip("? ")}
    white, black = tags.get("White", "White"), tags.get("Black", "Black")
    if white == black:
        raise InputError(white, f"game {number} is of a player against itself: no journal has that")
    comments = record.comments if record.moves else [record.opening_comment]
    round_ = tags.get("Round", "")
    count = len(record.moves)
    none, zeros = " ".join(["-"] * count), " ".join(["0"] * count)
    return Row(
        number, int(round_) if round_.isdecimal() and len(round_) < 10 else 1, pair, white, black,
        format_position(record.start), "", tags.get("Opening", ""), record.result,
        tags.get("Termination", "normal").lower(), comments[-1] if comments else "",
        format_moves(record.moves), none, zeros, zeros, zeros, none,
        tags.get("GameStartTime", ""), 0,
    )
