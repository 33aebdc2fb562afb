"""Steps about UGI's queries."""

from __future__ import annotations

from collections.abc import Callable

from merels.engine.game.position import WHITE, Position
from merels.protocol.check.conversation import Fault
from merels.protocol.check.positions import FINISHED, MOVING, START, WINNING
from merels.protocol.check.step import Group
from merels.protocol.check.subject import Subject

GROUP = Group("queries", "UGI's queries", needs=("greeting", "ready"))
TEXTS = (START, MOVING, WINNING, *FINISHED.values())


def _asks(engine: Subject, question: str, answer: Callable[[Position], str]) -> None:
    """Ask a question about several positions, each of which has one right answer."""
    engine.ensure()
    for text in TEXTS:
        position = engine.position(text)
        engine.send(engine.dialect.position(position).decode(), f"query {question}")
        lines = [line for line in engine.ping() if line.first == "response"]
        if len(lines) != 1:
            raise Fault(f"{len(lines)} responses to 'query {question}'",
                        lines[-1].raw if lines else None)
        expected = f"response {answer(position)}"
        if lines[0].text != expected:
            raise Fault(f"'query {question}' should get '{expected}' in {text}", lines[0].raw)


@GROUP.step(protocols=("ugi",))
def query_move(engine: Subject) -> None:
    """'query p1turn' tells whether the first player is to move; clients that do not know the game
    ask the engine."""
    _asks(engine, "p1turn", lambda position: "true" if position.side == WHITE else "false")


@GROUP.step(protocols=("ugi",))
def query_game_over(engine: Subject) -> None:
    """'query gameover' tells whether the game has ended."""
    _asks(engine, "gameover", lambda position: "false" if position.outcome() is None else "true")


@GROUP.step(protocols=("ugi",))
def query_result(engine: Subject) -> None:
    """'query result' tells who has won, or 'none' during the game."""

    def result(position: Position) -> str:
        outcome = position.outcome()
        if outcome is None:
            return "none"
        return "draw" if outcome.winner is None else f"p{outcome.winner + 1}win"

    _asks(engine, "result", result)
