"""Engines that do not start: after several games in a row lost that way they are withdrawn.

A withdrawn engine forfeits its remaining games without another try, so that a mistyped path costs a
tournament seconds instead of a timeout for each game. When no engine is left, or a test has lost
one of its two, there is nothing to measure: the tournament stops, and can be resumed once they
start.
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
        """Note the end of a game; returns the names of the engines that are withdrawn after it."""
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
        """The results of the games that a withdrawn engine forfeits."""
        ends = {
            (True, True): ("*", "unterminated", "No result, both engines were withdrawn"),
            (True, False): ("0-1", "abandoned", "White was withdrawn"),
            (False, True): ("1-0", "abandoned", "Black was withdrawn"),
        }
        sides = ((spec, (spec.white.name in self.out, spec.black.name in self.out))
                 for spec in games)
        return [GameResult(spec, *ends[out]) for spec, out in sides if any(out)]
