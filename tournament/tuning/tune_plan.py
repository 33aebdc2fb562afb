"""The games of a tune: pair after pair, each with the values that the results so far lead to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from merels.tournament.records.games import Entrant, PairTask
from merels.tournament.records.settings import Settings
from merels.tournament.run.plan import Plan
from merels.tournament.tuning.spsa_state import SpsaState, lag


def with_values(entrant: Entrant, names: Sequence[str], values: Sequence[int]) -> Entrant:
    """The entrant with options of these names set as well."""
    settings = tuple(zip(names, map(str, values)))
    engine = entrant.engine
    return replace(entrant, engine=replace(engine, options=engine.options + settings))


class TuningPlan(Plan):
    """Draws up one pair at a time, at most `lag` pairs ahead of those that are counted."""

    def __init__(
        self, settings: Settings, part: tuple[int, int] = (1, 1), keep_info: bool = False,
        pause: float = 0.0,
    ) -> None:
        super().__init__(settings, part, keep_info, pause)
        self.course = SpsaState(settings)
        self._names = [parameter.name for parameter in self.course.parameters]
        self._scored = 0
        """How many games have been scored in a row, from the first on."""
        self._scores: dict[int, float | None] = {}
        """White's points in later games, by number: an earlier one is missing."""
        self._wins: list[int] = []
        """Scores of the plus side in the games of the pair being counted."""
        starts = [parameter.start for parameter in self.course.parameters]
        self.entrants = tuple(
            with_values(entrant, self._names, starts) for entrant in settings.engines
        )

    def must_wait(self, open_games: int) -> bool:
        """Whether the next pair depends on games that do not count yet."""
        return self._games - self._scored > 2 * lag(self.course.pairs)

    def next_round(self) -> list[PairTask]:
        """The next pair; empty when all are drawn up."""
        if self._round == self.settings.rounds:
            return []
        self.entrants = tuple(
            with_values(entrant, self._names, values)
            for entrant, values in zip(self.settings.engines, self.course.draw())
        )
        return super().next_round()

    def score(self, number: int, white_score: float | None) -> None:
        """Note a game's result, which counts once those of all earlier games are there.

        A game of an old journal that was broken off is worth nothing to either side.
        """
        self._scores[number] = white_score
        while self._scored + 1 in self._scores:
            self._scored += 1
            score = self._scores.pop(self._scored)
            white = 0 if score is None else round(2 * score - 1)
            self._wins.append(white if self._scored % 2 else -white)
            if len(self._wins) == 2:
                self.course.add(sum(self._wins))
                self._wins.clear()
