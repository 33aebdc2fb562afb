"""Positions, evaluations and scores as text for the terminal."""

from __future__ import annotations

from merels.engine.game.notation import format_position
from merels.engine.game.position import WHITE, Position
from merels.engine.game.rules import FIELDS
from merels.engine.game.score import Score
from merels.engine.search.evaluation import evaluate, explain


def board_lines(position: Position) -> list[str]:
    """Return the lines of ``merels d``: diagram, text forms, rules, number of moves, outcome."""
    rules = position.rules
    fields = " ".join(f"{field.name}={getattr(rules, field.attribute)}" for field in FIELDS)
    outcome = position.outcome()
    return [
        *str(position).splitlines(),
        "",
        f"Fen: {format_position(position)}",
        f"Key: {position.key:015x}",
        f"Rules: {rules.variant} {fields}",
        f"Legal moves: {len(position.legal_moves())}",
        f"Outcome: {outcome or 'none, the game goes on'}",
    ]


def evaluation_lines(position: Position) -> list[str]:
    """Return the lines of ``merels eval``: each term of the evaluation and the total."""
    lines = [f"{'term':<24}{'worth':>8}"]
    lines += [f"{term:<24}{worth:>+8}" for term, worth in explain(position)]
    own = evaluate(position)
    white_view = own if position.side == WHITE else -own
    lines.append(f"Evaluation: {white_view:+} (White's view, hundredths of a man)")
    return lines


def men(score: Score) -> str:
    """Return a score in men, or a win or loss with its distance in own moves, if known."""
    if score.known:
        return "wins" if score.known > 0 else "loses"
    moves = score.mate()
    if moves is None:
        return f"{(score.cp or 0) / 100:+.2f}"
    if moves > 0:
        return f"wins in {moves}"
    return f"loses in {-moves}" if moves else "has lost"


def bench_lines(nodes: int, seconds: float) -> list[str]:
    """Return a benchmark's result in lines; scripts parse the last two."""
    return [f"{seconds:.3f} seconds", f"{nodes} nodes", f"{nodes / max(seconds, 1e-9):.0f} nps"]
