"""Steps about ``position``, and about UGI's queries of a position."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from merels.engine.game.position import WHITE, Position
from merels.protocol.check.conversation import Fault
from merels.protocol.check.positions import (
    FINISHED,
    FLYING,
    GAME,
    MOVING,
    PLACING,
    SHUFFLE,
    START,
    WINNING,
)
from merels.protocol.check.step import Group
from merels.protocol.check.subject import Subject
from merels.protocol.check.transcript import Kind, Search, judge

GROUP = Group("position", "Positions")
QUERIES = Group("queries", "UGI's queries", needs=("greeting", "ready"))
QUERY_POSITIONS = (START, MOVING, WINNING, *FINISHED.values())
"""Positions in which each query is sent."""

BAD_POSITIONS = {
    "a missing field": "********/********/******** w 9 9 0",
    "two rings": "********/******** w 9 9 0 1",
    "a ring of nine": "*********/********/******** w 9 9 0 1",
    "an unknown man": "*****?**/********/******** w 9 9 0 1",
    "an unknown side": "********/********/******** x 9 9 0 1",
    "too many men": "OOOOOOOO/OOOOOOOO/******** w 9 9 0 1",
    "too many in hand": "********/********/******** w 12 9 0 1",
    "a word for a number": "********/********/******** w nine 9 0 1",
    "nothing": "",
}
"""Invalid text after ``position fen``, by a description of the mistake."""
NOT_POSITIONS = ("position", "position nonsense", "position moves d6")
"""Lines without a position."""
BAD_MOVES = {
    "an unknown point": "position startpos moves d6 z9",
    "an occupied point": "position startpos moves d6 d6",
    "a move while men are in hand": "position startpos moves d6 d6-d5",
    "a removal without a mill": "position startpos moves d6 d2 a1xd6",
    "a mill without its removal": "position startpos moves d6 a1 d5 a4 d7",
    "a word": "position startpos moves d6 castle",
}
"""Lines whose last move is illegal, by a description of the move."""


def _reject_stale_position(search: Search, previous: Position, complaint: str) -> None:
    """Raise `Fault` for an answer that is illegal here but legal in the previous position.

    The step bestmove-legal judges all other illegal answers.
    """
    if search.kind is Kind.ILLEGAL and judge(previous, search.answer) is Kind.LEGAL:
        raise Fault(complaint, search.best)


def _check_latest_position(
    engine: Subject, complaint: str, *setups: tuple[str, Sequence[str]]
) -> None:
    """Search in several positions; raise `Fault` for an answer to the previous position.

    Each of ``setups`` is a position and the moves after it; ``complaint`` may hold ``{}`` for the
    number of moves.
    """
    previous: Position | None = None
    for start, moves in setups:
        search = engine.search("go depth 1", start, moves)
        if previous is not None:
            _reject_stale_position(search, previous, complaint.format(len(moves)))
        previous = search.position


GROUP.add(
    "position-startpos", "'position startpos' sets up the starting position, also after other "
    "positions.", _check_latest_position, "plays in the position sent before startpos",
    (MOVING, ()), (START, ()))
GROUP.add(
    "position-fen", "'position fen …' sets up positions of the placing, moving and flying phase.",
    _check_latest_position, "plays in the previous position",
    *((text, ()) for text in (START, MOVING, PLACING, FLYING)))


@GROUP.step()
def position_moves(engine: Subject) -> None:
    """The moves after 'moves' are played; a removal is part of its move's word."""
    # The point of the engine's first move is then occupied, so the same answer again is illegal.
    first = engine.search("go depth 1")
    for moves in ([first.answer] if first.kind is Kind.LEGAL else [], GAME):
        search = engine.search("go depth 1", START, moves)
        start = engine.position(START)
        _reject_stale_position(search, start, "plays as if no move had been played")


# In the moving phase no move is legal for both sides, so a stale answer is recognised.
GROUP.add(
    "position-fen-moves", "Moves may also follow 'position fen …'.",
    _check_latest_position, "plays as if no move had been played",
    (MOVING, ()), (MOVING, SHUFFLE[:1]))


@GROUP.step()
def position_bare_moves(engine: Subject) -> None:
    """The list after 'moves' may be empty; simple clients send such a line before the first move
    of a game, and engines have crashed on it."""
    engine.search("go depth 1", MOVING)
    setup = "position startpos moves"
    engine.send(setup)
    search = engine.finish(engine.start_search_here("go depth 1", engine.position(START), setup))
    _reject_stale_position(search, engine.position(MOVING), "ignores the line")


