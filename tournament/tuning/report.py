"""The result of a tune: a table for the terminal, and a page with a plot of each parameter."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from merels.engine.common.errors import printable
from merels.protocol.client.engine_spec import OPTION
from merels.tournament.journal.journal import Journal
from merels.tournament.records.as_flags import condition_rows, typed
from merels.tournament.records.settings import Parameter, Settings, facts
from merels.tournament.report.html import page, summary, text_table
from merels.tournament.report.svg import tick_step
from merels.tournament.report.text_table import grid
from merels.tournament.statistics.terminations import count_terminations
from merels.tournament.tuning.spsa_state import SpsaState

WIDTH, HEIGHT, LEFT, RIGHT, TOP, AXIS = 760, 170, 60, 20, 10, 34
WHAT_ERRORS_ARE = (
    "Error: one standard error of where the best value lies; -: the results show no best value."
)


def tuned_values(course: SpsaState) -> list[int]:
    """The values as they are now, rounded for the engine."""
    return [round(value) for value in course.values]


def value_rows(course: SpsaState) -> list[list[str]]:
    """A head, and a row for each parameter."""
    rows = [["Parameter", "Start", "Tuned", "Error", "Bounds", "c_end"]]
    for one, value, error in zip(course.parameters, course.values, course.errors()):
        rows.append([
            one.name, str(one.start), f"{value:.1f}", "-" if error is None else f"{error:.1f}",
            f"{one.minimum} to {one.maximum}", f"{one.c_end:g}",
        ])
    return rows


def option_words(course: SpsaState) -> str:
    """The tuned values as words behind ``-engine``."""
    values = zip(course.parameters, tuned_values(course))
    return typed({OPTION + parameter.name: str(value) for parameter, value in values})


def final_lines(course: SpsaState) -> list[str]:
    """The values with their errors, and the words that set them."""
    count = len(course.results)
    rows = [[printable(cell) for cell in row] for row in value_rows(course)]
    return [
        f"After {count} of {course.pairs} pairs:", "",
        *grid(rows, 0).splitlines(), "",
        WHAT_ERRORS_ARE, "", option_words(course),
    ]


def html_report(
    settings: Settings, course: SpsaState, journal: Journal, match: Sequence[str]
) -> str:
    """The page; ``match`` are the lines of the closing test, if it has started."""
    parts = ["<h2>Parameters</h2>", text_table(value_rows(course), "conditions")]
    parts += [f'<p class="note">{escape(WHAT_ERRORS_ARE)}</p>']
    parts += [f'<p class="note"><code>{escape(printable(option_words(course)))}</code></p>']
    for index, (one, error) in enumerate(zip(course.parameters, course.errors())):
        points = [(pair, values[index]) for pair, values in course.points]
        plot = course_plot(one, points, course.pairs, error)
        parts += [f"<h3>{escape(printable(one.name))}</h3>", f'<div class="wide">{plot}</div>']
    known = [*facts(settings.as_json()), ("Begun", journal.meta().get("created", "?")),
             ("Pairs", f"{len(course.results)} of {course.pairs}")]
    endings = [row.ending for row in journal.results()]
    parts.append(summary(
        known, None, count_terminations(endings, by_reason=True), (), match,
        condition_rows(settings.engines),
    ))
    return page(settings.event, "\n".join(parts))


def course_plot(
    parameter: Parameter, points: Sequence[tuple[int, float]], pairs: int, error: float | None
) -> str:
    """A parameter's value over the pairs, its start as a line, and its error at the end."""
    last = points[-1][1]
    shown = [value for _, value in points] + [parameter.start - parameter.c_end,
                                              parameter.start + parameter.c_end]
    if error is not None:
        shown += [max(parameter.minimum, last - error), min(parameter.maximum, last + error)]
    step = tick_step(max(shown) - min(shown))
    low, high = min(shown) // step * step, -(-max(shown) // step) * step
    bottom = HEIGHT - AXIS

    def x(pair: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * pair / pairs

    def y(value: float) -> float:
        return TOP + (bottom - TOP) * (high - min(high, max(low, value))) / (high - low)

    label = escape(printable(f"{parameter.name} over {pairs} pairs"), quote=True)
    parts = [f'<svg class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">']
    for index in range(round((high - low) / step) + 1):
        value = low + index * step
        parts.append(
            f'<line class="grid" x1="{LEFT}" y1="{y(value):.1f}" x2="{WIDTH - RIGHT}" '
            f'y2="{y(value):.1f}"/>'
            f'<text class="name" x="{LEFT - 8}" y="{y(value) + 4:.1f}">{value:g}</text>'
        )
    for index in range(5):
        pair = pairs * index // 4
        parts.append(f'<text class="tick" x="{x(pair):.1f}" y="{bottom + 20}">{pair}</text>')
    line = " ".join(f"{x(pair):.1f},{y(value):.1f}" for pair, value in points)
    start, end = f"{y(parameter.start):.1f}", f"{x(points[-1][0]):.1f}"
    parts.append(
        f'<line class="start" x1="{LEFT}" y1="{start}" x2="{WIDTH - RIGHT}" y2="{start}"/>'
        f'<polyline class="course" points="{line}"/>'
    )
    if error is not None:
        parts.append(
            f'<line class="error" x1="{end}" y1="{y(last - error):.1f}" x2="{end}" '
            f'y2="{y(last + error):.1f}"/>'
        )
    title = f"{last:.1f}" + ("" if error is None else f" ± {error:.1f}")
    parts.append(
        f'<circle class="elo" cx="{end}" cy="{y(last):.1f}" r="4.5"><title>{title}</title></circle>'
    )
    return "\n".join([*parts, "</svg>"])
