"""Plots as SVG: intervals in the cells of tables, and lines of a value over games or pairs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from merels.tournament.report.table import text_html

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 170, 60, 20, 10, 34
"""Size and margins of a line plot, in units of its view box."""


def interval(spans: Iterable[tuple[str, float, float]], point: float, text: str) -> str:
    """Return spans and a point on a line; places are shares of its length, from 0 to 1.

    Each span has a CSS class, a start and an end. ``text`` is the description.
    """
    lines = "".join(
        f'<line class="{css}" x1="{start:.1%}" y1="50%" x2="{end:.1%}" y2="50%"/>'
        for css, start, end in spans
    )
    label = text_html(text)
    return (f'<svg class="interval" role="img" aria-label="{label}"><title>{label}</title>{lines}'
            f'<circle class="value" cx="{point:.1%}" cy="50%" r="4"/></svg>')


def line_plot(
    label: str, points: Sequence[tuple[int, float]], end: int,
    levels: Sequence[tuple[str, float]], shown: Iterable[float] = (), error: float | None = None,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> str:  # fmt: skip
    """Return a plot of ``points``, each a number of games or pairs and a value.

    The horizontal axis ends at the number ``end``. ``levels`` are horizontal lines, each a CSS
    class and a value. They and the values ``shown`` are always in view. A vertical bar reaches from
    ``error`` below the last value to ``error`` above it; its parts outside ``bounds`` need not be
    in view.
    """
    last_number, last = points[-1]
    values = [*shown, *(value for _, value in (*points, *levels))]
    if error is not None:
        values += [max(bounds[0], last - error), min(bounds[1], last + error)]
    step = tick_step(max(values) - min(values))
    low, high = min(values) // step * step, -(-max(values) // step) * step
    if low == high:
        low, high = low - step, high + step
    bottom = HEIGHT - BOTTOM

    def x(number: float) -> str:
        return f"{LEFT + (WIDTH - LEFT - RIGHT) * number / end:.1f}"

    def y(value: float) -> str:
        return f"{TOP + (bottom - TOP) * (high - min(high, max(low, value))) / (high - low):.1f}"

    def level(css: str, value: float) -> str:
        place = y(value)
        return f'<line class="{css}" x1="{LEFT}" y1="{place}" x2="{WIDTH - RIGHT}" y2="{place}"/>'

    label = text_html(label)
    parts = [f'<svg class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">']
    for index in range(round((high - low) / step) + 1):
        value = low + index * step
        baseline = float(y(value)) + 4  # Centres the digits on the line.
        parts += [level("grid", value),
                  f'<text class="name" x="{LEFT - 8}" y="{baseline:.1f}">{value:g}</text>']
    for number in sorted({end * index // 4 for index in range(5)}):
        parts.append(f'<text class="tick" x="{x(number)}" y="{bottom + 20}">{number}</text>')
    line = " ".join(f"{x(number)},{y(value)}" for number, value in points)
    parts += [level(css, value) for css, value in levels]
    parts.append(f'<polyline class="course" points="{line}"/>')
    last_x = x(last_number)
    if error is not None:
        parts.append(f'<line class="error" x1="{last_x}" y1="{y(last - error)}" x2="{last_x}" '
                     f'y2="{y(last + error)}"/>')
    title = f"{last:.1f}" + ("" if error is None else f" ± {error:.1f}")
    parts.append(f'<circle class="value" cx="{last_x}" cy="{y(last)}" r="4.5">'
                 f"<title>{title}</title></circle>")
    return "\n".join([*parts, "</svg>"])


def tick_step(span: float) -> float:
    """Return the distance of ticks: 1, 2 or 5 times a power of ten.

    It fits at least 4 times, and less than 10 times, into ``span``; for no span it is 10.
    """
    if not span > 0:
        return 10.0
    power = 10.0 ** math.floor(math.log10(span / 4))
    # The logarithm of a span just below a power of ten may be rounded up to that of the power.
    return max((power * step for step in (1, 2, 5) if power * step <= span / 4), default=power / 2)
