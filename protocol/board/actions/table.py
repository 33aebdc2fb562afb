"""The page's requests: each changes a board, or answers a question about it."""

from __future__ import annotations

from collections.abc import Callable

from merels.engine.common.errors import InputError
from merels.protocol.board.actions import games, playing, puzzles
from merels.protocol.board.requests import JSON, read_rules, read_settings, read_text
from merels.protocol.board.seat import Seat
from merels.protocol.board.session import Session
from merels.protocol.board.view import note_on, position_view
from merels.protocol.formats.mif_1_0.mfen import read_position


def act(session: Session, action: str, body: JSON) -> JSON:
    """Carry out a request; `InputError` or `EngineError` says why it is refused."""
    if action in CHANGES:
        try:
            with session.lock:
                return CHANGES[action](session, body) or {}
        finally:
            session.changed()
    if action not in OTHERS:
        raise InputError(action, "no such request")
    return OTHERS[action](session, body) or {}


CHANGES: dict[str, Callable[[Session, JSON], JSON | None]] = {
    one.__name__: one
    for one in (
        playing.new, playing.players, playing.play, playing.undo, playing.redo, playing.go,
        playing.play_on, playing.promote, playing.delete, playing.comment,
        playing.resign, playing.draw, playing.pause, playing.analyse, playing.thoughts,
        playing.restart,
    )
}
"""The requests that change a board's state at once; the caller holds its lock."""


def _check(session: Session, body: JSON) -> JSON:
    """What is wrong with a position that was set up, or what should be known of it."""
    try:
        position = read_position(read_text(body, "text"), read_rules(body))
    except InputError as error:
        return {"fault": error.expected[:1].upper() + error.expected[1:]}
    return {"position": position_view(position), "note": note_on(position)}


def _options(session: Session, body: JSON) -> JSON:
    """The options of the engine in a seat."""
    return {"options": _seat(session, body).options()}


def _configure(session: Session, body: JSON) -> None:
    """Set options of the engine in a seat."""
    _seat(session, body).wish(read_settings(body))
    session.changed()


def _seat(session: Session, body: JSON) -> Seat:
    """The seat that a request names, in which an engine sits."""
    part = body.get("seat")
    if not isinstance(part, int) or not 0 <= part < len(session.seats):
        raise InputError(str(part), "expected 0, 1 or 2")
    seat = session.seats[part]
    if seat.choice is None:
        raise InputError(seat.part, "no engine plays there")
    return seat


def _review(session: Session, body: JSON) -> None:
    """Start or stop a review of the game."""
    with session.lock:
        record, nodes = session.record(), session.game.tree.end().line()
    if body.get("on", True) and record.moves:
        session.reviewer.start(record, [node.number for node in nodes])
    else:
        session.reviewer.forget()


def _hidden(session: Session, body: JSON) -> None:
    """Note that the page closes its stream."""
    session.hide(left=bool(body.get("left")))


OTHERS: dict[str, Callable[[Session, JSON], JSON | None]] = {
    "load": games.load, "export": games.export, "games": games.list_games, "keep": games.keep,
    "reopen": games.reopen, "forget": games.forget, "all_games": games.all_games,
    "options": _options, "configure": _configure, "review": _review, "hidden": _hidden,
    "check": _check, "puzzle": puzzles.puzzle, "lesson": puzzles.lesson,
    "try": puzzles.try_move, "hint": puzzles.hint,
    "solution": puzzles.solution,
}
"""The requests that take long, ask a question, or leave the state as it is."""
