"""Adjudication: ending games early by the engines' scores, by tablebases, or by their length."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from merels.engine.common.errors import Failure, printable
from merels.engine.game.position import BLACK, COLOURS, WHITE, Position
from merels.engine.game.rules import Rules
from merels.engine.tablebase.probe import Tables, open_tables
from merels.tournament.play.fingerprint import THIS_ORIGIN
from merels.tournament.records.games import Adjudication

WON = 1_000_000
"""Score of a claimed win, in centi-men; a claimed loss is its negative."""
NEVER = 1 << 60
"""Ply beyond the end of every game."""

Verdict = tuple[int | None, str, str]
"""Winner (None for a draw), one of `CAUSES`, and the reason as a sentence."""


def as_number(score: int | None, win_in: int | None) -> int | None:
    """Return an engine's score as one number in centi-men, or None without a score.

    Claimed wins and losses become `WON` and its negative.
    """
    if win_in is not None:
        return WON if win_in > 0 else -WON
    return score


@lru_cache(maxsize=4)
def tables_for(folder: str, rules: Rules) -> Tables:
    """Return the tables of a rule set in a folder; the last four used stay open.

    Raises Failure if the folder has none, as may happen on machines other than the runner's.
    """
    tables = open_tables(Path(folder), rules)
    if not tables.headers:
        raise Failure(
            f"no tables for {rules} in -tb '{printable(folder)}' on {THIS_ORIGIN.host}; "
            "copy them there"
        )
    return tables


class Adjudicator:
    """Adjudicates one game, move by move.

    Draw: from move ``draw_number`` on, if both sides reported level scores in their last
    ``draw_count`` moves. A removal restarts the count, as an irreversible move does in fastchess.
    Resignation: from move ``resign_number`` on, if a side reported lost scores in its last
    ``resign_count`` moves; with ``resign_twosided`` the opponent must have reported won scores in
    as many moves. A move without a score restarts the counts.

    ``first_ply`` is the first ply for which `update` must be called. With only ``max_moves``, that
    is the last ply.
    """

    def __init__(self, rule: Adjudication, rules: Rules) -> None:
        self._rule = rule
        self._tables = tables_for(rule.tables, rules) if rule.tables else None
        self._level_plies = 0
        self._men = 0
        """Men of both sides after the last move, on the board and in hand."""
        self._losing = [0, 0]
        self._winning = [0, 0]
        self.first_ply = 2 * rule.max_moves or NEVER
        if rule.draw_count or rule.resign_count or rule.tables:
            self.first_ply = 0

    def update(
        self, number: int, side: int, score: int | None, plies: int, after: Position
    ) -> Verdict | None:
        """Add a move; return a verdict if the game ends with it.

        ``number`` is the move number, ``side`` the mover and ``score`` its score. ``plies`` is the
        number of moves so far, the opening included. ``after`` is the position after the move.
        """
        rule = self._rule
        if self._tables is not None and (proven := self._proven(self._tables, after)) is not None:
            return proven
        if rule.resign_count:
            winner = self._resigned(number, side, score)
            if winner is not None:
                return winner, "resignation by scores", f"{COLOURS[winner]} wins by adjudication"
        if rule.draw_count and self._drawn(number, score, after.total(WHITE) + after.total(BLACK)):
            return None, "draw by scores", "Draw by adjudication"
        if 0 < 2 * rule.max_moves <= plies:
            return None, "limit of moves", f"Draw by adjudication ({rule.max_moves} moves)"
        return None

    def _proven(self, tables: Tables, after: Position) -> Verdict | None:
        """Return the verdict that tablebases prove, or None.

        The proof takes the rules' limits on plies into account. None also for a result that
        ``table_results`` leaves out.
        """
        bounds = tables.bounds(after)
        if bounds is None or bounds[0] != bounds[1]:
            return None
        if self._rule.table_results == ("WIN_LOSS" if bounds[0] == 0 else "DRAW"):
            return None
        cause = "adjudication by tables"
        if bounds[0] == 0:
            return None, cause, "Draw by adjudication: tables"
        winner = after.side if bounds[0] > 0 else 1 - after.side
        return winner, cause, f"{COLOURS[winner]} wins by adjudication: tables"

    def _resigned(self, number: int, side: int, score: int | None) -> int | None:
        """Add a score; return the winner if a side resigns now, else None."""
        rule = self._rule
        losing = score is not None and score <= -rule.resign_score
        winning = score is not None and score >= rule.resign_score
        self._losing[side] = self._losing[side] + 1 if losing else 0
        self._winning[side] = self._winning[side] + 1 if winning else 0
        if number < rule.resign_number:
            return None
        for loser in (WHITE, BLACK):
            if self._losing[loser] >= rule.resign_count:
                if not rule.resign_twosided or self._winning[1 - loser] >= rule.resign_count:
                    return 1 - loser
        return None

    def _drawn(self, number: int, score: int | None, men: int) -> bool:
        """Add a score and the number of men; return whether the game is a draw now."""
        level = score is not None and abs(score) <= self._rule.draw_score
        if men < self._men:
            self._level_plies = 0
        self._men = men
        self._level_plies = self._level_plies + 1 if level else 0
        return self._level_plies >= 2 * self._rule.draw_count and number >= self._rule.draw_number
