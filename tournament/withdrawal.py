"""Engines that do not start: after some games lost that way in a row they are withdrawn.

A withdrawn engine's remaining games are recorded as lost without being tried, so that a mistyped
path costs a tournament seconds instead of a start-up timeout a game. When nobody is left to meet
anybody there is nothing to measure: the tournament stops, and can be resumed once they start.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from merels.tournament.spec import GameResult, GameSpec
from merels.tournament.tasks import Finished

FAILED_STARTS = 3


class Withdrawals:
    """Counts each engine's failed starts in a row, and forfeits its games when it is withdrawn."""

    def __init__(self) -> None:
        self._failures: Counter[str] = Counter()

    def add(self, game: Finished) -> list[str]:
        """Note a game's end; returns the names of the engines that are withdrawn by it."""
        withdrawn = []
        for name in (game.row.white, game.row.black):
            if name in game.unstarted:
                self._failures[name] += 1
                if self._failures[name] == FAILED_STARTS:
                    withdrawn.append(name)
            elif game.row.moves and not self._is_out(name):
                self._failures[name] = 0
        return withdrawn

    def forfeits(self, games: Sequence[GameSpec]) -> list[GameResult]:
        """The results of those of the games that a withdrawn engine cannot play."""
        results = []
        for spec in games:
            white, black = (self._is_out(engine.name) for engine in (spec.white, spec.black))
            if white and black:
                reason = "No result, both engines were withdrawn"
                results.append(GameResult(spec, "*", "unterminated", reason))
            elif white:
                results.append(GameResult(spec, "0-1", "abandoned", "White was withdrawn"))
            elif black:
                results.append(GameResult(spec, "1-0", "abandoned", "Black was withdrawn"))
        return results

    def left(self, names: Iterable[str]) -> int:
        """How many of the engines are not withdrawn."""
        return sum(not self._is_out(name) for name in names)

    def _is_out(self, name: str) -> bool:
        return self._failures[name] >= FAILED_STARTS
