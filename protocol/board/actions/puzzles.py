"""Actions of puzzles: next puzzle, move, hint and solution."""

from __future__ import annotations

from collections.abc import Sequence

from merels.engine.common.errors import InputError
from merels.engine.game.board import NAMES
from merels.engine.game.position import Move
from merels.engine.game.rules import Rules
from merels.protocol.board.session import Session
from merels.protocol.board.view import fields_view, position_view
from merels.protocol.common.json_fields import JSON
from merels.protocol.puzzles.lessons import Lesson
from merels.protocol.puzzles.themes import themes_of
from merels.protocol.puzzles.training import RANGES, Attempt, Wanted


def puzzle(
    session: Session, next: bool, rules: Rules, theme: str, level: int
) -> JSON:
    """Return the current puzzle; with ``next``, after a lesson or if none is shown, choose one.

    A new puzzle has the theme and a rating in the range ``level`` of `RANGES`, the answer's
    ``ranges``. ``counts`` has the numbers of puzzles of each theme in each range.
    """
    trainer, attempt = session.trainer, session.attempt
    if attempt is None or not attempt.rated or next:
        attempt = session.attempt = trainer.next(rules, Wanted(theme, *RANGES[level]))
    return _view(session, attempt) | {"counts": trainer.count_themes(rules), "ranges": RANGES}


def lesson(session: Session, number: int) -> JSON:
    """Return a puzzle made of mistake ``number`` of the reviewed game, counted from 0."""
    with session.lock:
        progress, record = session.reviewer.progress, session.game.record
        # A user who played an engine solves only their own mistakes.
        sides = session.users if len(session.users) == 1 else [0, 1]
        mistakes = []
        for node_number, judged in zip(progress.nodes, progress.judgements) if progress else ():
            node = record.find(node_number)
            if judged.side in sides and judged.name and judged.before.best and node and node.parent:
                mistakes.append((judged, node.parent.position))
    if not mistakes:
        raise InputError("lesson", "the review has found no mistake; review a game first")
    if number >= len(mistakes):
        raise InputError(str(number), f"expected a mistake from 0 to {len(mistakes) - 1}")
    judged, position = mistakes[number]
    judge = session.reviewer.judge(position.rules)
    session.attempt = Lesson(judged, position, judge, number, len(mistakes))
    return _view(session, session.attempt)


def try_move(session: Session, moves: Sequence[Move]) -> JSON:
    """Try a move; the answer has ``right``, and the puzzle after the opponent's reply.

    ``between`` is the position before the reply, or None after a wrong move.
    """
    attempt, move = _attempt(session), moves[0]
    after = attempt.play(move)
    session.trainer.count(attempt)
    return _view(session, attempt) | {
        "right": after is not None, "between": after and position_view(after) | {"last": str(move)},
    }


def hint(session: Session) -> JSON:
    """Return the next hint.

    The first is the man to move or, for a placing, the letter of the point; the second is the move.
    """
    attempt = _attempt(session)
    level, move = attempt.hint(), attempt.wanted
    session.trainer.count(attempt)
    if level == 2:
        shown = {"move": str(move)}
    elif move.origin is not None:
        shown = {"man": NAMES[move.origin]}
    else:
        shown = {"letter": NAMES[move.to][0]}
    return _view(session, attempt) | {"hint": shown}


def solution(session: Session) -> JSON:
    """Return the rest of the solution; an unsolved puzzle counts as failed."""
    attempt = _attempt(session)
    if not attempt.solved:
        attempt.points = 0.0
        session.trainer.count(attempt)
    line = attempt.puzzle.line[attempt.step :]
    return _view(session, attempt) | {"line": [str(move) for move in line]}


def _attempt(session: Session) -> Attempt:
    if session.attempt is None:
        raise InputError("puzzle", "no puzzle is shown; open one first")
    return session.attempt


def _view(session: Session, attempt: Attempt) -> JSON:
    """Return a puzzle as far as it is solved, and the user's rating."""
    player, position, puzzle = session.trainer.player, attempt.position, attempt.puzzle
    rules = position.rules
    lesson = attempt if isinstance(attempt, Lesson) else None
    legal = [] if attempt.solved else [str(move) for move in position.legal_moves()]
    return {
        "position": position_view(position), "legal": legal,
        "last": str(attempt.last) if attempt.last else None,
        "solver": puzzle.position.side, "goal": "better" if lesson else puzzle.goal,
        "task": attempt.task, "rating": puzzle.rating,
        "themes": [] if lesson else list(themes_of(puzzle)),
        "lesson": lesson and {"number": lesson.number, "count": lesson.count},
        "rules": {"variant": rules.variant, "fields": fields_view(rules)},
        "started": attempt.step > 0, "solved": attempt.solved, "change": attempt.change,
        "player": {
            "rating": round(player.rating), "tried": player.tried, "solved": player.solved,
            "streak": player.streak, "best": player.best, "save_error": session.trainer.save_error,
        },
    }
