"""Ending games early, by the engines' own scores, by tablebases, or by their length."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from merels.engine.common.errors import Failure, printable
from merels.engine.game.position import BLACK, COLOURS, WHITE, Position
from merels.engine.game.rules import Rules
from merels.engine.tablebase.probe import Tables, open_tables
from merels.tournament.play.fingerprint import HERE
from merels.tournament.records.games import Adjudication

WON = 1_000_000
"""Score of a claimed win, in hundredths of a man; a claimed loss is minus that."""
NEVER = 1 << 60
"""A ply that no game reaches."""

Verdict = tuple[int | None, str, str]
"""The winner (None: a draw), one of `CAUSES`, and a sentence."""


def as_number(score: int | None, win_in: int | None) -> int | None:
    """An engine's score, an estimate or a claimed win or loss, as one number; None for none."""
    if win_in is not None:
        return WON if win_in > 0 else -WON
    return score


@lru_cache(maxsize=4)
def tables_for(folder: str, rules: Rules) -> Tables:
    """Return the tables of a rule set in a folder; those asked for last stay open.

    `Failure` if there are none: the machine that began the tournament had them.
    """
    tables = open_tables(Path(folder), rules)
    if not tables.headers:
        raise Failure(f"no tables for {rules} in -tb '{printable(folder)}' on {HERE.host}")
    return tables


class Adjudicator:
    """Follows one game: the result and the reason, once one of the rules ends it.

    It is a draw once both sides have given level scores for ``draw_count`` moves in a row without a
    removal (fastchess counts from the last irreversible move, too). It is a loss once a side has
    given lost scores for ``resign_count`` of its moves in a row; with ``resign_twosided`` the
    opponent must have thought itself winning for as long. A move without a score starts the counts
    again. ``first_ply`` is the first ply that `update` must get: where a game's length alone
    counts, the last one.
    """

    def __init__(self, rule: Adjudication, rules: Rules) -> None:
        self._rule = rule
        self._tables = tables_for(rule.tables, rules) if rule.tables else None
        self._level_plies = 0
        self._men = 0
        """Men on the board and in hand after the last move."""
        self._losing = [0, 0]
        self._winning = [0, 0]
        self.first_ply = 2 * rule.max_moves or NEVER
        if rule.draw_count or rule.resign_count or rule.tables:
            self.first_ply = 0

    def update(
        self, number: int, side: int, score: int | None, plies: int, after: Position
    ) -> Verdict | None:
        """Note a move; return a verdict if the game is to end with it.

        ``number`` is the move's move number, ``score`` the mover's, ``plies`` how many moves the
        game has had, those of its opening included, ``after`` the position that the move led to.
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
        """The result that tablebases prove, with plies without a removal counted."""
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
        """Note a score; the winner, if a side is to resign now."""
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
        """Note a score and the number of men; return whether the game is a draw now."""
        level = score is not None and abs(score) <= self._rule.draw_score
        if men < self._men:
            self._level_plies = 0
        self._men = men
        self._level_plies = self._level_plies + 1 if level else 0
        return self._level_plies >= 2 * self._rule.draw_count and number >= self._rule.draw_number
