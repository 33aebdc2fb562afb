"""The rating list as a drawing: a point and an error bar for each engine."""

from __future__ import annotations

import math
from html import escape

from merels.engine.game.errors import printable
from merels.tournament.report.text_table import shorten
from merels.tournament.statistics.ratings import Ratings

WIDTH, LABELS, RIGHT, ROW, AXIS = 760, 190, 70, 26, 34


def rating_plot(ratings: Ratings) -> str:
    """An SVG element; empty if no engine is rated."""
    players = ratings.players
    if not players:
        return ""
    low = min(player.elo - _finite(player.error) for player in players)
    high = max(player.elo + _finite(player.error) for player in players)
    step = tick_step(high - low)
    low, high = math.floor(low / step) * step, math.ceil(high / step) * step
    if low == high:
        low, high = low - step, high + step

    def place(elo: float) -> str:
        return f"{LABELS + (WIDTH - LABELS - RIGHT) * (elo - low) / (high - low):.1f}"

    bottom = ROW * len(players) + 6
    parts = [
        f'<svg class="plot" viewBox="0 0 {WIDTH} {bottom + AXIS}" role="img" '
        f'aria-label="Ratings with 95 % error bars">'
    ]
    for index in range(round((high - low) / step) + 1):
        elo = low + index * step
        parts.append(
            f'<line class="grid" x1="{place(elo)}" y1="0" x2="{place(elo)}" y2="{bottom}"/>'
            f'<text class="tick" x="{place(elo)}" y="{bottom + 18}">{_signed(elo)}</text>'
        )
    for index, player in enumerate(players):
        y = ROW * index + ROW / 2 + 3
        error = _finite(player.error)
        name = escape(shorten(player.name, 26))
        title = f"{escape(printable(player.name))}: {player.elo:z.1f} ± {player.error:.1f}"
        parts.append(
            f'<text class="name" x="{LABELS - 12}" y="{y + 4:.1f}">{name}</text>'
            f'<line class="error" x1="{place(player.elo - error)}" y1="{y:.1f}" '
            f'x2="{place(player.elo + error)}" y2="{y:.1f}"/>'
            f'<circle class="elo" cx="{place(player.elo)}" cy="{y:.1f}" r="4.5">'
            f"<title>{title}</title></circle>"
            f'<text class="value" x="{WIDTH - 4}" y="{y + 4:.1f}">{player.elo:z.0f}</text>'
        )
    return "\n".join([*parts, "</svg>"])


def tick_step(span: float) -> float:
    """The distance of ticks: 1, 2 or 5 times a power of ten, some four to nine of them."""
    if not span > 0:
        return 10.0
    power = 10.0 ** math.floor(math.log10(span / 4))
    # The logarithm of a span just short of a power of ten is rounded up to that of the power.
    return max((power * step for step in (1, 2, 5) if power * step <= span / 4), default=power / 2)


def _signed(elo: float) -> str:
    return f"{elo:+.0f}" if round(elo) else "0"


def _finite(error: float) -> float:
    return error if math.isfinite(error) else 0.0
