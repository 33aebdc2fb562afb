"""Review of a game: the loss of each move, and its name (blunder, mistake, inaccuracy).

Every position is searched with the same limit. A move's loss is the mover's expected score (a win
is 1, a draw ½) before the move, minus the mover's expected score after it. It is at least 0, and 0
for the best move.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from merels.engine.common.messages import joined, message
from merels.engine.game.position import BLACK, COLOURS, WHITE, Move, Outcome, Position
from merels.engine.game.score import TABLE_CP, PovScore, Score
from merels.engine.search.limits import Limit
from merels.engine.search.searcher import Searcher
from merels.engine.tablebase.root_ranking import recurring_keys
from merels.engine.tools.show import men
from merels.protocol.games.record import Record

DEFAULT_NODES = 300_000
"""Node limit of the search of each position."""
GRADES: tuple[tuple[float, str], ...] = ((0.30, "blunder"), (0.15, "mistake"), (0.07, "inaccuracy"))
"""Names of bad moves, each after its minimum loss; the largest loss first."""
LOST = 0.05
"""Expected score below which a position is lost, so that no move costs more."""
SYMBOLS = {"blunder": "??", "mistake": "?", "inaccuracy": "?!"}
"""The annotation symbol of each grade."""


@dataclass(frozen=True, slots=True)
class Value:
    """The evaluation of a position."""

    score: PovScore
    best: Move | None
    """The best move, or None if the game is over."""
    line: tuple[Move, ...] = ()
    """The principal variation."""
    known: bool = False
    """Whether the tablebase has the position's value."""

    @property
    def proven(self) -> bool:
        """Whether the tablebase, or a search to the end of the game, proves the score."""
        return self.known or self.score.relative.win_in is not None

    @property
    def white(self) -> float:
        """White's expected score, from 0 to 1."""
        return expected(self.score.white())


@dataclass(frozen=True, slots=True)
class Judgement:
    """A move of the record, with the evaluations before and after it."""

    ply: int
    """Index of the move in the record, from 0."""
    number: int
    """Number of the move, as in PGN."""
    side: int
    move: Move
    before: Value
    after: Value
    loss: float
    """Loss in expected score, from 0 to 1."""
    name: str
    """``blunder``, ``mistake``, ``inaccuracy`` or empty."""
    proven: bool
    """Whether `name` is proven: by both values, or because the move is proven to lose."""
    at_stake: bool = True
    """Whether a move could lose value here: the mover is not lost, and has more than one move."""
    draw_passed: Outcome | None = None
    """Draw by a counting rule after this move, if the record goes on after it; otherwise None."""

    @property
    def sentence(self) -> str:
        """The judgement as text; empty for a good move."""
        parts = []
        if self.name:
            verdict, best = self.name.capitalize(), self.before.best
            if self.proven:
                verdict = message("{verdict}, proven", verdict=verdict)
            if best:
                verdict = message("{verdict}: {move} was better", verdict=verdict, move=best)
            parts.append(verdict)
        if self.draw_passed is not None:
            parts += [str(self.draw_passed), "the record goes on"]
        return joined("; ", parts)

    @property
    def cost(self) -> str:
        """The proven change of the game's result, as a sentence, or ''."""
        if not (self.before.proven and (self.after.proven or self.after.best is None)):
            return ""
        before, after = (
            round(2 * expected(value.score.pov(self.side))) for value in (self.before, self.after)
        )
        return _COSTS.get((before, after), "")


_COSTS = {
    (2, 1): "A win became a draw", (2, 0): "A win became a loss", (1, 0): "A draw became a loss",
}
"""Sentences by the proven results before and after the move: 2 win, 1 draw, 0 loss."""

Judge = Callable[[Position], Value]
"""A function that evaluates a position."""


def expected(score: Score) -> float:
    """Return ``score`` as an expected score from 0 to 1, from the same side's view."""
    win, draw, _ = score.wdl()
    return (win + draw / 2) / 1000


