"""Steps about position: whether the engine plays, and answers, in the position that it was sent."""

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
from merels.protocol.check.transcript import Kind, Search, judge, read

GROUP = Group("position", "Positions")
QUERIES = Group("queries", "UGI's queries", needs=("greeting", "ready"))
ASKED = (START, MOVING, WINNING, *FINISHED.values())

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
NOT_POSITIONS = ("position", "position nonsense", "position moves d6")
BAD_MOVES = {
    "an unknown point": "position startpos moves d6 z9",
    "an occupied point": "position startpos moves d6 d6",
    "a move while men are in hand": "position startpos moves d6 d6-d5",
    "a removal without a mill": "position startpos moves d6 d2 a1xd6",
    "a mill without its removal": "position startpos moves d6 a1 d5 a4 d7",
    "a word": "position startpos moves d6 castle",
}


def _is_at(search: Search, before: Position, complaint: str) -> None:
    """Find fault with an answer that is illegal, but legal in the position sent before.

    Steps of their own judge other illegal moves.
    """
    if search.kind is Kind.ILLEGAL and judge(before, search.answer) is Kind.LEGAL:
        raise Fault(complaint, search.best)


def _follows(engine: Subject, complaint: str, *setups: tuple[str, Sequence[str]]) -> None:
    """Search in several positions, given by a start and moves, none as if in the one before."""
    before: Position | None = None
    for start, moves in setups:
        search = engine.search("go depth 1", start, moves)
        if before is not None:
            _is_at(search, before, complaint.format(len(moves)))
        before = search.position


GROUP.add(
    "position-startpos", "'position startpos' sets up the starting position, also after another "
    "position.", _follows, "plays in the position before startpos", (MOVING, ()), (START, ()))
GROUP.add(
    "position-fen", "'position fen …' sets up any position: while men are placed, move, and fly.",
    _follows, "plays in the position before",
    *((text, ()) for text in (START, MOVING, PLACING, FLYING)))


@GROUP.step()
def position_moves(engine: Subject) -> None:
    """The moves after 'moves' are played; a removal is part of its move's word."""
    # The engine's first move is illegal once it has been played.
    first = engine.search("go depth 1")
    for moves in ([first.answer] if first.kind is Kind.LEGAL else [], GAME):
        search = engine.search("go depth 1", START, moves)
        _is_at(search, engine.position(START), "plays as if no move had been played")


# Once men move, no move is legal for both sides.
GROUP.add(
    "position-fen-moves", "Moves can also follow 'position fen …'.",
    _follows, "plays as if no move had been played", (MOVING, ()), (MOVING, SHUFFLE[:1]))


@GROUP.step()
def position_bare_moves(engine: Subject) -> None:
    """'moves' may be followed by nothing; simple clients write it before the first move of a game,
    and engines have crashed on it."""
    engine.search("go depth 1", MOVING)
    engine.send("position startpos moves")
    position = engine.position(START)
    search = engine.finish(engine.begin_here("go depth 1", position, "position startpos moves"))
    _is_at(search, engine.position(MOVING), "ignores the line")


GROUP.add(
    "position-grows", "Each move sends the whole game again, and after a take-back a shorter one; "
    "an engine that keeps the old game must not confuse the two.",
    _follows, "plays in the position before, after {} moves",
    *((START, GAME[:count]) for count in (0, 1, 2, 3, 7, 8, 12, 6, 7, 1, 0)))


def _refuses(engine: Subject, bad: str, what: str, warning: str) -> None:
    """Send a bad line, which must not change the position, and should be answered by info."""
    engine.search("go depth 1", MOVING)
    lines = engine.survive(bad.encode() + b"\n", f"'{bad}' ({what})")
    position = engine.position(MOVING)
    search = engine.begin_here("go depth 1", position, f"position fen {MOVING}, then '{bad}'")
    engine.finish(search)
    # Men are placed in all other positions; a step of its own judges illegal moves.
    move = read(search.answer)
    places = move is not None and move.origin is None and not move.removed
    if search.kind is Kind.NONE or search.kind is Kind.ILLEGAL and places:
        raise Fault(f"does not keep the position before '{bad}' ({what})", search.best)
    if warning and not any(line.first == "info" for line in lines):
        engine.warn(warning)


def _refuse_all(engine: Subject, cases: Sequence[tuple[str, str, str]]) -> None:
    """Raise one `Fault` for all lines of the cases that are not refused.

    A case is a line, its description, and a warning if no message comes ('': none).
    """
    faults = []
    for case in cases:
        try:
            _refuses(engine, *case)
        except Fault as fault:
            faults.append(fault)
    for other in faults[1:]:
        engine.warn(other.reason, other.line)
    if faults:
        raise faults[0]


@GROUP.step()
def bad_positions(engine: Subject) -> None:
    """An invalid position is refused with a message, and the position before it stays; a client's
    mistake should cost neither the game nor the engine."""
    engine.needs(MOVING)
    cases = [
        (f"position fen {text}", what, f"{what} was refused without a message (info string)")
        for what, text in BAD_POSITIONS.items()
    ]
    _refuse_all(engine, [*cases, *((bad, "not a position", "") for bad in NOT_POSITIONS)])


@GROUP.step()
def bad_moves(engine: Subject) -> None:
    """A line with an illegal move is refused as a whole, with a message, and the position before
    it stays; playing the moves before it would leave engine and client in different games."""
    engine.needs(MOVING)
    _refuse_all(engine, [
        (line, what, f"{what} was refused without a message (info string): '{line}'")
        for what, line in BAD_MOVES.items()
    ])


@GROUP.step(needs=("infinite-waits", "stop"))
def position_in_search(engine: Subject) -> None:
    """A position sent during a search does not disturb it; the answer belongs to the position that
    is searched."""
    search = engine.begin("go infinite", MOVING)
    engine.send("position startpos")
    if engine.watch(search, engine.pace.listen / 2) is not None:
        raise Fault("position ended the search", search.best)
    engine.stop(search)
    _is_at(search, engine.position(START), "answers for the position sent during the search")


def _asks(engine: Subject, question: str, answer: Callable[[Position], str]) -> None:
    """Ask the same question in several positions; each has one right answer."""
    engine.ensure()
    for text in ASKED:
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
    """Who has won."""
    outcome = position.outcome()
    if outcome is None:
        return "none"
    return "draw" if outcome.winner is None else f"p{outcome.winner + 1}win"


QUERIES.add(
    "query-move", "'query p1turn' tells whether the first player is to move; clients that do not "
    "know the game ask the engine.", _asks, "p1turn",
    lambda position: str(position.side == WHITE).lower(), protocols=("ugi",))
QUERIES.add(
    "query-game-over", "'query gameover' tells whether the game has ended.", _asks, "gameover",
    lambda position: str(position.outcome() is not None).lower(), protocols=("ugi",))
QUERIES.add(
    "query-result", "'query result' tells who has won, or 'none' during the game.",
    _asks, "result", _result, protocols=("ugi",))
