"""Steps about UGI's queries."""

from __future__ import annotations

from merels.engine.game.position import WHITE
from merels.protocol.check.faults import Fault
from merels.protocol.check.positions import FINISHED, MOVING, START, WINNING
from merels.protocol.check.step import Group
from merels.protocol.check.subject import Subject
from merels.protocol.check.transcript import Line

GROUP = Group("queries", "UGI's queries", needs=("greeting", "ready"))
TEXTS = (START, MOVING, WINNING, *FINISHED.values())


def _asks(engine: Subject, question: str, text: str, expected: str) -> Line:
    """Ask a question about a position, which has one right answer."""
    engine.ensure()
    position = engine.position(text)
    engine.send(engine.dialect.position(position).decode(), f"query {question}")
    lines = [line for line in engine.ping() if line.first == "response"]
    if len(lines) != 1:
        raise Fault(f"{len(lines)} responses to 'query {question}'",
                    lines[-1].raw if lines else None)
    if lines[0].text != f"response {expected}":
        raise Fault(f"'query {question}' should get 'response {expected}' in {text}",
                    lines[0].raw)
    return lines[0]


@GROUP.step(protocols=("ugi",))
def query_move(engine: Subject) -> None:
    """'query p1turn' tells whether the first player is to move; clients that do not know the game
    ask the engine."""
    for text in TEXTS:
        first = engine.position(text).side == WHITE
        _asks(engine, "p1turn", text, "true" if first else "false")


@GROUP.step(protocols=("ugi",))
def query_game_over(engine: Subject) -> None:
    """'query gameover' tells whether the game has ended."""
    for text in TEXTS:
        over = engine.position(text).outcome() is not None
        _asks(engine, "gameover", text, "true" if over else "false")


@GROUP.step(protocols=("ugi",))
def query_result(engine: Subject) -> None:
    """'query result' tells who has won, or 'none' during the game."""
    for text in TEXTS:
        outcome = engine.position(text).outcome()
        expected = "none"
        if outcome is not None:
            expected = "draw" if outcome.winner is None else f"p{outcome.winner + 1}win"
        _asks(engine, "result", text, expected)
