"""Reading positions, games and rules from files and journals; writing games as a journal."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import replace

from merels.engine.common.errors import InputError, placed
from merels.engine.common.files import errors_at, file_error, shown_path
from merels.engine.game.notation import format_moves, format_position
from merels.engine.game.rules import DEFAULT_RULES, Rules
from merels.protocol.client.engine_spec import EngineSpec
from merels.protocol.formats.forms import JOURNAL
from merels.protocol.formats.items import Item, OnInvalid, text_items
from merels.protocol.formats.pgn.reader import check_record
from merels.protocol.formats.pgn.variants import RecordRules
from merels.protocol.games.record import Record
from merels.tournament.journal.import_games import cause_of, is_journal
from merels.tournament.journal.open import new_journal, read_journal
from merels.tournament.journal.replay import untimed_plies
from merels.tournament.journal.rows import Row
from merels.tournament.records.games import Entrant, TimeControl
from merels.tournament.records.output import IDENTITY, PAIR_TAG
from merels.tournament.records.settings import UNKNOWN_COMMAND, Settings, read_settings
from merels.tournament.views.pgn import GameWriter


def read_items(
    path: str, form: str | None, rules: RecordRules, on_fault: OnInvalid | None = None
) -> Iterator[Item]:
    """Yield the positions, games or rules of a text file, or the games of a journal.

    ``form``: the format of the file, None to detect it. ``on_fault`` is called with the error of
    each item that cannot be read; by default, the first error is raised. Raise `InputError` if the
    file has no items.
    """
    faults = 0

    def report(error: InputError) -> None:
        nonlocal faults
        faults += 1
        if on_fault is None:
            raise error
        on_fault(error)

    is_journaled = form == JOURNAL or form is None and is_journal(path)
    item = None
    for item in (_journaled(path, rules, report) if is_journaled
                 else text_items(path, form, rules, report)):
        yield item
    if item is None and not faults:
        raise file_error(shown_path(path), "expected positions, games or rules here, found none")


def _journaled(path: str, rules: RecordRules, report: OnInvalid) -> Iterator[Item]:
    """Yield the games of a journal with all their tags and comments.

    Moves are checked, because the journal may come from elsewhere.
    """
    with read_journal(path) as journal:
        notes = journal.meta()
        with errors_at(shown_path(path)):
            settings = read_settings(notes["settings"])
            stated = rules.of(settings.rules)
            writer = GameWriter(replace(settings, rules=str(stated)), notes["id"])
        for row in journal.rows():
            place = f"game {row.number} of {shown_path(path)}"
            try:
                record = writer.record(row)
                check_record(record, rules)
            except InputError as error:
                report(placed(error, place))
            else:
                yield Item(record, place)


def write_journal(path: str, records: Iterable[Record]) -> None:
    """Write games as a new journal, completely or not at all; without games, write no file.

    Games with the same PairId are a pair, all other games are single. The moves have no scores, and
    0 as time, depth and nodes. Raise `InputError` if games have different rules, or a game cannot
    be stored.
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
                f"game {number} is played by these rules and the first by {rules}, but a journal "
                "has one rule set; convert the games of each rule set to a journal of their own",
            )
        pair = record.tags.get(PAIR_TAG, "")
        key = pair if IDENTITY.fullmatch(pair) else f"#{number}"
        rows.append(_row(record, number, pairs.setdefault(key, number)))
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


_FIGURES = frozenset(("tl", "latency", "n", "sd", "nps", "hashfull", "pv"))
"""Names of the values after the seconds in the move comments of a tournament's PGN."""


def _reason(comment: str) -> str:
    """Return the reason for the end of a game from the comment of its last move."""
    first, *parts = comment.split(", ")
    seconds = first.rpartition(" ")[2]
    if not (seconds.endswith("s") and seconds[:-1].replace(".", "", 1).isdecimal()):
        return comment
    while parts and parts[0].partition("=")[0] in _FIGURES:
        del parts[0]
    return ", ".join(parts)


def _row(record: Record, number: int, pair: int) -> Row:
    """Return a game as a row of a journal."""
    tags = {name: value for name, value in record.tags.items() if value.strip("? ")}
    white, black = tags.get("White", "White"), tags.get("Black", "Black")
    if white == black:
        raise InputError(
            white, f"both players of game {number} have this name; give them different names"
        )
    round_ = tags.get("Round", "")
    first = untimed_plies(record)
    opening, moves = record.moves[:first], record.moves[first:]
    count = len(moves)
    none, zeros = " ".join(["-"] * count), " ".join(["0"] * count)
    return Row(
        number, int(round_) if round_.isdecimal() and len(round_) < 10 else 1, pair, white, black,
        format_position(record.start), format_moves(opening), tags.get("Opening", ""),
        record.result, tags.get("Termination", "normal").lower(), _reason(record.end().comment),
        format_moves(moves), none, zeros, zeros, zeros, none,
        tags.get("GameStartTime", ""), 0, cause=cause_of(tags),
    )
