"""Moves, and whatever else the players of a game and those who look at it do."""

from __future__ import annotations

from merels.engine.common.errors import InputError
from merels.engine.game.notation import START
from merels.protocol.board.requests import (
    JSON,
    read_moves,
    read_names,
    read_players,
    read_rules,
    read_text,
    read_time,
)
from merels.protocol.board.session import Session
from merels.protocol.formats.mif_1_0.mfen import read_position
from merels.protocol.games.game import Game
from merels.protocol.games.tree import Node
from merels.protocol.review.review import expected

LONGEST_COMMENT = 4000
MOST_LINES = 5
"""The most variations that an analysis shows."""


def may_move(session: Session) -> bool:
    """Whether the user may play or try a move in the position shown."""
    game = session.game
    if game.shown.outcome() is not None:
        return False
    if session.analysing:
        return True
    theirs = session.seats[game.last.side].choice is None and not session.paused
    return session.playing and game.at is game.live and theirs


def can_undo(session: Session) -> bool:
    """Whether there is a move to take back, or in analysis a change to undo."""
    if session.analysing:
        return session.game.can_undo_edit
    return session.game.played and _before_last_own(session) is not None


def can_redo(session: Session) -> bool:
    """Whether what was taken back, or in analysis undone, can be done again."""
    return session.game.can_redo_edit if session.analysing else session.game.can_replay


def _before_last_own(session: Session) -> Node | None:
    """Where the game stood before a user's last move, or in a game of engines the last move."""
    node = session.game.live
    users = [seat.choice is None for seat in session.seats[:2]]
    while node.parent is not None:
        if users[node.parent.position.side] or not any(users):
            return node.parent
        node = node.parent
    return None


def new(session: Session, body: JSON) -> None:
    """Begin a game: rules, players, time and perhaps a position to start from.

    With ``analyse`` the position is only to be looked at.
    """
    text, played = read_text(body, "position", START), body.get("analyse") is not True
    start = read_position(text, read_rules(body))
    if played and (outcome := start.outcome()) is not None:
        raise InputError(text, f"the game is over here ({outcome}); analyse this position instead")
    _set_players(session, body)
    game = Game(start)
    game.played = played
    session.begin(game)


def players(session: Session, body: JSON) -> None:
    """Change the players, their levels and the time during a game."""
    before, names = session.time, session.names
    _set_players(session, body)
    if session.names != names:
        session.game.version += 1
    if session.time != before:
        session.game.clock = session.new_clock()
    session.error = ""


def _set_players(session: Session, body: JSON) -> None:
    """Set the players and the time: all of them or, after an error, nothing."""
    seated, names = read_players(body, session.choices), read_names(body)
    if "time" in body:
        session.time = read_time(body["time"])
    session.set_players(seated)
    if seated:
        session.names = names


def play(session: Session, body: JSON) -> None:
    """Play a user's move in the position shown, that of the node ``at``; in analysis several."""
    game, moves = session.game, read_moves(body)
    move = moves[0]
    if body.get("at") != game.at.number:
        raise InputError(str(move), "the board has changed meanwhile; look again")
    if session.analysing:
        for move in moves:
            game.attempt(move)
        return
    if session.playing and game.at is not game.live:
        raise InputError(str(move), "you are looking back; go to the last move to play on")
    if session.playing and session.paused:
        raise InputError(str(move), "the game is paused; resume it to play on")
    if session.seats[game.last.side].choice is not None:
        raise InputError(str(move), "it is the engine's turn")
    if game.flag():
        raise InputError(str(move), "the clock has run out")
    game.play(move)


def undo(session: Session, body: JSON) -> None:
    """Take back a user's last move, or in analysis undo the last change.

    In a game of engines take back the last move, and pause. After the end of the game, which
    ``ended`` must confirm, what follows is another game: the one that has ended stays kept.
    """
    game = session.game
    if session.analysing:
        game.undo_edit()
        return
    node = _before_last_own(session) if game.played else None
    if node is None:
        raise InputError("undo", "no move of yours has been played")
    if game.over and body.get("ended") is not True:
        raise InputError("undo", f"the game is over ({game.result()[1]}); begin a new one")
    session.change_game(lambda: game.take_back(node), another=game.over)
    if all(seat.choice is not None for seat in session.seats[:2]):
        session.paused = True


