"""How a game ends: the result, the kind of end, the reason, and whose fault it was."""

from __future__ import annotations

from merels.engine.game.position import COLOURS

WINS = ("1-0", "0-1")
DRAW = "1/2-1/2"
NO_RESULT = "*"


class End(Exception):
    """The game has ended, with ``winner`` (None: a draw) and in the way of ``termination``.

    ``culprit`` is the side whose engine is at fault; None if neither is.
    """

    def __init__(
        self, winner: int | None, termination: str, reason: str, culprit: int | None = None
    ) -> None:
        super().__init__(reason)
        self.result = DRAW if winner is None else WINS[winner]
        self.termination = termination
        self.reason = reason
        self.culprit = culprit


def fault(side: int, termination: str, reason: str) -> End:
    """The end of a game that a side loses because its engine is at fault."""
    return End(1 - side, termination, f"{COLOURS[side]} {reason}", side)


def loss_on_time(side: int, how: str) -> End:
    """The end of a game that a side loses on time."""
    return fault(side, "time forfeit", f"loses on time ({how})")
