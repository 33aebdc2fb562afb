"""Plots as SVG: ratings with error bars, and distributions of times."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from merels.engine.common.errors import printable
from merels.tournament.report.text_table import shorten
from merels.tournament.statistics.ratings import PlayerRating
from merels.tournament.statistics.times import Spread

WIDTH, LABELS, RIGHT, ROW_HEIGHT, AXIS_HEIGHT = 760, 190, 70, 26, 34
"""Widths of a plot, of its labels and of its right margin; heights of a row and of the axis."""
PHONE_WIDTH, PHONE_LABELS, PHONE_RIGHT = 360, 122, 44
"""The widths of a plot that fits into the window of a phone."""
SHORTEST_TIME = 10_000
"""Left end of the axis of times, in nanoseconds; shorter times are drawn there."""


def rating_plot(
    players: Sequence[PlayerRating], is_progress: bool = False, is_narrow: bool = False
) -> str:
    """Return a plot of ratings as points with error bars, as SVG; '' without ratings.

    ``is_progress``: the players are versions of one engine, and a line joins them. ``is_narrow``:
    the plot is for a phone.
    """
    if not players:
        return ""
    width, labels, right = (
        (PHONE_WIDTH, PHONE_LABELS, PHONE_RIGHT) if is_narrow else (WIDTH, LABELS, RIGHT)
    )
    low = min(player.elo - _finite(player.error) for player in players)
    high = max(player.elo + _finite(player.error) for player in players)
    step = tick_step((high - low) * (2.5 if is_narrow else 1))
    low, high = math.floor(low / step) * step, math.ceil(high / step) * step
    if low == high:
        low, high = low - step, high + step

    def place(elo: float) -> str:
        return f"{labels + (width - labels - right) * (elo - low) / (high - low):.1f}"

    bottom = ROW_HEIGHT * len(players) + 6
    parts = [_begin(bottom, "Ratings with 95 % error bars", width)]
    for index in range(round((high - low) / step) + 1):
        elo = low + index * step
        parts.append(_tick(place(elo), bottom, f"{elo:z.0f}" if is_progress else _signed(elo)))
    if is_progress:
        line = " ".join(f"{place(player.elo)},{_height(i):.1f}" for i, player in enumerate(players))
        parts.append(f'<polyline class="course" points="{line}"/>')
    for index, player in enumerate(players):
        y = _height(index)
        error = _finite(player.error)
        name = escape(shorten(player.name, 17 if is_narrow else 26))
        title = f"{escape(printable(player.name))}: {player.elo:z.1f} ± {player.error:.1f}"
        parts.append(
            f'<text class="name" x="{labels - 12}" y="{y + 4:.1f}">{name}</text>'
            f'<line class="error" x1="{place(player.elo - error)}" y1="{y:.1f}" '
            f'x2="{place(player.elo + error)}" y2="{y:.1f}"/>'
            f'<circle class="elo" cx="{place(player.elo)}" cy="{y:.1f}" r="4.5">'
            f"<title>{title}</title></circle>"
            f'<text class="value" x="{width - 4}" y="{y + 4:.1f}">{player.elo:z.0f}</text>'
        )
    return "\n".join([*parts, "</svg>"])


def spread_plot(rows: Sequence[tuple[str, Spread]]) -> str:
    """Return a plot of labelled distributions of times on a logarithmic scale; '' without rows.

    The thick bar reaches from the median to the 90th percentile, the thin bar to the 99th; a point
    marks the longest time.
    """
    if not rows:
        return ""
    longest = max(spread.longest for _, spread in rows)
    decades = max(1, math.ceil(math.log10(max(longest, SHORTEST_TIME) / SHORTEST_TIME)))

    def place(time: float) -> str:
        share = math.log10(max(time, SHORTEST_TIME) / SHORTEST_TIME) / decades
        return f"{LABELS + (WIDTH - LABELS - RIGHT) * share:.1f}"

    bottom = ROW_HEIGHT * len(rows) + 6
    parts = [_begin(bottom, "Times of moves: median, 90 %, 99 % and the longest")]
    for power in range(decades + 1):
        time = SHORTEST_TIME * 10**power
        parts.append(_tick(place(time), bottom, f"{time / 1e6:g} ms"))
    for index, (label, spread) in enumerate(rows):
        y = f"{_height(index):.1f}"
        median, p90, p99, longest_x = map(place, spread[1:])
        parts.append(
            f'<text class="name" x="{LABELS - 12}" y="{float(y) + 4:.1f}">{escape(label)}</text>'
            f'<line class="grid" x1="{p90}" y1="{y}" x2="{p99}" y2="{y}"/>'
            f'<line class="error" x1="{median}" y1="{y}" x2="{p90}" y2="{y}"/>'
            f'<circle class="elo" cx="{longest_x}" cy="{y}" r="3"/>'
        )
    return "\n".join([*parts, "</svg>"])


def _begin(bottom: int, label: str, width: int = WIDTH) -> str:
    """Return the start tag of a plot whose axis is ``bottom`` below its top."""
    size = f"0 0 {width} {bottom + AXIS_HEIGHT}"
    return f'<svg class="plot" viewBox="{size}" role="img" aria-label="{label}">'


def _tick(x: str, bottom: int, text: str) -> str:
    """Return a line of the grid and its label on the axis."""
    return (
        f'<line class="grid" x1="{x}" y1="0" x2="{x}" y2="{bottom}"/>'
        f'<text class="tick" x="{x}" y="{bottom + 18}">{text}</text>'
    )


def _height(row: int) -> float:
    """Return the distance of a row's middle from the top."""
    return ROW_HEIGHT * row + ROW_HEIGHT / 2 + 3


def tick_step(span: float) -> float:
    """Return the distance of ticks: 1, 2 or 5 times a power of ten.

    It fits at least 4 times, and less than 10 times, into ``span``; for no span it is 10.
    """
    if not span > 0:
        return 10.0
    power = 10.0 ** math.floor(math.log10(span / 4))
    # The logarithm of a span just below a power of ten may be rounded up to that of the power.
    return max((power * step for step in (1, 2, 5) if power * step <= span / 4), default=power / 2)


def _signed(elo: float) -> str:
    return f"{elo:+.0f}" if round(elo) else "0"


def _finite(error: float) -> float:
    return error if math.isfinite(error) else 0.0
