"""Events as the page gets them. The page knows no rules: the legal moves are listed here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from merels.engine.game.board import LINES, NAMES, points_of
from merels.engine.game.notation import format_position
from merels.engine.game.position import BLACK, COLOURS, WHITE, Position
from merels.engine.game.rules import FIELDS, PRESETS, Rules
from merels.engine.search.levels import LEVELS
from merels.engine.search.limits import Info
from merels.protocol.board.events import Feed
from merels.protocol.board.proven import proven_view
from merels.protocol.board.requests import FULL
from merels.protocol.board.seat import OWN
from merels.protocol.board.session import Session
from merels.protocol.client.engine_spec import EngineSpec
from merels.protocol.common.json_fields import JSON
from merels.protocol.review.review import NAMES as JUDGED
from merels.protocol.review.review import as_json, expected, score_text

LONGEST_LINE = 12
"""Moves of a variation that are shown."""


def about_view(choices: Sequence[EngineSpec]) -> JSON:
    """The constant part: engines, levels, rule sets and their fields."""
    return {
        "engines": [{"name": choice.name, "levels": choice is OWN} for choice in choices],
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
    """The fields of a rule set by their names."""
    return {field.name: getattr(rules, field.attribute) for field in FIELDS}


def event_data(session: Session, kind: str, feed: Feed) -> Any:
    """The data of the latest event of a kind; of the log, what the stream has not been sent yet."""
    if kind == "log":
        lines = session.log.since(feed.log_number)
        if lines:
            feed.log_number = lines[-1][0]
        return [list(line[1:]) for line in lines]
    if kind == "failure":
        return session.failure
    with session.lock:
        if kind == "moves":
            return moves_view(session, feed)
        if kind == "state":
            return state_view(session)
        if kind == "review":
            return review_view(session, feed)
        if session.infos is None or not session.reveals:
            return None
        job, infos = session.infos
        name = session.player_name(session.seats.index(job.seat))
        return info_view(infos, job.position, job.seat.part, name)


def moves_view(session: Session, feed: Feed) -> JSON:
    """The tree of moves: all of it, or what was added since the stream was sent it.

    Each node is its number, its parent's, its move and its comment; parents come first.
    """
    record = session.game.record
    sent, edits, number = feed.moves
    whole = sent is not record or edits != record.edits
    nodes = record if whole else record.since(number)
    feed.moves = record, record.edits, record.next_number
    first = record.root.position
    return {
        "whole": whole,
        "first": {"number": first.number, "side": first.side},
        "stop": record.stop and record.stop.number,
        "comment": record.root.comment,
        "nodes": [
            [node.number, node.parent and node.parent.number, str(node.move), node.comment]
            for node in nodes if node.parent is not None
        ],
    }


def review_view(session: Session, feed: Feed) -> JSON | None:
    """The review: all of it, or the judgements since the stream was sent any."""
    progress = session.reviewer.progress
    if progress is None:
        feed.judged = None, 0
        return None
    sent, count = feed.judged
    whole = sent is not progress
    judgements = [as_json(one) for one in progress.judgements[0 if whole else count :]]
    feed.judged = progress, (0 if whole else count) + len(judgements)
    return {
        "whole": whole,
        "moves": len(progress.nodes),
        "nodes": progress.nodes if whole else [],
        "judgements": judgements,
        "sums": [
            {"accuracy": round(100 * (1 - sums.average_loss), 1), "moves": sums.moves,
             "counts": {name: sums.names[name] for _, name in JUDGED}}
            for sums in progress.sums
        ],
    }


def state_view(session: Session) -> JSON:
    """The game, and the position of it that is shown."""
    game = session.game
    shown = game.shown
    result, reason = game.result()
    legal = [str(move) for move in shown.legal_moves()] if session.may_move else []
    engine = session.seats[game.last.side].choice is not None
    return {
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
        "played": game.played,
        "turn": game.last.side,
        "final": shown.outcome() is not None,
        "offer": game.offer,
        "rules": {"variant": shown.rules.variant, "fields": fields_view(shown.rules)},
        "players": [player_view(session, part) for part in range(3)],
        "time": session.time,
        "clock": game.clock and {
            "left": [round(game.clock.left(side), 2) for side in (0, 1)],
            "running": game.clock.running,
        },
        "thinking": engine and session.playing and not session.paused and not session.error,
        "paused": session.paused,
        "analysing": session.analysing,
        "reveals": session.reveals,
        "lines": session.lines,
        "error": session.error,
        "kept": session.saver.store is not None and not session.saver.is_behind(game),
        "save_error": session.saver.save_error,
        "over": game.over,
        "result": result,
        "reason": reason,
        "proven": proven_view(shown) if session.reveals else None,
    }


def player_view(session: Session, part: int) -> JSON:
    """A player as the page's form has it; ``engine`` is None for a user."""
    seat = session.seats[part]
    index = None if seat.choice is None else session.choices.index(seat.choice)
    return {"engine": index, "level": seat.level or FULL, "name": session.player_name(part),
            "typed": session.names[part] if part < 2 else ""}


def position_view(position: Position) -> JSON:
    """A position: its men, and what a user should know of its state."""
    outcome = position.outcome()
    return {
        "white": [NAMES[point] for point in points_of(position.men[0])],
        "black": [NAMES[point] for point in points_of(position.men[1])],
        "hands": list(position.hands),
        "side": position.side,
        "flying": [position.flies(side) for side in (0, 1)],
        "blocked": outcome is not None and outcome.reason == "blocked",
        "end": outcome and {"result": outcome.result, "reason": str(outcome)},
        "text": format_position(position),
    }


def note_on(position: Position) -> str:
    """Why a position that was set up ends a game, or cannot arise in one; else empty."""
    outcome = position.outcome()
    if outcome is not None:
        return f"The game is over here: {outcome}."
    oddity = _oddity(position)
    return f"{oddity} It can be played all the same." if oddity else ""


def _oddity(position: Position) -> str:
    """Why no game leads to a position, as far as the men in hand show it."""
    white, black = position.hands
    if abs(white - black) > 1:
        return "In a game both sides place in turn, so their men in hand differ by one at most."
    if white != black:
        later = WHITE if white > black else BLACK
        if position.side != later:
            name = COLOURS[later].capitalize()
            return f"In a game {name}, with one more man in hand, would be to move."
    return ""


def info_view(infos: list[Info], position: Position, part: str, name: str) -> JSON:
    """An engine's variations in a position.

    ``share`` is White's expected score, from 0 to 1.
    """
    best = infos[0] if infos else Info()
    return {
        "position": format_position(position),
        "part": part,
        "name": name,
        "depth": best.depth,
        "nodes": best.nodes,
        "nps": best.nps,
        "share": None if best.score is None else round(expected(best.score.white()), 4),
        "text": None if best.score is None else score_text(best.score),
        "lines": [
            {
                "text": "" if info.score is None else score_text(info.score),
                "moves": [str(move) for move in info.pv[:LONGEST_LINE]],
            }
            for info in infos
        ],
    }
