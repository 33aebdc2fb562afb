"""The ugi dialect (Universal Game Interface), where it differs from uci."""

from __future__ import annotations

from typing import TYPE_CHECKING

from merels.protocol.uci.dialects import Uci

if TYPE_CHECKING:
    from merels.engine.game.position import Move
    from merels.engine.game.score import Score


class Ugi(Uci):
    """Mates are counted in plies, and a best move stands alone on its line."""

    name = "ugi"

    def mate(self, score: Score) -> int | None:
        """The number behind ``mate``: plies."""
        return score.win_in

    def mate_limit(self, number: int) -> int:
        """The winner's own moves within so many plies."""
        return (number + 1) // 2

    def bestmove(self, move: Move | None, ponder: Move | None) -> str:
        """The line that ends a search, of exactly two tokens."""
        return super().bestmove(move, None)
