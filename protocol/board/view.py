"""The data that the page receives, as JSON.

The page does not implement the rules, so it also receives the legal moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from merels.engine.common.messages import joined, message
from merels.engine.game.board import LINES, NAMES, points_of
from merels.engine.game.notation import format_position
from merels.engine.game.position import BLACK, COLOURS, WHITE, Position
from merels.engine.game.rules import FIELDS, PRESETS, Rules
from merels.engine.search.levels import LEVELS
from merels.engine.search.limits import Info
from merels.protocol.board.proven import proven_view
from merels.protocol.board.requests import FULL
from merels.protocol.board.seat import OWN_ENGINE
from merels.protocol.board.session import Session
from merels.protocol.board.table_build import other_tables
from merels.protocol.client.engine_spec import EngineSpec
from merels.protocol.common.json_fields import JSON
from merels.protocol.review.review import GRADES, as_json, expected, score_text

LINE_MOVES = 12
"""Moves shown of a variation, at most."""


def about_view(choices: Sequence[EngineSpec]) -> JSON:
    """Return the constants: engines, levels, rule sets with their fields, points and mills."""
    return {
        "engines": [{"name": choice.name, "levels": choice is OWN_ENGINE} for choice in choices],
        "levels": [{"name": level.name, "elo": level.elo} for level in LEVELS],
        "fields": [
            {"name": field.name, "choices": field.choices, "max": field.maximum}
            for field in FIELDS
        ],
        "variants": {name: fields_view(rules) for name, rules in PRESETS.items()},
        "points": NAMES,
        "mills": [[NAMES[point] for point in line] for line in LINES],
    }


def fields_view(rules: Rules) -> JSON:
    """Return the values of a rule set's fields by name."""
    return {field.name: getattr(rules, field.attribute) for field in FIELDS}


def event_data(session: Session, kind: str) -> Any:
    """Return an event's latest data."""
    if kind == "failure":
        return session.unexpected_error
    with session.lock:
        if kind == "moves":
            return moves_view(session)
        if kind == "state":
            return state_view(session)
        if kind == "review":
            return review_view(session)
        if session.infos is None or not session.shows_evaluation:
            return None
        job, infos = session.infos
        name = session.player_name(session.seats.index(job.seat))
        return info_view(infos, job.position, job.seat.role, name)


def moves_view(session: Session) -> JSON:
    """Return the tree of moves.

    A node is a list of its number, its parent's number, its move and its comment; parents come
    before their children. Later events with the same ``game`` and ``edits`` only add nodes.
    """
    record = session.game.record
    first = record.root.position
    return {
        "game": session.generation,
        "edits": record.edits,
        "first": {"number": first.number, "side": first.side},
        "stop": record.stop and record.stop.number,
        "comment": record.root.comment,
        "nodes": [
            [node.number, node.parent and node.parent.number, str(node.move), node.comment]
            for node in record if node.parent is not None
        ],
    }


def review_view(session: Session) -> JSON | None:
    """Return the review so far, or None."""
    progress = session.reviewer.progress
    if progress is None:
        return None
    return {
        "moves": len(progress.nodes),
        "nodes": progress.nodes,
        "judgements": [as_json(judgement) for judgement in list(progress.judgements)],
        "sums": [
            {"accuracy": sums.accuracy and round(sums.accuracy, 1),
             "counts": {name: sums.names[name] for _, name in GRADES}}
            for sums in progress.sums
        ],
    }


