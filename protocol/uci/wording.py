"""The text of the engine's answers in the dialects uci and ugi."""

from __future__ import annotations

from merels.engine.game.notation import format_moves
from merels.engine.game.position import Move
from merels.engine.game.score import Score
from merels.engine.search.limits import Info

NO_MOVE = "0000"


class Uci:
    """The Universal Chess Interface, adapted to this game; the base class of `Ugi`."""

    name = "uci"
    bounds = {"": "", "lower": " lowerbound", "upper": " upperbound"}

    def mate(self, score: Score) -> int | None:
        """Return the number after ``mate``: own moves of the side to move, <= 0 for a loss."""
        return score.mate()

    def mate_limit(self, number: int) -> int:
        """Return the limit of a ``go mate``, in moves of the winner."""
        return number

    def score(self, score: Score) -> str:
        """Return a score as text: ``cp`` in hundredths of a man, or ``mate``."""
        return f"cp {score.cp}" if score.win_in is None else f"mate {self.mate(score)}"

    def info(self, info: Info, show_wdl: bool = False) -> str:
        """Return the ``info`` line of an iteration."""
        words: dict[str, object] = {
            "depth": info.depth,
            "seldepth": info.seldepth,
            "multipv": info.multipv,
            "score": info.score and self.score(info.score.relative) + self.bounds[info.bound],
            "wdl": " ".join(map(str, info.wdl)) if info.wdl and show_wdl else None,
            "nodes": info.nodes,
            "nps": info.nps,
            "hashfull": info.hashfull,
            "tbhits": info.tbhits,
            "time": None if info.time is None else int(info.time * 1000),
            "pv": format_moves(info.pv) or None,
        }
        fields = (f"{name} {value}" for name, value in words.items() if value is not None)
        return f"info {' '.join(fields)}"

    def bestmove(self, move: Move | None, ponder: Move | None) -> str:
        """Return the line that ends a search; ``move`` is None if the game is over."""
        if move is None:
            return f"bestmove {NO_MOVE}"
        return f"bestmove {move}" if ponder is None else f"bestmove {move} ponder {ponder}"


class Ugi(Uci):
    """The Universal Game Interface: mates count plies, and ``bestmove`` has no ponder move."""

    name = "ugi"

    def mate(self, score: Score) -> int | None:
        """Return the number after ``mate``: plies, <= 0 for a loss."""
        return score.win_in

    def mate_limit(self, number: int) -> int:
        """Return the limit of a ``go mate`` in moves of the winner; ``number`` is in plies."""
        return (number + 1) // 2

    def bestmove(self, move: Move | None, ponder: Move | None) -> str:
        """Return the line that ends a search, without the ponder move."""
        return super().bestmove(move, None)
