"""Steps about position: whether the engine plays in the position that it was sent."""

from __future__ import annotations

from merels.engine.game.position import Position
from merels.protocol.check.conversation import Fault
from merels.protocol.check.positions import FLYING, GAME, MOVING, PLACING, START
from merels.protocol.check.step import Group
from merels.protocol.check.subject import Subject
from merels.protocol.check.transcript import Kind, Search, judge, read

GROUP = Group("position", "Positions", needs=("greeting", "ready", "answers"))

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
        raise Fault(complaint, search.quote)


@GROUP.step()
def position_startpos(engine: Subject) -> None:
    """'position startpos' sets up the starting position, also after another position."""
    engine.search("go depth 1", MOVING)
    search = engine.search("go depth 1")
    _is_at(search, engine.position(MOVING), "plays in the position before startpos")


@GROUP.step()
def position_fen(engine: Subject) -> None:
    """'position fen …' sets up any position: while men are placed, move, and fly."""
    before = START
    for text in (MOVING, PLACING, FLYING):
        search = engine.search("go depth 1", text)
        _is_at(search, engine.position(before), "plays in the position before")
        before = text


@GROUP.step()
def position_moves(engine: Subject) -> None:
    """The moves after 'moves' are played; a removal is part of its move's word."""
    # The engine's first move is illegal once it has been played.
    first = engine.search("go depth 1")
    for moves in ([first.answer] if first.kind is Kind.LEGAL else [], GAME):
        search = engine.search("go depth 1", START, moves)
        _is_at(search, engine.position(START), "plays as if no move had been played")


@GROUP.step()
def position_fen_moves(engine: Subject) -> None:
    """Moves can also follow 'position fen …'."""
    # Once men move, no move is legal for both sides.
    before = engine.position(MOVING)
    search = engine.search("go depth 1", MOVING, [str(before.legal_moves()[0])])
    _is_at(search, before, "plays as if no move had been played")


@GROUP.step()
def position_bare_moves(engine: Subject) -> None:
    """'moves' may be followed by nothing; simple clients write it before the first move of a game,
    and engines have crashed on it."""
    engine.search("go depth 1", MOVING)
    engine.send("position startpos moves")
    position = engine.position(START)
    search = engine.finish(engine.begin_here("go depth 1", position, "position startpos moves"))
    _is_at(search, engine.position(MOVING), "ignores the line")


@GROUP.step()
def position_grows(engine: Subject) -> None:
    """Each move sends the whole game again, and after a take-back a shorter one; an engine that
    keeps the old game must not confuse the two."""
    before = engine.position(START)
    for count in (1, 2, 3, 7, 8, 12, 6, 7, 1, 0):
        search = engine.search("go depth 1", START, GAME[:count])
        _is_at(search, before, f"plays in the position before, after {count} moves")
        before = search.position


def _refuses(engine: Subject, bad: str, what: str) -> bool:
    """Send a bad line, which must not change the position; whether it is answered by info."""
    lines = engine.survive(bad.encode() + b"\n", f"'{bad}' ({what})")
    position = engine.position(MOVING)
    search = engine.begin_here("go depth 1", position, f"position fen {MOVING}, then '{bad}'")
    engine.finish(search)
    # Men are placed in all other positions; a step of its own judges illegal moves.
    move = read(search.answer)
    places = move is not None and move.origin is None and not move.removed
    if search.kind is Kind.NONE or search.kind is Kind.ILLEGAL and places:
        raise Fault(f"does not keep the position before '{bad}' ({what})", search.quote)
    return any(line.first == "info" for line in lines)


@GROUP.step()
def bad_positions(engine: Subject) -> None:
    """An invalid position is refused with a message, and the position before it stays; a client's
    mistake should cost neither the game nor the engine."""
    engine.needs(MOVING)
    for what, text in BAD_POSITIONS.items():
        engine.search("go depth 1", MOVING)
        if not _refuses(engine, f"position fen {text}", what):
            engine.warn(f"{what} was refused without a message (info string)")
    for bad in ("position", "position nonsense", "position moves d6"):
        _refuses(engine, bad, "not a position")


@GROUP.step()
def bad_moves(engine: Subject) -> None:
    """A line with an illegal move is refused as a whole, with a message, and the position before
    it stays; playing the moves before it would leave engine and client in different games."""
    engine.needs(MOVING)
    for what, line in BAD_MOVES.items():
        engine.search("go depth 1", MOVING)
        if not _refuses(engine, line, what):
            engine.warn(f"{what} was refused without a message (info string): '{line}'")


@GROUP.step(needs=("infinite-waits", "stop"))
def position_in_search(engine: Subject) -> None:
    """A position sent during a search does not disturb it; the answer belongs to the position that
    is searched."""
    search = engine.begin("go infinite", MOVING)
    engine.send("position startpos")
    if engine.watch(search, engine.pace.listen / 2) is not None:
        raise Fault("position ended the search", search.quote)
    engine.stop(search)
    _is_at(search, engine.position(START), "answers for the position sent during the search")
