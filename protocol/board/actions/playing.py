"""Moves, and whatever else the players of a game and those who look at it do."""

from __future__ import annotations

from collections.abc import Sequence

from merels.engine.common.errors import InputError
from merels.engine.game.position import Move
from merels.engine.game.rules import Rules
from merels.protocol.board.requests import Player
from merels.protocol.board.session import Session
from merels.protocol.common.json_fields import JSON
from merels.protocol.formats.mif_1_0.mfen import read_position
from merels.protocol.games.game import Game
from merels.protocol.games.record import Node
from merels.protocol.review.review import expected

LONGEST_COMMENT = 4000
MOST_LINES = 5
"""The most variations that an analysis shows."""


def new(
    session: Session, position: str, rules: Rules, analyse: bool, players: Sequence[Player],
    time: JSON | None,
) -> None:
    """Begin a game: rules, players, time and perhaps a position to start from.

    With ``analyse`` the position is only to be looked at.
    """
    start = read_position(position, rules)
    if not analyse and (outcome := start.outcome()) is not None:
        fault = f"the game is over here ({outcome}); analyse this position instead"
        raise InputError(position, fault)
    session.set_players(players)
    session.time = time or session.time
    game = Game(start)
    game.played = not analyse
    session.begin(game)


def players(session: Session, players: Sequence[Player], time: JSON | None) -> None:
    """Change the players, their levels and the time during a game."""
    before = list(session.names)
    session.set_players(players)
    if session.names != before:
        session.game.version += 1
    if time not in (None, session.time):
        session.time = time
        session.game.clock = session.new_clock()
    session.error = ""


def play(session: Session, moves: Sequence[Move], at: object) -> None:
    """Play a user's move in the position shown, that of the node ``at``; in analysis several."""
    game, move = session.game, moves[0]
    if at != game.at.number:
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


def undo(session: Session, ended: bool) -> None:
    """Take back a user's last move, or in analysis undo the last change.

    In a game of engines take back the last move, and pause. After the end of the game, which
    ``ended`` must confirm, what follows is another game: the one that has ended stays kept.
    """
    game = session.game
    if session.analysing:
        game.undo_edit()
        return
    node = session.before_last_own() if game.played else None
    if node is None:
        raise InputError("undo", "no move of yours has been played")
    if game.over and not ended:
        raise InputError("undo", f"the game is over ({game.result()[1]}); begin a new one")
    session.change_game(lambda: game.take_back(node), another=game.over)
    if not session.users:
        session.paused = True


def redo(session: Session) -> None:
    """Play again what was taken back, or in analysis make a change again that was undone."""
    if session.analysing:
        session.game.redo_edit()
    else:
        session.change_game(session.game.replay)


def go(session: Session, node: Node) -> None:
    """Show the position of a node."""
    session.game.at = node


def play_on(session: Session) -> None:
    """Play on from the position shown; from a record or a finished game as another game."""
    game = session.game
    session.change_game(
        lambda: game.play_from(game.at), another=not game.played or game.over
    )
    session.analysing = session.paused = False


def promote(session: Session, node: Node) -> None:
    """Swap a variation with the one before it."""
    session.game.promote(node)


def delete(session: Session, node: Node) -> None:
    """Delete a move and all after it."""
    session.game.delete(node)


def comment(session: Session, node: Node, text: str) -> None:
    """Write a comment on a move, or on the game."""
    text = " ".join(text.split())
    if len(text) > LONGEST_COMMENT:
        raise InputError(text, f"expected a comment of at most {LONGEST_COMMENT} characters")
    session.game.comment(node, text)


def resign(session: Session) -> None:
    """Resign for the only user, or if there are two or none, for the side to move."""
    game = session.game
    if not session.playing:
        raise InputError("resign", "no game is being played")
    users = session.users
    game.resign(users[0] if len(users) == 1 else game.last.side)


def draw(session: Session, how: str) -> JSON:
    """Offer a draw, or answer an offer: ``how`` is offer, accept or decline.

    An engine accepts if its last score was not above 0. The answer states whether it accepted.
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
        raise InputError("draw", "no draw is offered")
    elif how == "accept":
        game.agree()
    else:
        game.offer = None
    return {}


def pause(session: Session, on: bool | None) -> None:
    """Pause or resume the players' engines and the clock."""
    session.paused = bool(on)


def analyse(session: Session, on: bool | None) -> None:
    """Turn from play to analysis, or back to the game; a record is played on where it is shown."""
    game = session.game
    if not on and game.played:
        game.at = game.live
    elif not on:
        play_on(session)
    session.analysing = bool(on)
    session.announce("info")


def evaluation(session: Session, on: bool | None, lines: int | None) -> None:
    """Show or hide evaluations, in play or in an analysis; set the number of variations."""
    session.lines = lines or session.lines
    session.show_evaluation[session.analysing] = session.reveals if on is None else on
    session.announce("info")


def restart(session: Session) -> None:
    """Continue with fresh engines after one has failed."""
    session.error = ""
