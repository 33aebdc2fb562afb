"""The page's requests: each changes a board, or answers a question about it."""

from __future__ import annotations

from collections.abc import Callable

from merels.engine.game.errors import InputError
from merels.engine.game.notation import START, parse_position
from merels.engine.game.record import Record, format_record
from merels.protocol.board.game import Game, from_record
from merels.protocol.board.requests import (
    JSON,
    read_moves,
    read_players,
    read_rules,
    read_settings,
    read_text,
    read_time,
)
from merels.protocol.board.seat import Seat
from merels.protocol.board.session import Session
from merels.protocol.board.view import note_on, position_view
from merels.protocol.formats import read_game, write_game

MOST_LINES = 5
"""The most variations that an analysis shows."""


def act(session: Session, action: str, body: JSON) -> JSON:
    """Carry out a request; `InputError` or `EngineError` says why it is refused."""
    if action in CHANGES:
        try:
            with session.lock:
                CHANGES[action](session, body)
        finally:
            session.changed()
        return {}
    if action not in OTHERS:
        raise InputError(action, "no such request")
    return OTHERS[action](session, body) or {}


def _new(session: Session, body: JSON) -> None:
    """Begin a game: rules, players, time and perhaps a position to start from."""
    start = parse_position(read_text(body, "position", START), read_rules(body))
    _set_players(session, body)
    session.begin(Game(start))


def _players(session: Session, body: JSON) -> None:
    """Change the players, their levels and the time during a game."""
    before = session.time
    _set_players(session, body)
    if session.time != before:
        session.game.clock = session.new_clock()
    session.error = ""


def _set_players(session: Session, body: JSON) -> None:
    """Set the players and the time: all of them or, after an error, nothing."""
    players = read_players(body, session.choices)
    if "time" in body:
        session.time = read_time(body["time"])
    session.set_players(players)


def _play(session: Session, body: JSON) -> None:
    """Play a user's moves in the position shown, which is the one after ``at`` moves."""
    game, moves = session.game, read_moves(body)
    if body.get("at") != game.cursor:
        raise InputError(str(moves[0]), "the board has changed meanwhile; look again")
    engine = session.seats[game.shown.side].choice is not None
    if engine and not (session.paused or session.analysing):
        raise InputError(str(moves[0]), "it is the engine's turn; pause it to play for it")
    if game.flag():
        raise InputError(str(moves[0]), "the clock has run out")
    for move in moves if session.analysing else moves[:1]:
        game.play(move)
    session.reviewer.forget()


def _undo(session: Session, body: JSON) -> None:
    """Take back a user's last move; in a game of engines, the last move, and pause."""
    game = session.game
    if not game.moves:
        raise InputError("undo", "no move has been played")
    users = [ply for ply, position in enumerate(game.positions[:-1])
             if session.seats[position.side].choice is None]
    game.cut(users[-1] if users else len(game.moves) - 1)
    session.paused |= not users
    session.reviewer.forget()


def _go(session: Session, body: JSON) -> None:
    """Show the position after ``ply`` moves."""
    ply, most = body.get("ply"), len(session.game.moves)
    if not isinstance(ply, int) or not 0 <= ply <= most:
        raise InputError(str(ply), f"expected a ply from 0 to {most}")
    session.game.cursor = ply


def _resign(session: Session, body: JSON) -> None:
    """Resign for the only user, or if there are two or none, for the side to move."""
    if session.game.over:
        raise InputError("resign", "the game is over")
    users = [side for side in (0, 1) if session.seats[side].choice is None]
    session.game.resign(users[0] if len(users) == 1 else session.game.last.side)


def _pause(session: Session, body: JSON) -> None:
    """Pause or resume the players' engines and the clock."""
    session.paused = bool(body.get("on"))


def _analyse(session: Session, body: JSON) -> None:
    """Turn from play to analysis, or back."""
    session.analysing = bool(body.get("on"))
    session.tell("info")


def _thoughts(session: Session, body: JSON) -> None:
    """Show or hide evaluations, in play or in an analysis; set the number of variations."""
    lines = body.get("lines", session.lines)
    if not isinstance(lines, int) or not 1 <= lines <= MOST_LINES:
        raise InputError(str(lines), f"expected from 1 to {MOST_LINES} lines")
    session.lines = lines
    session.thoughts[session.analysing] = bool(body.get("on", session.reveals))
    session.tell("info")


def _restart(session: Session, body: JSON) -> None:
    """Continue with fresh engines after one has failed."""
    session.error = ""


CHANGES: dict[str, Callable[[Session, JSON], None]] = {
    "new": _new, "players": _players, "play": _play, "undo": _undo, "go": _go,
    "resign": _resign, "pause": _pause, "analyse": _analyse, "thoughts": _thoughts,
    "restart": _restart,
}
"""The requests that change a board's state at once; the caller holds its lock."""


def _load(session: Session, body: JSON) -> JSON:
    """Open a position or a game record in any format that `read_game` knows."""
    record = read_game(read_text(body, "text"), read_rules(body))
    with session.lock:
        session.begin(from_record(record))
        # A game is opened to be looked at: no engine moves, and no clock runs.
        engines = any(seat.choice is not None for seat in session.seats[:2])
        session.paused = engines or session.game.clock is not None
    session.changed()
    return {"moves": len(record.moves)}


def _record(session: Session) -> Record:
    """The game as a record."""
    return session.game.record((session.player_name(0), session.player_name(1)))


def _export(session: Session, body: JSON) -> JSON:
    """The game and the position shown, in every format."""
    with session.lock:
        record, shown = _record(session), session.game.shown
    return {
        "record": format_record(record), "shown": format_record(Record(shown)),
        **write_game(record, shown),
    }


def _check(session: Session, body: JSON) -> JSON:
    """What is wrong with a position that was set up, or what should be known of it."""
    try:
        position = parse_position(read_text(body, "text"), read_rules(body))
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
        record = _record(session)
    if body.get("on", True) and record.moves:
        session.reviewer.start(record)
    else:
        session.reviewer.forget()


def _hidden(session: Session, body: JSON) -> None:
    """Note that the page closes its stream."""
    session.hide(left=bool(body.get("left")))


OTHERS: dict[str, Callable[[Session, JSON], JSON | None]] = {
    "load": _load, "export": _export, "options": _options, "configure": _configure,
    "review": _review, "hidden": _hidden, "check": _check,
}
"""The requests that take long, ask a question, or leave the state as it is."""
