"""Engines playing each other: schedules, games, journals and the statistics of their results.

>>> from merels.tournament import GameScore, count_matches, rate
>>> games = [GameScore("A", "B", score, pair) for pair, score in enumerate((1, 0.5, 1, 0))]
>>> [player.name for player in rate(count_matches(games)).players]
['A', 'B']
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["Estimate", "GameScore", "MatchCounts", "Sprt", "count_matches", "from_cells", "rate"]

if TYPE_CHECKING:
    from merels.tournament.statistics.counts import GameScore, MatchCounts, count_matches
    from merels.tournament.statistics.elo import Estimate, from_cells
    from merels.tournament.statistics.ratings import rate
    from merels.tournament.statistics.sprt import Sprt

_NAMES = {
    "counts": ("GameScore", "MatchCounts", "count_matches"),
    "elo": ("Estimate", "from_cells"),
    "ratings": ("rate",),
    "sprt": ("Sprt",),
}


def __getattr__(name: str) -> Any:
    """A public name, from its module: a start-up that needs none of them loads none."""
    for module, names in _NAMES.items():
        if name in names:
            return getattr(import_module(f"merels.tournament.statistics.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
