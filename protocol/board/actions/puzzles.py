"""Puzzles on the board: given, tried, hinted at and given up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from merels.engine.common.errors import InputError
from merels.engine.game.board import NAMES
from merels.engine.game.position import Move
from merels.engine.game.rules import Rules
from merels.protocol.board.reviewing import TABLE_CACHE
from merels.protocol.board.session import Session
from merels.protocol.board.view import fields_view, position_view
from merels.protocol.common.json_fields import JSON
from merels.protocol.puzzles.lessons import Lesson
from merels.protocol.puzzles.training import Attempt


def puzzle(session: Session, next: bool, rules: Rules) -> JSON:
    """The puzzle that is being solved, or with ``next`` another one."""
    trainer, attempt = session.trainer, session.attempt
    if attempt is None or not attempt.rated or next:
        tables = None
        if not trainer.puzzles:
            tables, _ = TABLE_CACHE.fetch(rules, wait=True)
        attempt = session.attempt = trainer.next(tables)
    return _view(session, attempt)


def lesson(session: Session, number: int) -> JSON:
    """Make a puzzle of the reviewed game's mistake ``number``, counted from 0."""
    with session.lock:
        progress, record = session.reviewer.progress, session.game.record
        users = session.users
        found = []
        for index, judged in zip(progress.nodes, progress.judgements) if progress else ():
            # A user learns from their own mistakes, two of them from each other's.
            own, node = len(users) != 1 or judged.side in users, record.find(index)
            if own and judged.name and judged.before.best and node is not None:
                found.append((judged, node.parent))
    if number >= len(found):
        raise InputError(str(number), f"expected a number below {len(found)}, that of mistakes")
    judged, before = found[number]
    assert before is not None
    judge = session.reviewer.judge(before.position.rules)
    session.attempt = Lesson(judged, before.position, judge, number, len(found))
    return _view(session, session.attempt)


def try_move(session: Session, moves: Sequence[Move]) -> JSON:
    """Try a move: whether it is right, and the position after it before the reply."""
    attempt, move = _attempt(session), moves[0]
    after = attempt.play(move)
    session.trainer.count(attempt)
    return _view(session, attempt) | {
        "right": after is not None, "between": after and position_view(after) | {"last": str(move)},
    }


def hint(session: Session) -> JSON:
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


def solution(session: Session) -> JSON:
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
    lesson = attempt if isinstance(attempt, Lesson) else None
    legal = [] if attempt.solved else [str(move) for move in position.legal_moves()]
    return {
        "position": position_view(position), "legal": legal,
        "last": str(attempt.last) if attempt.last else None,
        "solver": puzzle.position.side, "goal": "better" if lesson else puzzle.goal,
        "task": attempt.task, "rating": puzzle.rating,
        "lesson": lesson and {"number": lesson.number, "count": lesson.count},
        "rules": {"variant": rules.variant, "fields": fields_view(rules)},
        "started": attempt.step > 0, "solved": attempt.solved, "change": attempt.change,
        "player": {
            "rating": round(player.rating), "tried": player.tried, "solved": player.solved,
            "streak": player.streak, "best": player.best, "save_error": session.trainer.save_error,
        },
    }
