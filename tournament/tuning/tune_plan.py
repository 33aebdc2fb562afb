"""Schedule of a tune: game pairs with parameter values that depend on earlier results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from merels.tournament.openings.reading import Openings
from merels.tournament.records.games import Entrant, PairTask
from merels.tournament.records.settings import Settings
from merels.tournament.run.plan import Plan
from merels.tournament.tuning.spsa_state import SpsaState, max_pending


def with_values(entrant: Entrant, names: Sequence[str], values: Sequence[int]) -> Entrant:
    """Return the entrant with its options ``names`` set to ``values``."""
    settings = tuple(zip(names, map(str, values)))
    engine = entrant.engine
    return replace(entrant, engine=replace(engine, options=engine.options + settings))


class TuningPlan(Plan):
    """A plan of one game pair a round; up to `max_pending` pairs may lack a result."""

    def __init__(
        self, settings: Settings, part: tuple[int, int] = (1, 1), keep_info: bool = False,
        pause: float = 0.0, openings: Openings | None = None,
    ) -> None:
        super().__init__(settings, part, keep_info, pause, openings)
        self.state = SpsaState(settings)
        self._names = [parameter.name for parameter in self.state.parameters]
        self._counted = 0
        """Number of the last game before the first game without a score."""
        self._later_scores: dict[int, float | None] = {}
        """Game number -> White's points, for games that follow a game without a score."""
        self._wins: list[int] = []
        """Results of the plus side in the counted games of the current pair: 1, 0 or -1."""
        starts = [parameter.start for parameter in self.state.parameters]
        self.entrants = tuple(
            with_values(entrant, self._names, starts) for entrant in settings.engines
        )

    @property
    def _is_waiting(self) -> bool:
        return self._games - self._counted > 2 * max_pending(self.state.pairs)

    def _next_tasks(self) -> list[PairTask]:
        """Return the next pair as a list of one task; empty after the last pair."""
        if self._round == self.settings.rounds:
            return []
        self.entrants = tuple(
            with_values(entrant, self._names, values)
            for entrant, values in zip(self.settings.engines, self.state.next_trial())
        )
        return super()._next_tasks()

    def score(self, number: int, white_score: float | None) -> None:
        """Add a game's result, which is counted as soon as all earlier games have a result.

        An unfinished game of an old journal (``white_score`` None) counts as a draw.
        """
        self._later_scores[number] = white_score
        while self._counted + 1 in self._later_scores:
            self._counted += 1
            score = self._later_scores.pop(self._counted)
            white = 0 if score is None else round(2 * score - 1)
            self._wins.append(white if self._counted % 2 else -white)
            if len(self._wins) == 2:
                self.state.add(sum(self._wins))
                self._wins.clear()
