"""The review of a game: how much each move lost, and whether that was a mistake or a blunder.

Every position is searched to the same limit. A move's loss is the mover's expected score (a win
is 1, a draw ½) before the move, minus the expected score after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from merels.engine.game.position import BLACK, COLOURS, WHITE, Move, Outcome, Position
from merels.engine.game.score import TABLE_CP, PovScore, Score
from merels.engine.search.limits import Limit
from merels.engine.search.searcher import Searcher
from merels.engine.tablebase.root_ranking import recurring_keys
from merels.engine.tools.show import men
from merels.protocol.games.record import Record

DEFAULT_NODES = 300_000
NAMES: tuple[tuple[float, str], ...] = ((0.30, "blunder"), (0.15, "mistake"), (0.07, "inaccuracy"))
"""The least loss for each name, the worst name first."""
MARKS = {"blunder": "??", "mistake": "?", "inaccuracy": "?!"}


@dataclass(frozen=True, slots=True)
class Value:
    """A position's score, and its best move; None when the game is over."""

    score: PovScore
    best: Move | None
    line: tuple[Move, ...] = ()
    known: bool = False
    """Whether the value is from the tablebase."""

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
    """A move with the values before and after it.

    ``loss`` is in expected score, from 0 to 1. ``name`` is ``blunder``, ``mistake``,
    ``inaccuracy`` or empty; ``proven`` is True if both values are proven, or that the game was not
    lost before and is proven lost after the move.
    """

    ply: int
    number: int
    side: int
    move: Move
    before: Value
    after: Value
    loss: float
    name: str
    proven: bool
    passed: Outcome | None = None
    """Draw by counting after which the record goes on, or None."""

    @property
    def sentence(self) -> str:
        """The judgement in words; empty for a good move."""
        words = []
        if self.name:
            what = self.name.capitalize()
            if self.proven:
                what += ", proven"
            words.append(f"{what}: {self.before.best} was better" if self.before.best else what)
        if self.passed is not None:
            words.append(f"{self.passed}; the record goes on")
        return "; ".join(words)

    @property
    def cost(self) -> str:
        """The proven loss of value, as a sentence; empty if there is none or it is not proven."""
        if not (self.before.proven and (self.after.proven or self.after.best is None)):
            return ""
        then, now = (
            round(2 * expected(value.score.pov(self.side))) for value in (self.before, self.after)
        )
        return _COSTS.get((then, now), "")


_COSTS = {
    (2, 1): "A win became a draw", (2, 0): "A win became a loss", (1, 0): "A draw became a loss",
}
"""By twice the proven results before and after the move."""

Judge = Callable[[Position], Value]


def expected(score: Score) -> float:
    """The expected score, from 0 to 1, of the side whose view the score is."""
    win, draw, _ = score.wdl()
    return (win + draw / 2) / 1000


def judge_with(searcher: Searcher, nodes: int = DEFAULT_NODES) -> Judge:
    """A judge that searches each position for a number of nodes, with the searcher's tables."""

    def judge(position: Position) -> Value:
        outcome = position.outcome()
        if outcome is not None and outcome.winner is None:
            return Value(PovScore(Score(cp=0), position.side), None)
        result = searcher.search(position, Limit(nodes=nodes))
        score, known = result.score, _known(searcher, position)
        if known and score.win_in is None and not score.known:
            # A value that is known here may not be, without depths, after a move.
            score = Score(cp=known * TABLE_CP)
        pov = PovScore(score, position.side)
        return Value(pov, result.move, result.info.pv, known is not None)

    return judge


def _known(searcher: Searcher, position: Position) -> int | None:
    """The value that the searcher's tables have, if no counting of plies or positions changes it.

    That of the side to move: 1, 0 or -1.
    """
    tables = searcher.tables_for(position.rules)
    if tables is None or position.outcome() is not None:
        return None
    bounds = tables.bounds(position)
    if bounds is None or bounds[0] != bounds[1] or (bounds[0] and recurring_keys(position)):
        return None
    return bounds[0]


def review(record: Record, judge: Judge) -> Iterator[Judgement]:
    """Each move of a game judged, in order.

    After a draw by counting moves are judged by the rules without such draws.
    """
    positions = record.positions()
    position = next(positions).played_on()
    before = judge(position)
    for ply, (move, following) in enumerate(zip(record.moves, positions)):
        after, mover, number = judge(following), position.side, position.number
        then, now = expected(before.score.pov(mover)), expected(after.score.pov(mover))
        # The best move loses nothing, even if the next search, which sees further, dislikes it.
        loss = 0.0 if move == before.best else max(0.0, then - now)
        name = next((name for least, name in NAMES if loss >= least), "")
        settled = after.best is None or after.proven
        proven = bool(name) and settled and (before.proven or now == 0)
        goes_on = following.played_on() if ply + 1 < len(record.moves) else following
        passed = following.outcome() if goes_on is not following else None
        yield Judgement(ply, number, mover, move, before, after, loss, name, proven, passed)
        if passed is not None:
            after = judge(goes_on)
        position, before = goes_on, after


def score_text(score: PovScore) -> str:
    """A score for humans, from White's side: a lead in men, or who wins in how many moves."""
    white = score.white()
    if white.win_in is None and not white.known:
        return men(white)
    winner = WHITE if (white.known or white.win_in or 0) > 0 else BLACK
    return f"{COLOURS[winner]} {men(white if winner == WHITE else score.black())}"


def as_json(judgement: Judgement) -> dict[str, object]:
    """A judgement as a JSON object; ``value`` (from 0 to 1) and ``score`` are White's view."""
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