GROUP.add(
    "position-grows", "Each position line replaces the game before it: a longer game after a "
    "move, a shorter one after a take-back.",
    _check_latest_position, "plays in the previous position, after {} moves",
    *((START, GAME[:count]) for count in (0, 1, 2, 3, 7, 8, 12, 6, 7, 1, 0)))


def _check_refusal(engine: Subject, bad: str, what: str, warning: str) -> None:
    """Send an invalid line; raise `Fault` if it changes the position.

    ``what`` describes the line; ``warning`` is recorded if no info line answers it ('': none).
    """
    engine.search("go depth 1", MOVING)
    lines = engine.survive(bad.encode() + b"\n", f"'{bad}' ({what})")
    setup = f"position fen {MOVING}, then '{bad}'"
    search = engine.start_search_here("go depth 1", engine.position(MOVING), setup)
    engine.finish(search)
    # `MOVING` allows no placement, so a placement shows that the engine accepted the invalid line.
    # The step bestmove-legal judges other illegal moves.
    move = search.move
    places = move is not None and move.origin is None and not move.removed
    if search.kind is Kind.NONE or search.kind is Kind.ILLEGAL and places:
        raise Fault(f"does not keep the position before '{bad}' ({what})", search.best)
    if warning and not any(line.first == "info" for line in lines):
        engine.warn(warning)


def _check_refusals(engine: Subject, cases: Sequence[tuple[str, str, str]]) -> None:
    """Apply `_check_refusal` to all cases; raise the first `Fault`, and warn of later faults."""
    faults = []
    for case in cases:
        try:
            _check_refusal(engine, *case)
        except Fault as fault:
            faults.append(fault)
    for other in faults[1:]:
        engine.warn(other.reason, other.line)
    if faults:
        raise faults[0]


@GROUP.step()
def bad_positions(engine: Subject) -> None:
    """An invalid position is refused, and the position before it stays; a client's mistake should
    not end the game or the engine. A refusal without a message is a warning."""
    engine.require_ongoing(MOVING)
    cases = [
        (f"position fen {text}", what, f"{what} was refused without a message (info string)")
        for what, text in BAD_POSITIONS.items()
    ]
    _check_refusals(engine, [*cases, *((bad, "not a position", "") for bad in NOT_POSITIONS)])


@GROUP.step()
def bad_moves(engine: Subject) -> None:
    """A line with an illegal move is refused as a whole, and the position before it stays. An
    engine that played only the legal moves would be in a different game from the client. A refusal
    without a message is a warning."""
    engine.require_ongoing(MOVING)
    _check_refusals(engine, [
        (line, what, f"{what} was refused without a message (info string): '{line}'")
        for what, line in BAD_MOVES.items()
    ])


@GROUP.step(needs=("infinite-waits", "stop"))
def position_in_search(engine: Subject) -> None:
    """A position sent during a search does not disturb the search; the bestmove belongs to the
    position of its go."""
    search = engine.start_search("go infinite", MOVING)
    engine.send("position startpos")
    if engine.watch(search, engine.pace.listen / 2) is not None:
        raise Fault("position ended the search", search.best)
    engine.stop(search)
    sent = engine.position(START)
    _reject_stale_position(search, sent, "answers for the position sent during the search")


def _check_query(engine: Subject, question: str, answer: Callable[[Position], str]) -> None:
    """Send a query in each of `QUERY_POSITIONS`; ``answer`` returns the right response."""
    engine.ensure_ready()
    for text in QUERY_POSITIONS:
        position = engine.position(text)
        engine.send(engine.dialect.position(position).decode(), f"query {question}")
        lines = [line for line in engine.ping() if line.first == "response"]
        if len(lines) != 1:
            raise Fault(f"{len(lines)} responses to 'query {question}'",
                        lines[-1] if lines else None)
        expected = f"response {answer(position)}"
        if lines[0].text != expected:
            raise Fault(f"'query {question}' should get '{expected}' in {text}", lines[0])


def _result(position: Position) -> str:
    """Return the response to 'query result'."""
    outcome = position.outcome()
    if outcome is None:
        return "none"
    return "draw" if outcome.winner is None else f"p{outcome.winner + 1}win"


QUERIES.add(
    "query-move", "'query p1turn' returns whether the first player is to move; clients without "
    "the rules of the game depend on it.", _check_query, "p1turn",
    lambda position: str(position.side == WHITE).lower(), protocols=("ugi",))
QUERIES.add(
    "query-game-over", "'query gameover' returns whether the game has ended.",
    _check_query, "gameover",
    lambda position: str(position.outcome() is not None).lower(), protocols=("ugi",))
QUERIES.add(
    "query-result", "'query result' returns the winner or 'draw', and 'none' during the game.",
    _check_query, "result", _result, protocols=("ugi",))
