"""Actions that open, export and store games."""

from __future__ import annotations

from merels.engine.common.errors import InputError
from merels.engine.common.messages import joined, message
from merels.engine.common.numbers import read_whole
from merels.engine.game.rules import Rules
from merels.protocol.board.auto_saver import RESUME_TAGS, stored_clock, stored_players
from merels.protocol.board.game_store import SIDES, UNFINISHED, Entry, GameStore
from merels.protocol.board.session import Session
from merels.protocol.board.view import points
from merels.protocol.common.json_fields import JSON
from merels.protocol.formats.forms import write_game
from merels.protocol.formats.files import FileItem, GameItem, pasted
from merels.protocol.formats.pgn.variants import RecordRules
from merels.protocol.games.writer import format_record
from merels.protocol.games.game import game_of
from merels.protocol.games.record import Record, notices_of

MAX_LISTED = 200
"""Stored games listed, at most."""
MAX_OFFERED = 10_000
"""Games of an opened text offered for choice, at most."""
MAX_FAULTS = 20
"""Faults in the games of a text that are listed, at most."""
_TAG_ADVICE = "a game without the tag is read by the rules on the board"


def load(session: Session, text: str, rules: Rules, game: int | None) -> JSON:
    """Open the position or the game in a text of any supported format.

    If the text has several games, ``game`` is the index of the one to open, from 0; if it is None,
    the answer lists the games. ``rules`` apply to a text that names no rules.
    """
    content = pasted(text)
    if len(content) > 1 and game is None:
        views = [_game_view(each) for each in content[:MAX_OFFERED] if isinstance(each, GameItem)]
        return {"games": views, "found": len(content)}
    if game is not None and game >= len(content):
        raise InputError(str(game), f"expected a game from 0 to {len(content) - 1}")
    record = _read(content[game or 0], rules)
    with session.lock:
        session.begin(game_of(record))
    session.changed()
    notices = notices_of(record, False)
    return {"moves": len(record.moves)} | ({"notice": joined("; ", notices)} if notices else {})


def _read(found: FileItem, rules: Rules) -> Record:
    """Return a game or position, by the rules that the game names, else by ``rules``."""
    record = found.read(RecordRules(rules, advice=_TAG_ADVICE))
    assert isinstance(record, Record), "pasted rule sets are refused"
    return record


def _game_view(game: GameItem) -> JSON:
    """Return the list entry of a game whose moves have not been read."""
    return _tags_view(game.text.tags) | {"result": game.text.result}


def _tags_view(tags: dict[str, str]) -> JSON:
    """Return the tags that a list of games shows."""
    names = ("White", "Black", "Date", "Event", "Variant")
    view: JSON = {name.lower(): tags.get(name, "?") for name in names}
    return view | {"result": tags.get("Result", "*"), "plies": tags.get("PlyCount", "")}


def export(session: Session) -> JSON:
    """Return the game and the position shown, in every format."""
    with session.lock:
        record, shown = session.snapshot(), session.game.shown
        if session.reviewer.progress is not None:
            session.reviewer.progress.annotate(record)
    return {"record": format_record(record), **write_game(record, shown)}


def list_games(session: Session, query: str, labels: dict[str, str]) -> JSON:
    """Return the stored games that match a query, most recently changed first."""
    store = _store(session)
    entries = store.entries(query, labels)
    here = session.saver.key
    views = [
        _entry_view(entry) | {
            "here": entry.key == here,
            "elsewhere": entry.key != here and not store.is_free(entry.key),
        }
        for entry in entries[:MAX_LISTED]
    ]
    return {"games": views, "found": len(entries), "folder": str(store.folder)}


def _entry_view(entry: Entry) -> JSON:
    """Return a stored game's list entry; ``changed`` is text: JavaScript rounds large numbers."""
    view = _tags_view(entry.tags) | {"key": entry.key, "unfinished": entry.unfinished}
    men = entry.final and [points(entry.final.men[side]) for side in (0, 1)]
    view |= {"own": entry.own, "men": men and {"white": men[0], "black": men[1]}}
    view |= {side.lower(): entry.player_name(side) for side in SIDES}
    view["types"] = [entry.tags.get(f"{side}Type", "") for side in SIDES]
    return view | {"changed": str(entry.changed)}


def scores(session: Session) -> JSON:
    """Return the user's wins, draws and losses against each level, by its name."""
    store = session.saver.store
    return {} if store is None else dict(store.scores())


def last_unfinished(store: GameStore | None) -> JSON | None:
    """Return the list entry of the latest game if it is unfinished and free; else None."""
    entries = store.entries() if store is not None else []
    if store is None or not entries or not entries[0].unfinished:
        return None
    return _entry_view(entries[0]) if store.is_free(entries[0].key) else None


def store_games(session: Session, text: str, rules: Rules) -> JSON:
    """Store all readable games of a text; the answer lists the faults of the other games."""
    store = _store(session)
    count, faults = 0, []
    for found in pasted(text):
        try:
            record = _read(found, rules)
        except InputError as error:
            faults.append(str(error))
            continue
        record.tags["PlyCount"] = str(len(record.moves))
        try:
            store.add(record)
        except OSError as error:
            where = str(store.folder)
            fault = message("cannot write to this folder: {reason}", reason=error.strerror)
            raise InputError(where, fault) from None
        count += 1
    return {"kept": count, "skipped": len(faults), "faults": faults[:MAX_FAULTS]}


def reopen(session: Session, key: str) -> None:
    """Put a stored game on the board; resume an unfinished one with its players and clock."""
    store = _store(session)
    claim = store.claim(key, session.saver.watched)
    try:
        game = game_of(store.read(key))
    except BaseException:
        store.release(claim)
        raise
    record = game.record
    game.played = record.tags.get("Termination") == UNFINISHED and not game.over
    with session.lock:
        clock = stored_clock(record) if game.played else None
        if game.played:
            session.set_players(stored_players(record, session.choices))
            for name in RESUME_TAGS:
                record.tags.pop(name, None)
        if clock is not None:
            session.time = clock[0]
        elif session.time["kind"] == "clock":
            session.time = {"kind": "move", "seconds": 1.0}
        session.begin(game, claim)
        game.clock = None if clock is None else clock[1]
    session.changed()


def delete(session: Session, key: str, changed: str) -> None:
    """Delete a stored game, if its modification time is ``changed``, in nanoseconds."""
    store = _store(session)
    if key == session.saver.key:
        raise InputError(key, "this game is on the board; begin another one first")
    claim = store.claim(key, session.saver.watched)
    try:
        store.remove(claim, read_whole(changed, 0, 2**63, "changed"))
    finally:
        store.release(claim)


def all_games(
    session: Session, query: str, keys: list[str], labels: dict[str, str]
) -> JSON:
    """Return the stored games that match a query, limited to ``keys`` if any, as one PGN text."""
    return {"record": _store(session).text(query, keys, labels)}


def _store(session: Session) -> GameStore:
    """Return the store of games; raise `InputError` if there is none."""
    if session.saver.store is None:
        raise InputError("games", "no games are stored here; set MERELS_GAMES to a folder")
    return session.saver.store