def judge_with(searcher: Searcher, nodes: int = DEFAULT_NODES) -> Judge:
    """Return a judge that searches each position with a node limit and the searcher's tables."""

    def judge(position: Position) -> Value:
        outcome = position.outcome()
        if outcome is not None and outcome.winner is None:
            return Value(PovScore(Score(cp=0), position.side), None)
        result = searcher.search(position, Limit(nodes=nodes))
        score, value = result.score, _table_value(searcher, position)
        if value and score.win_in is None and not score.known:
            # The table has this position's value, but tables without depths may lack the values
            # after its moves. The search may then miss the result.
            score = Score(cp=value * TABLE_CP)
        pov = PovScore(score, position.side)
        return Value(pov, result.move, result.info.pv, value is not None)

    return judge


def _table_value(searcher: Searcher, position: Position) -> int | None:
    """Return the table's value for the side to move, 1, 0 or -1.

    Return None if the tables lack the value, or if a draw by a counting rule may change it.
    """
    tables = searcher.opening_for(position) or searcher.tables_for(position.rules)
    if tables is None or position.outcome() is not None:
        return None
    bounds = tables.bounds(position)
    if bounds is None or bounds[0] != bounds[1] or (bounds[0] and recurring_keys(position)):
        return None
    return bounds[0]


def review(record: Record, judge: Judge) -> Iterator[Judgement]:
    """Yield the judgement of each move of the main line.

    After a draw by a counting rule, moves are judged by rules without draws by counting.
    """
    positions = record.positions()
    position = next(positions).played_on()
    before = judge(position)
    moves = record.moves
    for ply, (move, following) in enumerate(zip(moves, positions)):
        after, mover, number = judge(following), position.side, position.number
        chance, chance_after = (expected(value.score.pov(mover)) for value in (before, after))
        # The search after the best move is a ply deeper and may score it lower; that is no loss.
        loss = 0.0 if move == before.best else max(0.0, chance - chance_after)
        name = next((name for least, name in GRADES if loss >= least), "")
        after_is_proven = after.best is None or after.proven
        proven = bool(name) and after_is_proven and (before.proven or chance_after == 0)
        continued = following.played_on() if ply + 1 < len(moves) else following
        draw_passed = following.outcome() if continued is not following else None
        at_stake = chance >= LOST and len(position.legal_moves()) > 1
        yield Judgement(
            ply, number, mover, move, before, after, loss, name, proven, at_stake, draw_passed
        )
        if draw_passed is not None:
            after = judge(continued)
        position, before = continued, after


def score_text(score: PovScore) -> str:
    """Return a score as text: White's lead in men, or the winner and its moves to the win."""
    white = score.white()
    if white.win_in is None and not white.known:
        return men(white)
    winner = WHITE if (white.known or white.win_in or 0) > 0 else BLACK
    moves = (white if winner == WHITE else score.black()).mate()
    if not moves:
        return message("{side} wins", side=COLOURS[winner])
    return message("{side} wins in {count}", side=COLOURS[winner], count=moves)


def as_json(judgement: Judgement) -> dict[str, object]:
    """Return a judgement as a JSON object; ``value`` (0 to 1) and ``score`` are White's view."""
    white = judgement.after.score.white()
    return {
        "ply": judgement.ply,
        "number": judgement.number,
        "side": "white" if judgement.side == WHITE else "black",
        "move": str(judgement.move),
        "best": str(judgement.before.best) if judgement.before.best else None,
        "line": [str(move) for move in judgement.before.line],
        "loss": round(judgement.loss, 4),
        "name": judgement.name,
        "proven": judgement.proven,
        "sentence": judgement.sentence,
        "cost": judgement.cost,
        "value": round(judgement.after.white, 4),
        "score": {"cp": white.cp} if white.win_in is None else {"win_in": white.win_in},
        "text": score_text(judgement.after.score),
    }
