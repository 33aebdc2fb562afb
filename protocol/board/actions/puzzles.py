"""Puzzles on the board: given, tried, hinted at and given up."""

from __future__ import annotations

from typing import Any

from merels.engine.game.board import NAMES
from merels.engine.game.errors import InputError
from merels.engine.game.position import COLOURS
from merels.protocol.board.requests import JSON, read_moves, read_rules
from merels.protocol.board.reviewing import TABLE_CACHE
from merels.protocol.board.session import Session
from merels.protocol.board.view import fields_view, position_view
from merels.protocol.puzzles.training import Attempt

_TASKS = {
    "win": "{} to move: one move wins.",
    "draw": "{} to move: one move draws, all others lose.",
}


def puzzle(session: Session, body: JSON) -> JSON:
    """The puzzle that is being solved, or with ``next`` another one."""
    trainer, attempt = session.trainer, session.attempt
    if attempt is None or body.get("next"):
        tables = None
        if not trainer.puzzles:
            tables, _ = TABLE_CACHE.fetch(read_rules(body), wait=True)
        attempt = session.attempt = trainer.next(tables)
    return _view(session, attempt)


def try_move(session: Session, body: JSON) -> JSON:
    """Try a move: whether it is right, and the position after it before the reply."""
    attempt, [move, *_] = _attempt(session), read_moves(body)
    after = attempt.play(move)
    session.trainer.count(attempt)
    return _view(session, attempt) | {
        "right": after is not None, "between": after and position_view(after) | {"last": str(move)},
    }


def hint(session: Session, body: JSON) -> JSON:
    """The next hint: the man to move, or the letter of the point to place one on; then all."""
    attempt = _attempt(session)
    level, move = attempt.hint(), attempt.wanted
    session.trainer.count(attempt)
    found: dict[str, Any] = {"letter": NAMES[move.to][0]}
    if move.origin is not None:
        found = {"man": NAMES[move.origin]}
    if level == 2:
        found = {"move": str(move)}
    return _view(session, attempt) | {"hint": found}


def solution(session: Session, body: JSON) -> JSON:
    """Give up: the rest of the solution."""
    attempt = _attempt(session)
    if not attempt.solved:
        attempt.points = 0.0
        session.trainer.count(attempt)
    line = attempt.puzzle.line[attempt.step :]
    return _view(session, attempt) | {"line": [str(move) for move in line]}


def _attempt(session: Session) -> Attempt:
    if session.attempt is None:
        raise InputError("puzzle", "no puzzle is on the board")
    return session.attempt


def _view(session: Session, attempt: Attempt) -> JSON:
    """A puzzle as far as it is solved, and its player."""
    player, position, puzzle = session.trainer.player, attempt.position, attempt.puzzle
    rules = position.rules
    legal = [] if attempt.solved else [str(move) for move in position.legal_moves()]
    return {
        "position": position_view(position), "legal": legal,
        "last": str(attempt.last) if attempt.last else None,
        "solver": puzzle.position.side, "goal": puzzle.goal, "rating": puzzle.rating,
        "task": _TASKS[puzzle.goal].format(COLOURS[puzzle.position.side]),
        "rules": {"variant": rules.variant, "fields": fields_view(rules)},
        "begun": attempt.step > 0, "solved": attempt.solved, "change": attempt.change,
        "player": {
            "rating": round(player.rating), "tried": player.tried, "solved": player.solved,
            "streak": player.streak, "best": player.best,
        },
    }
