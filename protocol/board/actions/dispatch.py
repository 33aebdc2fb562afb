"""The page's requests: each changes a board, or answers a question about it."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

from merels.engine.common.errors import InputError
from merels.engine.game.notation import START
from merels.engine.game.rules import Rules
from merels.protocol.board.actions import games, playing, puzzles
from merels.protocol.board.requests import (
    read_moves,
    read_players,
    read_rules,
    read_settings,
    read_time,
)
from merels.protocol.board.seat import Seat
from merels.protocol.board.session import Session
from merels.protocol.board.view import note_on, position_view
from merels.protocol.common.json_fields import JSON, optional, typed_field, whole_field
from merels.protocol.common.options import Value
from merels.protocol.formats.mif_1_0.mfen import read_position

TEXTS = {"changed": "", "how": None, "key": None, "position": START, "query": "", "text": None}
"""Fields that are texts, each with its default; None: it must be there."""
FLAGS = {"analyse", "ended", "left", "next"}
FIELDS: dict[str, Callable[[Session, JSON], Any]] = {
    "at": lambda _, body: body.get("at"),
    "game": lambda _, body: optional(whole_field, body, "game", 0, games.MOST_FOUND),
    "lines": lambda _, body: optional(whole_field, body, "lines", 1, playing.MOST_LINES),
    "moves": lambda _, body: read_moves(body),
    "node": lambda session, body: session.game.record.node(body.get("node")),
    "number": lambda _, body: whole_field(body, "number", 0, 10**6),
    "on": lambda _, body: bool(body["on"]) if "on" in body else None,
    "players": lambda session, body: read_players(body, session.choices),
    "rules": lambda _, body: read_rules(body),
    "seat": lambda session, body: _seat(session, whole_field(body, "seat", 0, 2)),
    "settings": lambda _, body: read_settings(body),
    "time": lambda _, body: read_time(body["time"]) if "time" in body else None,
}
"""All other fields."""


def act(session: Session, action: str, body: JSON) -> JSON:
    """Carry out a request; raise `InputError` or `EngineError` with the reason of a refusal."""
    if action in CHANGES:
        try:
            with session.lock:
                return _call(CHANGES[action], session, body)
        finally:
            session.changed()
    if action not in OTHERS:
        raise InputError(action, "no such request")
    return _call(OTHERS[action], session, body)


def _call(action: Callable[..., JSON | None], session: Session, body: JSON) -> JSON:
    """Call an action with the fields of the request that its parameters name."""
    names = list(signature(action).parameters)[1:]
    return action(session, **{name: _field(name, session, body) for name in names}) or {}


def _field(name: str, session: Session, body: JSON) -> Any:
    """Read a field of a request by the schema above."""
    if name in TEXTS:
        return typed_field(body, name, str, "a text", TEXTS[name])
    return body.get(name) is True if name in FLAGS else FIELDS[name](session, body)


CHANGES: dict[str, Callable[..., JSON | None]] = {
    one.__name__: one
    for one in (
        playing.new, playing.players, playing.play, playing.undo, playing.redo, playing.go,
        playing.play_on, playing.promote, playing.delete, playing.comment,
        playing.resign, playing.draw, playing.pause, playing.analyse, playing.evaluation,
        playing.restart,
    )
}
"""The requests that change a board's state at once; the caller holds its lock."""


def _check(session: Session, text: str, rules: Rules) -> JSON:
    """The fault or the notice about a position that was set up."""
    try:
        position = read_position(text, rules)
    except InputError as error:
        return {"fault": error.expected[:1].upper() + error.expected[1:]}
    return {"position": position_view(position), "note": note_on(position)}


def _options(session: Session, seat: Seat) -> JSON:
    """The options of the engine in a seat."""
    return {"options": seat.options()}


def _configure(session: Session, seat: Seat, settings: dict[str, Value]) -> None:
    """Set options of the engine in a seat."""
    seat.wish(settings)
    session.changed()


def _seat(session: Session, part: int) -> Seat:
    """The seat that a request names, in which an engine sits."""
    seat = session.seats[part]
    if seat.choice is None:
        raise InputError(seat.part, "no engine plays there")
    return seat


def _review(session: Session, on: bool | None) -> None:
    """Start or stop a review of the game."""
    with session.lock:
        record = session.snapshot()
    if on is not False and record.moves:
        session.reviewer.start(record)
    else:
        session.reviewer.forget()


OTHERS: dict[str, Callable[..., JSON | None]] = {
    "load": games.load, "export": games.export, "games": games.list_games, "keep": games.keep,
    "reopen": games.reopen, "forget": games.forget, "all_games": games.all_games,
    "options": _options, "configure": _configure, "review": _review, "hidden": Session.hide,
    "check": _check, "puzzle": puzzles.puzzle, "lesson": puzzles.lesson,
    "try": puzzles.try_move, "hint": puzzles.hint,
    "solution": puzzles.solution,
}
"""The requests that take long, ask a question, or leave the state as it is."""
