"""How the games of a tournament ended: as text for people and as plain values for JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from merels.engine.game.errors import printable
from merels.tournament.report.text_table import grid, percent, shorten
from merels.tournament.statistics.terminations import Terminations


def terminations_table(stats: Terminations) -> str:
    """Two tables as text: games by termination, and each engine's losses by termination."""
    losses = losses_rows(stats, list(stats.results), shorten)
    return grid(terminations_rows(stats), left=0) + "\n" + grid(losses, left=0)


def terminations_rows(stats: Terminations) -> list[list[str]]:
    """A head, and a row for each termination: its games and their results."""
    rows = [["Termination", "Games", "Share", "White", "Drawn", "Black", "Unfinished"]]
    for name, results in stats.results.items():
        games = sum(results)
        share = percent(games, stats.games)
        rows.append([printable(name), str(games), share, *map(str, results)])
    return rows


def losses_rows(
    stats: Terminations, names: Sequence[str], show_name: Callable[[str], str]
) -> list[list[str]]:
    """A head, and a row for each engine: the games that it lost by these terminations."""
    rows = [["Lost by", *map(printable, names)]]
    for player, counts in stats.lost.items():
        rows.append([show_name(player), *(str(counts.get(name, 0)) for name in names)])
    return rows


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
