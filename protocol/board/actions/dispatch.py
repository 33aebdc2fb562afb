"""Calls the action that a request names, with the fields of the request."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

from merels.engine.common.errors import InputError
from merels.engine.game.notation import START
from merels.engine.game.rules import Rules
from merels.protocol.board.actions import games, playing, puzzles
from merels.protocol.board.requests import (
    read_keys,
    read_moves,
    read_players,
    read_rules,
    read_time,
)
from merels.protocol.board.session import Session
from merels.protocol.board.view import notice_on, position_view
from merels.protocol.common.json_fields import JSON, optional_whole, typed_field, whole_field
from merels.protocol.formats.mfen import read_position
from merels.protocol.puzzles.training import HIGHEST_RATING

TEXTS = {"changed": "", "how": None, "key": None, "position": START, "query": "", "text": None,
         "theme": ""}
"""Text fields with their defaults; a field with None is required."""
FLAGS = {"analyse", "ended", "left", "next"}
"""Boolean fields; a missing one is false."""
FIELDS: dict[str, Callable[[Session, JSON], Any]] = {
    "at": lambda _, body: body.get("at"),
    "game": lambda _, body: optional_whole(body, "game", 0, games.MAX_OFFERED),
    "high": lambda _, body: optional_whole(body, "high", 0, HIGHEST_RATING),
    "keys": lambda _, body: read_keys(body),
    "lines": lambda _, body: optional_whole(body, "lines", 1, playing.MAX_LINES),
    "low": lambda _, body: optional_whole(body, "low", 0, HIGHEST_RATING),
    "moves": lambda _, body: read_moves(body),
    "node": lambda session, body: session.game.record.node(body.get("node")),
    "number": lambda _, body: whole_field(body, "number", 0, 10**6),
    "on": lambda _, body: bool(body["on"]) if "on" in body else None,
    "players": lambda session, body: read_players(body, session.choices),
    "rules": lambda _, body: read_rules(body),
    "time": lambda _, body: read_time(body["time"]) if "time" in body else None,
}
"""Readers of all other fields. An action receives the fields that its parameters name."""


def act(session: Session, action: str, body: JSON) -> JSON:
    """Perform an action and return its answer; a refusal raises `InputError` or `EngineError`."""
    if action in LOCKED_ACTIONS:
        try:
            with session.lock:
                return _call(LOCKED_ACTIONS[action], session, body)
        finally:
            session.changed()
    if action not in UNLOCKED_ACTIONS:
        raise InputError(action, "no such request")
    return _call(UNLOCKED_ACTIONS[action], session, body)


def _call(action: Callable[..., JSON | None], session: Session, body: JSON) -> JSON:
    """Call an action with the fields of the request that its parameters name."""
    names = list(signature(action).parameters)[1:]
    return action(session, **{name: _field(name, session, body) for name in names}) or {}


def _field(name: str, session: Session, body: JSON) -> Any:
    """Return the value of a request's field, read by the tables above."""
    if name in TEXTS:
        return typed_field(body, name, str, "a text", TEXTS[name])
    return body.get(name) is True if name in FLAGS else FIELDS[name](session, body)


LOCKED_ACTIONS: dict[str, Callable[..., JSON | None]] = {
    action.__name__: action
    for action in (
        playing.new, playing.players, playing.play, playing.undo, playing.redo, playing.go,
        playing.play_on, playing.promote, playing.delete, playing.comment,
        playing.resign, playing.draw, playing.pause, playing.analyse, playing.evaluation,
        playing.restart,
    )
}
"""Actions that change the board's state and return quickly; they run under its lock."""


def _check(session: Session, text: str, rules: Rules) -> JSON:
    """Check a position of the editor; the answer is its fault, or the position and a notice."""
    try:
        position = read_position(text, rules)
    except InputError as error:
        return {"fault": error.expected[:1].upper() + error.expected[1:]}
    return {"position": position_view(position), "note": notice_on(position)}


def _review(session: Session, on: bool | None) -> None:
    """Start a review of the game, or discard it."""
    with session.lock:
        record = session.snapshot()
    if on is not False and record.moves:
        session.reviewer.start(record)
    else:
        session.reviewer.discard()


UNLOCKED_ACTIONS: dict[str, Callable[..., JSON | None]] = {
    "load": games.load, "export": games.export, "games": games.list_games,
    "keep": games.store_games, "reopen": games.reopen, "forget": games.delete,
    "all_games": games.all_games, "review": _review,
    "hidden": Session.hide, "suggest": playing.suggest,
    "check": _check, "puzzle": puzzles.puzzle, "lesson": puzzles.lesson,
    "try": puzzles.try_move, "hint": puzzles.hint,
    "solution": puzzles.solution,
}
"""All other actions: they may take long, so they lock the board only when needed."""
