"""How the games of a tournament ended: as text for people and as plain values for JSON."""

from __future__ import annotations

from typing import Any

from merels.engine.game.errors import printable
from merels.tournament.report.text_table import grid, percent, shorten
from merels.tournament.statistics.terminations import Terminations


def terminations_table(stats: Terminations) -> str:
    """Two tables as text: games by termination, and each engine's losses by termination."""
    rows = [["Termination", "Games", "Share", "White", "Drawn", "Black", "Unfinished"]]
    for name in stats.names:
        results = stats.results[name]
        games = sum(results)
        share = percent(games, stats.games)
        rows.append([printable(name), str(games), share, *map(str, results)])
    losses = [["Lost by", *map(printable, stats.names)]]
    for player, counts in stats.lost.items():
        losses.append([shorten(player), *(str(counts.get(name, 0)) for name in stats.names)])
    return grid(rows, left=0) + "\n" + grid(losses, left=0)


def as_dict(stats: Terminations) -> dict[str, Any]:
    """The counts in plain values for JSON."""
    return {
        "games": stats.games,
        "terminations": [
            {"termination": name, **dict(zip(("white", "drawn", "black", "unfinished"), results))}
            for name, results in stats.results.items()
        ],
        "lost": {player: dict(counts) for player, counts in stats.lost.items()},
    }
