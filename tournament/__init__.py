"""Engines playing each other: schedules, games, journals and the statistics of their results.

>>> from merels.tournament import GameScore, count_matches, rate
>>> games = [GameScore("A", "B", score, pair) for pair, score in enumerate((1, 0.5, 1, 0))]
>>> [player.name for player in rate(count_matches(games)).players]
['A', 'B']
"""

from typing import TYPE_CHECKING

from merels.engine import on_demand

__all__ = ["Estimate", "GameScore", "MatchCounts", "Sprt", "count_matches", "from_cells", "rate"]


def __dir__() -> list[str]:
    """Return the public names, which tools complete."""
    return __all__


if TYPE_CHECKING:
    from merels.tournament.statistics.counts import GameScore, MatchCounts, count_matches
    from merels.tournament.statistics.elo import Estimate, from_cells
    from merels.tournament.statistics.ratings import rate
    from merels.tournament.statistics.sprt import Sprt
else:  # Each module is imported at the first use of its names, for a fast start-up.
    __getattr__ = on_demand(__name__, {
        "tournament.statistics.counts": ("GameScore", "MatchCounts", "count_matches"),
        "tournament.statistics.elo": ("Estimate", "from_cells"),
        "tournament.statistics.ratings": ("rate",),
        "tournament.statistics.sprt": ("Sprt",),
    })  # fmt: skip