def state_view(session: Session) -> JSON:
    """Return the state of the game, and the position that is shown."""
    game = session.game
    shown = game.shown
    result, reason = game.result()
    legal = [str(move) for move in shown.legal_moves()] if session.may_move else []
    is_running = session.playing and not session.paused and not session.engine_error
    proven = proven_view(shown) if session.shows_evaluation else None
    return {
        "game": session.generation,
        "playing": session.playing,
        "position": position_view(shown),
        "move": str(game.at.move) if game.at.move else None,
        "legal": legal,
        "node": game.at.number,
        "ply": game.at.ply,
        "live": game.live.number,
        "plies": game.live.ply,
        "undo": session.can_undo,
        "redo": session.can_redo,
        "turn": game.last.side,
        "final": shown.outcome() is not None,
        "offer": game.offer,
        "rules": {"variant": shown.rules.variant, "fields": fields_view(shown.rules)},
        "players": [player_view(session, number) for number in range(3)],
        "time": session.time,
        "clock": game.clock and {
            "left": [round(game.clock.left(side), 2) for side in (0, 1)],
            "running": game.clock.running,
        },
        "thinking": is_running and session.seats[game.last.side].choice is not None,
        "paused": session.paused,
        "analysing": session.analysing,
        "shows_evaluation": session.shows_evaluation,
        "lines": session.lines,
        "error": session.engine_error,
        "saved": session.saver.store is not None and not session.saver.has_unsaved_changes(game),
        "save_error": session.saver.save_error,
        "over": game.over,
        "result": result,
        "reason": reason,
        "proven": proven,
        "tables": tables_view(session, shown, proven is None) if session.shows_evaluation else None,
    }


def tables_view(session: Session, position: Position, unproven: bool) -> JSON | None:
    """Return ``share``, the finished share of a running build of tables.

    If no build runs, return ``rules``, the rule sets whose tables have an ``unproven`` position;
    None if none.
    """
    build = session.table_build
    if build is not None and build.share is not None:
        return {"share": build.share}
    names = other_tables(position) if unproven and position.outcome() is None else []
    return {"rules": names} if names else None


def player_view(session: Session, number: int) -> JSON:
    """Return a player; ``engine`` is an index in `Session.choices`, or None for a user."""
    seat = session.seats[number]
    index = None if seat.choice is None else session.choices.index(seat.choice)
    name, typed = session.player_name(number), session.names[number] if number < 2 else ""
    return {"engine": index, "level": seat.level or FULL, "name": name, "typed": typed}


def points(men: int) -> list[str]:
    """Return the names of the points in a set of bits."""
    return [NAMES[point] for point in points_of(men)]


def position_view(position: Position) -> JSON:
    """Return a position: its men, whether each side may fly, and the end of the game."""
    outcome = position.outcome()
    return {
        "white": points(position.men[0]),
        "black": points(position.men[1]),
        "hands": list(position.hands),
        "side": position.side,
        "flying": [position.flies(side) for side in (0, 1)],
        "blocked": outcome is not None and outcome.reason == "blocked",
        "end": outcome and {"result": outcome.result, "reason": str(outcome)},
        "text": format_position(position),
    }


def notice_on(position: Position) -> str:
    """Return a notice if the game is over in a position, or if no game reaches it; else empty."""
    outcome = position.outcome()
    if outcome is not None:
        return message("The game is over here: {reason}.", reason=str(outcome))
    reason = _unreachable_reason(position)
    return joined(" ", (reason, "You can still play from here.")) if reason else ""


def _unreachable_reason(position: Position) -> str:
    """Return why no game reaches a position, judged only by the men in hand; else empty."""
    white, black = position.hands
    if abs(white - black) > 1:
        return "Sides place in turn, so in a game their men in hand differ by one at most."
    if white != black:
        mover = WHITE if white > black else BLACK
        if position.side != mover:
            return message(
                "In a game {side}, with one more man in hand, would be to move.",
                side=COLOURS[mover],
            )
    return ""


def info_view(infos: list[Info], position: Position, role: str, name: str) -> JSON:
    """Return an engine's variations in a position.

    ``share`` is White's expected score from 0 to 1, or None; ``nps`` is nodes per second.
    """
    best = infos[0] if infos else Info()
    return {
        "position": format_position(position),
        "role": role,
        "name": name,
        "depth": best.depth,
        "nodes": best.nodes,
        "nps": best.nps,
        "share": None if best.score is None else round(expected(best.score.white()), 4),
        "text": None if best.score is None else score_text(best.score),
        "lines": [
            {
                "text": "" if info.score is None else score_text(info.score),
                "moves": [str(move) for move in info.pv[:LINE_MOVES]],
            }
            for info in infos
        ],
    }
