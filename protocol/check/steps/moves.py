"""Steps about the rules: whether the engine's moves are legal."""

from __future__ import annotations

from collections.abc import Iterator

from merels.engine.game.notation import parse_move
from merels.protocol.check.conversation import Fault, Skip
from merels.protocol.check.positions import (
    FINISHED,
    FLYING,
    FORCED,
    GAME,
    MOVING,
    PLACING,
    REMOVALS,
    SHUFFLE,
    START,
    WINNING,
)
from merels.protocol.check.step import Group
from merels.protocol.check.subject import Subject
from merels.protocol.check.transcript import Kind, Search, judge, read
from merels.protocol.client.answers import NO_MOVES

GROUP = Group("moves", "Moves")
SURVEY = (START, PLACING, MOVING, FLYING, REMOVALS, WINNING)


def survey(engine: Subject) -> Iterator[Search]:
    """Every search so far in a game that was not over, after a few that are made for this.

    If one of those fails, so does the step that made it, and the others are skipped.
    """
    if engine.surveyed is None:
        engine.surveyed = False
        engine.new_game()
        for text in SURVEY:
            engine.search("go depth 4", text)
        engine.search("go depth 4", START, GAME)
        engine.surveyed = True
    if not engine.surveyed:
        raise Skip("the searches to judge could not be made")
    for search in engine.searches:
        if search.best is not None and search.position.outcome() is None:
            yield search


@GROUP.step()
def whole_moves(engine: Subject) -> None:
    """A move that closes a mill names the man it removes in the same word (d6-d5xc3); the removal
    is part of the move, which is illegal without it."""
    for search in survey(engine):
        if search.kind is Kind.WITHOUT_REMOVAL:
            raise Fault(f"closes a mill and removes nothing, {search}", search.best)


@GROUP.step()
def bestmove_legal(engine: Subject) -> None:
    """Every bestmove so far was legal; an illegal one loses the game in every tournament."""
    for search in survey(engine):
        kind = search.kind
        if kind in (Kind.LEGAL, Kind.WITHOUT_REMOVAL):
            continue
        reason = "plays no move although there are legal ones"
        if kind is Kind.UNREADABLE:
            reason = "is not a move such as d6, d6xb4, d6-d5 or d6-d5xc3"
        elif kind is Kind.ILLEGAL:
            move = read(search.answer)
            reason = f"is illegal ({search.position.objection(move) if move else ''})"
        raise Fault(f"{reason}, {search}", search.best)


@GROUP.step(needs=("bestmove-legal",))
def forced_move(engine: Subject) -> None:
    """The only legal move is played like any other, whatever the limit; engines that take a short
    cut here forget to answer."""
    engine.needs(FORCED)
    for go in ("go depth 3", "go movetime 50", "go wtime 1000 btime 1000"):
        search = engine.search(go, FORCED)
        if search.kind is not Kind.LEGAL:
            raise Fault("is not the only legal move", search.best)


@GROUP.step()
def finished_games(engine: Subject) -> None:
    """When the game is lost there is no move, and the answer is 'bestmove 0000', at once; a client
    that asks anyway must neither hang nor get a random move."""
    for what, text in FINISHED.items():
        search = engine.search("go movetime 50", text)
        answer = search.answer.lower()
        if answer not in NO_MOVES:
            raise Fault(f"plays on although the game is over: {what}", search.best)
        if answer != "0000":
            engine.warn(f"writes '{answer}' when the game is over; 0000 is usual", search.best)
        if not search.scored:
            engine.warn(f"no score before bestmove when the game is over: {what}", search.best)


@GROUP.step(needs=("bestmove-legal",))
def repeated_position(engine: Subject) -> None:
    """The moves after a position count for repetition: when a position recurs often enough, the
    game is a draw. Playing on is only a warning, because the client is the referee."""
    if not engine.rules.repetition:
        raise Skip("the engine's rules have no repetition")
    search = engine.search("go depth 3", MOVING, SHUFFLE * (engine.rules.repetition - 1))
    if search.position.outcome() is None:
        raise Skip("another rule ends this game")
    if search.kind is not Kind.NONE:
        engine.warn("plays on although the game is a draw by repetition", search.best)


@GROUP.step(needs=("whole-moves", "bestmove-legal"))
def whole_games(engine: Subject) -> None:
    """The engine plays games against itself, and every move is legal after all moves before it,
    under the rules that its options name (or -variant and -set)."""
    for number in range(engine.pace.games):
        engine.new_game()
        moves: list[str] = []
        position = engine.position(START)
        while position.outcome() is None and len(moves) < engine.pace.plies:
            search = engine.search(f"go depth {2 + number}", START, moves)
            move = read(search.answer)
            if move is None or not position.is_legal(move):
                raise Fault(f"is illegal at ply {len(moves) + 1} of a game: {search}", search.best)
            position = position.play(move)
            moves.append(str(move))


@GROUP.step()
def pv_legal(engine: Subject) -> None:
    """Every move of every pv so far was legal in its place; clients show the variations on a
    board, and an illegal move betrays a hash entry of another position."""
    for search in survey(engine):
        for line, info in search.infos:
            position = search.position
            for token in info.pv or ():
                if judge(position, token) is not Kind.LEGAL:
                    raise Fault(f"'{token}' in the pv is illegal, {search}", line)
                position = position.play(parse_move(token))


@GROUP.step(protocols=("uci",))
def ponder_legal(engine: Subject) -> None:
    """The move after 'ponder' is legal after the bestmove; clients send that position back at
    once, to ponder on."""
    for search in survey(engine):
        words, move = search.words, read(search.answer)
        if words[2:3] != ["ponder"] or move is None or search.kind is not Kind.LEGAL:
            continue
        token = words[3] if len(words) > 3 else ""
        if judge(search.position.play(move), token) is not Kind.LEGAL:
            raise Fault(f"'{token}' is not legal after '{search.answer}', {search}", search.best)