def redo(session: Session, body: JSON) -> None:
    """Play again what was taken back, or in analysis make a change again that was undone."""
    if session.analysing:
        session.game.redo_edit()
    else:
        session.change_game(session.game.replay)


def go(session: Session, body: JSON) -> None:
    """Show the position of a node."""
    session.game.at = session.game.tree.node(body.get("node"))


def play_on(session: Session, body: JSON) -> None:
    """Let the game go on from the position shown; from a record or a finished game, another one."""
    game = session.game
    session.change_game(
        lambda: game.play_from(game.at), another=not game.played or game.over
    )
    session.analysing = session.paused = False


def promote(session: Session, body: JSON) -> None:
    """Let a variation change places with the one before it."""
    session.game.promote(session.game.tree.node(body.get("node")))


def delete(session: Session, body: JSON) -> None:
    """Delete a move and all after it."""
    session.game.delete(session.game.tree.node(body.get("node")))


def comment(session: Session, body: JSON) -> None:
    """Write a comment on a move, or on the game."""
    text = " ".join(read_text(body, "text").split())
    if len(text) > LONGEST_COMMENT:
        raise InputError(text, f"expected a comment of at most {LONGEST_COMMENT} characters")
    session.game.comment(session.game.tree.node(body.get("node")), text)


def resign(session: Session, body: JSON) -> None:
    """Resign for the only user, or if there are two or none, for the side to move."""
    game = session.game
    if not session.playing:
        raise InputError("resign", "no game is being played")
    users = _users(session)
    game.resign(users[0] if len(users) == 1 else game.last.side)


def draw(session: Session, body: JSON) -> JSON:
    """Offer a draw, or answer an offer: ``how`` is offer, accept or decline.

    An engine accepts if it last thought that it stands no better. The answer says whether it did.
    """
    game, how, users = session.game, read_text(body, "how"), _users(session)
    if not session.playing or not users:
        raise InputError("draw", "no game of yours is being played")
    if how == "offer" and game.live.parent is None:
        raise InputError("draw", "play a move first")
    if how == "offer" and len(users) == 2:
        game.offer = game.last.side
    elif how == "offer":
        opinion = session.opinions[1 - users[0]]
        if any(game.last.hands) or opinion is None or expected(opinion) > 0.5:
            return {"accepted": False}
        game.agree()
        return {"accepted": True}
    elif game.offer is None:
        raise InputError("draw", "no draw is offered")
    elif how == "accept":
        game.agree()
    else:
        game.offer = None
    return {}


def _users(session: Session) -> list[int]:
    """The sides that users play."""
    return [side for side in (0, 1) if session.seats[side].choice is None]


def pause(session: Session, body: JSON) -> None:
    """Pause or resume the players' engines and the clock."""
    session.paused = bool(body.get("on"))


def analyse(session: Session, body: JSON) -> None:
    """Turn from play to analysis, or back to the game; a record is played on where it is shown."""
    game, on = session.game, bool(body.get("on"))
    if not on and game.played:
        game.at = game.live
    elif not on:
        play_on(session, body)
    session.analysing = on
    session.tell("info")


def thoughts(session: Session, body: JSON) -> None:
    """Show or hide evaluations, in play or in an analysis; set the number of variations."""
    lines = body.get("lines", session.lines)
    if type(lines) is not int or not 1 <= lines <= MOST_LINES:
        raise InputError(str(lines), f"expected from 1 to {MOST_LINES} lines")
    session.lines = lines
    session.thoughts[session.analysing] = bool(body.get("on", session.reveals))
    session.tell("info")


def restart(session: Session, body: JSON) -> None:
    """Continue with fresh engines after one has failed."""
    session.error = ""
