"""Engines that do not start: after some games lost that way in a row they are withdrawn.

A withdrawn engine's remaining games are recorded as lost without being tried, so that a mistyped
path costs a tournament seconds instead of a start-up timeout a game. When nobody is left, or a
test has lost one of its two engines, there is nothing to measure: the tournament stops, and can be
resumed once they start.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from merels.tournament.records.games import GameResult, GameSpec
from merels.tournament.run.tasks import Finished

FAILED_STARTS = 3


class Withdrawals:
    """Counts each engine's failed starts in a row, and forfeits its games when it is withdrawn."""

    def __init__(self) -> None:
        self.out: set[str] = set()
        """The names of the engines that are withdrawn."""
        self._failures: Counter[str] = Counter()

    def add(self, game: Finished) -> list[str]:
        """Note a game's end; returns the names of the engines that are withdrawn by it."""
        withdrawn = []
        for name in (game.row.white, game.row.black):
            if name in game.unstarted:
                self._failures[name] += 1
                if self._failures[name] >= FAILED_STARTS and name not in self.out:
                    self.out.add(name)
                    withdrawn.append(name)
            elif game.row.moves:
                self._failures[name] = 0
        return withdrawn

    def forfeits(self, games: Sequence[GameSpec]) -> list[GameResult]:
        """The results of those of the games that a withdrawn engine cannot play."""
        results = []
        for spec in games:
            white, black = spec.white.name in self.out, spec.black.name in self.out
            if white and black:
                reason = "No result, both engines were withdrawn"
                results.append(GameResult(spec, "*", "unterminated", reason))
            elif white:
                results.append(GameResult(spec, "0-1", "abandoned", "White was withdrawn"))
            elif black:
                results.append(GameResult(spec, "1-0", "abandoned", "Black was withdrawn"))
        return results
