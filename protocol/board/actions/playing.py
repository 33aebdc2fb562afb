"""Actions of playing and analysing: moves, undo, draws, clocks, variations, evaluations."""

from __future__ import annotations

from collections.abc import Sequence

from merels.engine.common.errors import InputError
from merels.engine.common.messages import message
from merels.engine.game.position import Move
from merels.engine.game.rules import Rules
from merels.protocol.board.requests import Player
from merels.protocol.board.session import Session
from merels.protocol.common.json_fields import JSON
from merels.protocol.formats.mfen import read_position
from merels.protocol.games.game import Game
from merels.protocol.games.tree import Node
from merels.protocol.review.review import expected

LONGEST_COMMENT = 4000
"""Characters of a comment, at most."""
MAX_LINES = 5
"""Variations of an analysis, at most."""


def new(
    session: Session, position: str, rules: Rules, analyse: bool, players: Sequence[Player],
    time: JSON | None,
) -> None:
    """Begin a game from a position, or with ``analyse`` an analysis of it.

    Without ``players`` or ``time``, the board keeps its players or its time control.
    """
    start = read_position(position, rules)
    if not analyse and (outcome := start.outcome()) is not None:
        fault = "the game is over here ({reason}); analyse this position instead"
        raise InputError(position, message(fault, reason=str(outcome)))
    session.set_players(players)
    session.time = time or session.time
    game = Game(start)
    game.played = not analyse
    session.begin(game)


def players(session: Session, players: Sequence[Player], time: JSON | None) -> None:
    """Change players, levels and time control in a game; a new time control resets the clock."""
    old_names = list(session.names)
    session.set_players(players)
    if session.names != old_names:
        session.game.version += 1
    if time not in (None, session.time):
        session.time = time
        session.game.clock = session.new_clock()
    session.engine_error = ""


def play(session: Session, moves: Sequence[Move], at: object) -> None:
    """Play a user's move in the position shown; an analysis can play several moves.

    ``at`` is the number of the node that the page showed; a move for another node is refused.
    """
    game, move = session.game, moves[0]
    if at != game.at.number:
        raise InputError(str(move), "the board has changed meanwhile; check it and move again")
    if session.analysing:
        for move in moves:
            game.attempt(move)
        return
    if session.playing and game.at is not game.live:
        raise InputError(str(move), "you are looking back; go to the last move to play on")
    if session.playing and session.paused:
        raise InputError(str(move), "the game is paused; resume it to play on")
    if session.seats[game.last.side].choice is not None:
        raise InputError(str(move), "it is the engine's turn; wait for its move")
    if game.flag():
        raise InputError(str(move), "the clock has run out; begin a new game")
    game.play(move)


def suggest(session: Session) -> JSON:
    """Return a good move in the position shown, from the tables or a short search."""
    with session.lock:
        position, may_move = session.game.shown, session.may_move
    if not may_move:
        raise InputError("hint", "it is not your turn; wait for the engine's move")
    best = session.reviewer.judge(position.rules)(position).best
    if best is None:
        raise InputError("hint", "the engine has no move to suggest here; try a move of your own")
    return {"move": str(best)}


def undo(session: Session, ended: bool) -> None:
    """Take back a user's last move, or in analysis undo the last change.

    In a game between engines, take back the last move and pause. A finished game needs ``ended`` as
    a confirmation; it stays stored, and play continues as a new game.
    """
    game = session.game
    if session.analysing:
        game.undo_edit()
        return
    node = session.before_last_own() if game.played else None
    if node is None:
        raise InputError("undo", "no move of yours has been played; play one first")
    if game.over and not ended:
        reason = game.result()[1]
        fault = message("the game is over ({reason}); begin a new one", reason=reason)
        raise InputError("undo", fault)
    session.change_game(lambda: game.take_back(node), as_new=game.over)
    if not session.users:
        session.paused = True


def redo(session: Session) -> None:
    """Replay the moves taken back, or in analysis redo the last undone change."""
    if session.analysing:
        session.game.redo_edit()
    else:
        session.change_game(session.game.replay)


def go(session: Session, node: Node) -> None:
    """Show the position of a node."""
    session.game.at = node


def play_on(session: Session) -> None:
    """Continue play from the position shown; after a record or a finished game, as a new game."""
    game = session.game
    session.change_game(
        lambda: game.play_from(game.at), as_new=not game.played or game.over
    )
    game.clock = game.clock or session.new_clock()
    session.analysing = session.paused = False


def promote(session: Session, node: Node) -> None:
    """Move a variation up by one."""
    session.game.promote(node)


def delete(session: Session, node: Node) -> None:
    """Delete a move and all after it."""
    session.game.delete(node)


def comment(session: Session, node: Node, text: str) -> None:
    """Set the comment on a move or, with the root node, on the game."""
    text = " ".join(text.split())
    if len(text) > LONGEST_COMMENT:
        raise InputError(text, f"expected a comment of at most {LONGEST_COMMENT} characters")
    session.game.comment(node, text)


def resign(session: Session) -> None:
    """Resign for the only user; with two users or none, for the side to move."""
    game = session.game
    if not session.playing:
        raise InputError("resign", "no game is being played")
    users = session.users
    game.resign(users[0] if len(users) == 1 else game.last.side)


def draw(session: Session, how: str) -> JSON:
    """Offer a draw, or answer an offer: ``how`` is offer, accept or decline.

    After the placing phase an engine accepts if its last expected score was at most one half. The
    answer to an offer to an engine has ``accepted``.
    """
    game, users = session.game, session.users
    if not session.playing or not users:
        raise InputError("draw", "no game of yours is being played")
    if how == "offer" and game.live.parent is None:
        raise InputError("draw", "play a move first")
    if how == "offer" and len(users) == 2:
        game.offer = game.last.side
    elif how == "offer":
        score = session.last_scores[1 - users[0]]
        if any(game.last.hands) or score is None or expected(score) > 0.5:
            return {"accepted": False}
        game.agree()
        return {"accepted": True}
    elif game.offer is None:
        raise InputError("draw", "no draw is offered; offer one")
    elif how == "accept":
        game.agree()
    else:
        game.offer = None
    return {}


def pause(session: Session, on: bool) -> None:
    """Pause or resume the players' engines and the clock."""
    session.paused = on


def analyse(session: Session, on: bool) -> None:
    """Switch to analysis or back to the game.

    After the analysis of a record, play starts from the position shown.
    """
    game = session.game
    if not on and game.played:
        game.at = game.live
    elif not on:
        play_on(session)
    session.analysing = on
    session.announce("info")


def evaluation(session: Session, on: bool | None, lines: int | None) -> None:
    """Show or hide evaluations, and set the number of variations; None changes nothing.

    Play and analysis have separate settings.
    """
    session.lines = lines or session.lines
    session.show_evaluation[session.analysing] = session.shows_evaluation if on is None else on
    session.announce("info")


def restart(session: Session) -> None:
    """Clear an engine's failure, so that it is started again."""
    session.engine_error = ""
