"""Ending games early: small trackers of the engines' own scores, each with one rule."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from merels.engine.game.position import BLACK, COLOURS, WHITE, Position
from merels.engine.game.rules import Rules
from merels.engine.tablebase.probe import Tables, open_tables
from merels.tournament.records.games import Adjudication

WON = 1_000_000
"""What a claimed win counts as, in centi-men; a claimed loss is minus that."""


def as_number(score: int | None, win_in: int | None) -> int | None:
    """An engine's score, an estimate or a claimed end, as one number; None for none."""
    if win_in is not None:
        return WON if win_in > 0 else -WON
    return score


class DrawTracker:
    """A draw, once both sides have thought so for ``draw_count`` moves on end.

    It looks from move ``draw_number`` on; a move without a score starts the count anew.
    """

    def __init__(self, rule: Adjudication) -> None:
        self._rule = rule
        self._plies = 0

    def update(self, number: int, score: int | None) -> bool:
        """Note the next move, of move ``number``; whether the game is to be a draw now."""
        rule = self._rule
        level = score is not None and abs(score) <= rule.draw_score
        self._plies = self._plies + 1 if level else 0
        return self._plies >= 2 * rule.draw_count and number >= rule.draw_number


class ResignTracker:
    """A loss, once a side has thought so for ``resign_count`` of its moves on end.

    With ``resign_twosided`` the other side must have thought it won for as long.
    """

    def __init__(self, rule: Adjudication) -> None:
        self._rule = rule
        self._losing = [0, 0]
        self._winning = [0, 0]

    def update(self, number: int, side: int, score: int | None) -> int | None:
        """Note a move of move ``number``; the winner, if the game is to end now."""
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


@cache
def tables_for(folder: str, rules: Rules) -> Tables:
    """The tables of a rule set in a folder, opened once by each process."""
    return open_tables(Path(folder), rules)


class TablesTracker:
    """The proven result, once tables know the position, plies without a removal counted."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def update(self, after: Position) -> tuple[int | None, str] | None:
        """(winner or None, reason) of a position that the tables decide."""
        bounds = self._tables.bounds(after)
        if bounds is None or bounds[0] != bounds[1]:
            return None
        if bounds[0] == 0:
            return None, "Draw by adjudication: tables"
        winner = after.side if bounds[0] > 0 else 1 - after.side
        return winner, f"{COLOURS[winner]} wins by adjudication: tables"


class Adjudicator:
    """All the rules of one game: the result and the reason once one of them applies."""

    def __init__(self, rule: Adjudication, rules: Rules) -> None:
        self._rule = rule
        self._draw = DrawTracker(rule) if rule.draw_count else None
        self._resign = ResignTracker(rule) if rule.resign_count else None
        self._tables = TablesTracker(tables_for(rule.tables, rules)) if rule.tables else None
        self.active = bool(
            rule.draw_count or rule.resign_count or rule.max_moves or rule.tables
        )

    def update(
        self, number: int, side: int, score: int | None, plies: int, after: Position
    ) -> tuple[int | None, str] | None:
        """Note a move; (winner or None, reason) if the game is to end with it.

        ``number`` is the move's move number, ``plies`` how many moves the game has had, those of
        its opening included, ``after`` the position that the move led to.
        """
        if self._tables is not None:
            proven = self._tables.update(after)
            if proven is not None:
                return proven
        if self._resign is not None:
            winner = self._resign.update(number, side, score)
            if winner is not None:
                return winner, f"{COLOURS[winner]} wins by adjudication"
        if self._draw is not None and self._draw.update(number, score):
            return None, "Draw by adjudication"
        if 0 < 2 * self._rule.max_moves <= plies:
            return None, f"Draw by adjudication ({self._rule.max_moves} moves)"
        return None
