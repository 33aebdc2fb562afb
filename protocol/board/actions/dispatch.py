"""The requests of the page by name; each reads its fields and calls a typed action."""

from __future__ import annotations

from collections.abc import Callable

from merels.engine.common.errors import InputError
from merels.engine.game.notation import START
from merels.engine.game.rules import Rules
from merels.protocol.board.actions import games, playing, puzzles
from merels.protocol.board.requests import (
    read_flag,
    read_keys,
    read_labels,
    read_moves,
    read_players,
    read_rules,
    read_switch,
    read_text,
    read_time,
)
from merels.protocol.board.session import Session
from merels.protocol.board.view import notice_on, position_view
from merels.protocol.common.json_fields import JSON, optional_whole, whole_field
from merels.protocol.formats.mfen import read_position
from merels.protocol.games.tree import Node
from merels.protocol.puzzles.training import RANGES

Request = Callable[[Session, JSON], JSON | None]


def act(session: Session, name: str, body: JSON) -> JSON:
    """Answer a request; a refusal raises `InputError` or `EngineError`."""
    if name in LOCKED:
        try:
            with session.lock:
                return LOCKED[name](session, body) or {}
        finally:
            session.changed()
    if name not in UNLOCKED:
        raise InputError(name, "no such request")
    return UNLOCKED[name](session, body) or {}


def _node(session: Session, body: JSON) -> Node:
    return session.game.record.node(body.get("node"))


def _check(session: Session, text: str, rules: Rules) -> JSON:
    """Check a position of the editor; the answer is its fault, or the position and a notice."""
    try:
        position = read_position(text, rules)
    except InputError as error:
        return {"fault": error.expected}
    return {"position": position_view(position), "note": notice_on(position)}


def _review(session: Session, on: bool) -> None:
    """Start a review of the game, or discard it."""
    with session.lock:
        record = session.snapshot()
    if on and record.moves:
        session.reviewer.start(record)
    else:
        session.reviewer.discard()


LOCKED: dict[str, Request] = {
    "new": lambda session, body: playing.new(
        session, read_text(body, "position", START), read_rules(body), read_flag(body, "analyse"),
        read_players(body, session.choices), read_time(body),
    ),
    "players": lambda session, body: playing.players(
        session, read_players(body, session.choices), read_time(body)
    ),
    "play": lambda session, body: playing.play(session, read_moves(body), body.get("at")),
    "undo": lambda session, body: playing.undo(session, read_flag(body, "ended")),
    "redo": lambda session, body: playing.redo(session),
    "go": lambda session, body: playing.go(
        session, session.game.live if read_flag(body, "live") else _node(session, body)
    ),
    "play_on": lambda session, body: playing.play_on(session),
    "promote": lambda session, body: playing.promote(session, _node(session, body)),
    "delete": lambda session, body: playing.delete(session, _node(session, body)),
    "comment": lambda session, body: playing.comment(
        session, _node(session, body), read_text(body, "text")
    ),
    "resign": lambda session, body: playing.resign(session),
    "draw": lambda session, body: playing.draw(session, read_text(body, "how")),
    "pause": lambda session, body: playing.pause(session, bool(read_switch(body))),
    "analyse": lambda session, body: playing.analyse(session, bool(read_switch(body))),
    "evaluation": lambda session, body: playing.evaluation(
        session, read_switch(body), optional_whole(body, "lines", 1, playing.MAX_LINES)
    ),
    "restart": lambda session, body: playing.restart(session),
}
"""Requests that change the board's state and take little time; they run under its lock."""

UNLOCKED: dict[str, Request] = {
    "load": lambda session, body: games.load(
        session, read_text(body, "text"), read_rules(body),
        optional_whole(body, "game", 0, games.MAX_OFFERED),
    ),
    "export": lambda session, body: games.export(session),
    "games": lambda session, body: games.list_games(
        session, read_text(body, "query", ""), read_labels(body)
    ),
    "scores": lambda session, body: games.scores(session),
    "keep": lambda session, body: games.store_games(
        session, read_text(body, "text"), read_rules(body)
    ),
    "reopen": lambda session, body: games.reopen(session, read_text(body, "key")),
    "forget": lambda session, body: games.delete(
        session, read_text(body, "key"), read_text(body, "changed", "")
    ),
    "all_games": lambda session, body: games.all_games(
        session, read_text(body, "query", ""), read_keys(body), read_labels(body)
    ),
    "review": lambda session, body: _review(session, read_switch(body) is not False),
    "hidden": lambda session, body: session.hide(read_flag(body, "left")),
    "suggest": lambda session, body: playing.suggest(session),
    "check": lambda session, body: _check(session, read_text(body, "text"), read_rules(body)),
    "puzzle": lambda session, body: puzzles.puzzle(
        session, read_flag(body, "next"), read_rules(body), read_text(body, "theme", ""),
        optional_whole(body, "level", 0, len(RANGES) - 1) or 0,
    ),
    "lesson": lambda session, body: puzzles.lesson(session, whole_field(body, "number", 0, 10**6)),
    "try": lambda session, body: puzzles.try_move(session, read_moves(body)),
    "hint": lambda session, body: puzzles.hint(session),
    "solution": lambda session, body: puzzles.solution(session),
}
"""Requests that may take long, so they lock the board only when needed."""
